//! Calibrations among the measurements.

use super::{TEST, scorecard};
use kit::measurement::{Figure, Measurement, figure, read};
use record::{Record, Run};
use serde_json::Value;

/// What a machine can emulate and time.
pub(crate) struct Calibration;

impl Measurement for Calibration {
    fn tests(&self) -> &'static [&'static str] {
        &[TEST]
    }

    /// A record is made when all is measured.
    fn summary(&self, record: &Record) -> anyhow::Result<Value> {
        Ok(record.run().summary.clone())
    }

    fn scorecard(&self, run: &Run) -> anyhow::Result<String> {
        Ok(scorecard::scorecard(run, &read(&run.summary, "summary")?))
    }

    fn figures(&self) -> &'static [Figure] {
        FIGURES
    }
}

const FIGURES: &[Figure] = &[
    figure("TCP", "Gbit/s", "/tcp_gbps"),
    figure("packets", "1/s", "/packets_per_s"),
    figure("connections", "1/s", "/connections_per_s"),
    figure("delay error p50", "us", "/delay_error_us/p50"),
    figure("delay error p99", "us", "/delay_error_us/p99"),
    figure("pacer error p50", "ns", "/pacer_error_ns/p50"),
    figure("pacer error p99", "ns", "/pacer_error_ns/p99"),
];
