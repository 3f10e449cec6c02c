//! Trials of the manager among the measurements.

use super::summary::{self, Tables};
use super::{Plan, TEST, page, scorecard};
use kit::measurement::{Figure, Measurement, figure, read};
use record::{Record, Run};
use serde_json::Value;

/// A trial of the manager.
pub struct Trial;

impl Measurement for Trial {
    fn tests(&self) -> &'static [&'static str] {
        &[TEST]
    }

    fn summary(&self, record: &Record) -> anyhow::Result<Value> {
        let kept = &record.run().plan;
        let plan: Plan = read(kept, "plan")?;
        let rate = serde_json::from_value(kept["bottleneck"]["rate"].clone()).ok();
        let tables = Tables::read(record)?;
        let found = summary::summarise(&plan, &tables, rate, Vec::new());
        Ok(serde_json::to_value(found)?)
    }

    fn scorecard(&self, run: &Run) -> anyhow::Result<String> {
        Ok(scorecard::scorecard(run, &read(&run.summary, "summary")?))
    }

    fn figures(&self) -> &'static [Figure] {
        FIGURES
    }

    fn page(&self, record: &Record, run: &Run) -> Option<anyhow::Result<String>> {
        Some(page::page(record, run))
    }
}

const FIGURES: &[Figure] = &[
    figure("trains", "", "/trains"),
    figure("probes sent", "", "/probes_sent"),
    figure("probes lost", "", "/probes_lost"),
    figure("riders lost", "", "/riders_lost"),
    figure("capacity", "Mbit/s", "/capacity_mbps"),
    figure("throughput, *", "Mbit/s", "/throughput_mbps/*"),
];
