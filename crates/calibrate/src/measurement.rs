//! Calibrations among the measurements.

use super::{TEST, scorecard};
use kit::measurement::{Figure, Measurement, figure, read};
use record::{Record, Run};

/// What a machine can emulate and time.
pub struct Calibration;

impl Measurement for Calibration {
    const TESTS: &'static [&'static str] = &[TEST];
    const FIGURES: &'static [Figure] = &[
        figure("TCP", "Gbit/s", "/tcp_gbps"),
        figure("packets", "1/s", "/packets_per_s"),
        figure("connections", "1/s", "/connections_per_s"),
        figure("delay error p50", "us", "/delay_error_us/p50"),
        figure("delay error p99", "us", "/delay_error_us/p99"),
        figure("pacer error p50", "ns", "/pacer_error_ns/p50"),
        figure("pacer error p99", "ns", "/pacer_error_ns/p99"),
    ];
    type Summary = super::Summary;

    /// A record is made when all is measured.
    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        read(&record.run().summary, "summary")
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }
}
