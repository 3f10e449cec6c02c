//! Bulk transfer capacity among the measurements: its records, and what a server does for it.

use crate::findings::Findings;
use crate::messages::Setup;
use crate::plan::Plan;
use crate::{scorecard, summary};
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, figure, read};
use record::{Record, Run};
use session::{Control, Error, Session};
use std::sync::Arc;

/// Bulk transfer capacity.
pub struct Btc;

impl Measurement for Btc {
    const TESTS: &'static [&'static str] = &["btc", "sim-btc"];
    const FIGURES: &'static [Figure] = &[
        figure("throughput", "Mbit/s", "/throughput_mbps"),
        figure("loss", "%", "/loss_pct"),
        figure("retransmitted", "", "/retransmits"),
        figure("reordered", "", "/reordered"),
        figure("round trip p50", "ms", "/rtt_ms/p50"),
        figure("round trip p95", "ms", "/rtt_ms/p95"),
        figure("seconds a transfer", "s", "/seconds"),
        figure("ours", "Mbit/s", "/ours/throughput_mbps/p50"),
        figure("kernel", "Mbit/s", "/kernel/throughput_mbps/p50"),
        figure("ours, loss", "%", "/ours/loss_pct"),
        figure("kernel, loss", "%", "/kernel/loss_pct"),
        figure("difference p50", "%", "/difference_pct/p50"),
    ];
    type Summary = schema::btc::Summary;

    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        let plan: Plan = read(&record.run().plan, "plan")?;
        let findings = Findings::read(record)?;
        Ok(summary::summarise(&plan, &findings))
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }
}

impl FarEnd for Btc {
    const OPENING: &'static str = "btc";
    type Setup = Setup;

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Self::Setup,
        equipment: &Equipment,
    ) -> Result<(), Error> {
        crate::far::serve(control, session, setup, equipment)
    }
}
