//! Model based metrics among the measurements: their records, and what a server does for them.

use crate::messages::Setup;
use crate::plan::Plan;
use crate::{scorecard, summary};
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, figure, read, read_setup};
use record::{Record, Run};
use serde_json::Value;
use session::{Control, Error, Session};
use std::sync::Arc;

/// Model based metrics.
pub struct Mbm;

impl Measurement for Mbm {
    fn tests(&self) -> &'static [&'static str] {
        &["mbm"]
    }

    /// Tests that were over are in the record as they end: there were none.
    fn summary(&self, record: &Record) -> anyhow::Result<Value> {
        let plan: Plan = read(&record.run().plan, "plan")?;
        let none = summary::summarise(&plan, &[], None, Vec::new());
        Ok(serde_json::to_value(none.map_err(anyhow::Error::msg)?)?)
    }

    fn scorecard(&self, run: &Run) -> anyhow::Result<String> {
        Ok(scorecard::scorecard(run, &read(&run.summary, "summary")?))
    }

    fn figures(&self) -> &'static [Figure] {
        FIGURES
    }
}

impl FarEnd for Mbm {
    fn opening(&self) -> &'static str {
        "mbm"
    }

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Value,
        equipment: &Equipment,
    ) -> Result<(), Error> {
        let setup: Setup = read_setup(control, setup)?;
        crate::far::serve(control, session, &setup, equipment)
    }
}

const FIGURES: &[Figure] = &[
    figure("path round trip", "ms", "/path_rtt_ms"),
    figure("*, lost", "packets", "/tests/*/loss/lost"),
    figure("*, loss", "%", "/tests/*/loss/loss_pct"),
    figure("*, sent", "packets", "/tests/*/packets_sent"),
    figure("*, took", "s", "/tests/*/seconds"),
    figure("*, round trip p50", "ms", "/tests/*/rtt_ms/p50"),
];
