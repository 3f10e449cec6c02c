//! Trials of the manager among the measurements.

use super::summary::{self, Tables};
use super::{Plan, SIMULATED, TEST, page, scorecard};
use kit::measurement::{Figure, Measurement, figure, read};
use record::{Record, Run};
use serde::Deserialize;

/// A trial of the manager.
pub struct Trial;

impl Measurement for Trial {
    const TESTS: &'static [&'static str] = &[TEST, SIMULATED];
    const FIGURES: &'static [Figure] = &[
        figure("trains", "", "/trains"),
        figure("probes sent", "", "/probes_sent"),
        figure("probes lost", "", "/probes_lost"),
        figure("riders lost", "", "/riders_lost"),
        figure("capacity", "Mbit/s", "/capacity_mbps"),
        figure("throughput, *", "Mbit/s", "/throughput_mbps/*"),
    ];
    type Summary = summary::Summary;

    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        let kept = &record.run().plan;
        let plan: Plan = read(kept, "plan")?;
        let rate = Deserialize::deserialize(&kept["bottleneck"]["rate"]).ok();
        let tables = Tables::read(record)?;
        let found = summary::summarise(&plan, &tables, rate, Vec::new());
        Ok(found)
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }

    fn page(&self, record: &Record, run: &Run) -> Option<anyhow::Result<String>> {
        Some(page::page(record, run))
    }
}
