//! Model based metrics among the measurements: their records, and what a server does for them.

use crate::messages::Setup;
use crate::plan::Plan;
use crate::{scorecard, summary};
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, figure, read};
use record::{Record, Run};
use session::{Control, Error, Session};
use std::sync::Arc;

/// Model based metrics.
pub struct Mbm;

impl Measurement for Mbm {
    const TESTS: &'static [&'static str] = &["mbm", "sim-mbm"];
    const FIGURES: &'static [Figure] = &[
        figure("path round trip", "ms", "/path_rtt_ms"),
        figure("*, lost", "packets", "/tests/*/loss/lost"),
        figure("*, loss", "%", "/tests/*/loss/loss_pct"),
        figure("*, sent", "packets", "/tests/*/packets_sent"),
        figure("*, took", "s", "/tests/*/seconds"),
        figure("*, round trip p50", "ms", "/tests/*/rtt_ms/p50"),
    ];
    type Summary = schema::mbm::Summary;

    /// Tests that were over are in the record as they end: there were none.
    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        let plan: Plan = read(&record.run().plan, "plan")?;
        summary::summarise(&plan, &[], None, Vec::new()).map_err(anyhow::Error::msg)
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }
}

impl FarEnd for Mbm {
    const OPENING: &'static str = "mbm";
    type Setup = Setup;

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Self::Setup,
        equipment: &Equipment,
    ) -> Result<(), Error> {
        crate::far::serve(control, session, &setup, equipment)
    }
}
