//! `MediaNet` among the measurements.

use super::{TEST, page, scorecard, summary};
use kit::measurement::{Figure, Measurement, figure, read};
use record::{Record, Run};
use serde_json::Value;

/// An application that adapts to what it is told of its path.
pub struct MediaNet;

impl Measurement for MediaNet {
    fn tests(&self) -> &'static [&'static str] {
        &[TEST]
    }

    fn summary(&self, record: &Record) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(summary::of_record(record)?)?)
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
    figure("decoded", "frames/s", "/decoded_per_s"),
    figure("decoded", "Mbit/s", "/decoded_mbps"),
    figure("undecodable", "%", "/undecodable_pct"),
    figure("failed", "%", "/failed_pct"),
    figure("utility", "", "/utility"),
    figure("delay p50", "ms", "/delay_ms/p50"),
    figure("delay p95", "ms", "/delay_ms/p95"),
    figure("reconfigurations", "", "/reconfigurations"),
];
