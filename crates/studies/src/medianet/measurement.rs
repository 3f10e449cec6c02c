//! `MediaNet` among the measurements.

use super::{SIMULATED, TEST, page, scorecard, summary};
use kit::measurement::{Figure, Measurement, figure};
use record::{Record, Run};

/// An application that adapts to what it is told of its path.
pub struct MediaNet;

impl Measurement for MediaNet {
    const TESTS: &'static [&'static str] = &[TEST, SIMULATED];
    const FIGURES: &'static [Figure] = &[
        figure("decoded", "frames/s", "/decoded_per_s"),
        figure("decoded", "Mbit/s", "/decoded_mbps"),
        figure("undecodable", "%", "/undecodable_pct"),
        figure("failed", "%", "/failed_pct"),
        figure("utility", "", "/utility"),
        figure("delay p50", "ms", "/delay_ms/p50"),
        figure("delay p95", "ms", "/delay_ms/p95"),
        figure("reconfigurations", "", "/reconfigurations"),
    ];
    type Summary = summary::Summary;

    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        summary::of_record(record)
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }

    fn page(&self, record: &Record, run: &Run) -> Option<anyhow::Result<String>> {
        Some(page::page(record, run))
    }
}
