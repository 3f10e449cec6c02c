//! Replays among the measurements: their records, and what a server does for them.

use super::messages::Setup;
use super::scorecard;
use super::summary::Figures;
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, figure, read, read_setup};
use record::{Record, Run};
use serde_json::Value;
use session::{Control, Error, Session};
use std::sync::Arc;

/// Connection vectors, replayed.
pub struct Replay;

impl Measurement for Replay {
    fn tests(&self) -> &'static [&'static str] {
        &["replay"]
    }

    fn summary(&self, record: &Record) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(Figures::of_record(record)?)?)
    }

    fn scorecard(&self, run: &Run) -> anyhow::Result<String> {
        Ok(scorecard::scorecard(run, &read(&run.summary, "summary")?))
    }

    fn figures(&self) -> &'static [Figure] {
        FIGURES
    }
}

impl FarEnd for Replay {
    fn opening(&self) -> &'static str {
        "replay"
    }

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Value,
        _: &Equipment,
    ) -> Result<(), Error> {
        let setup: Setup = read_setup(control, setup)?;
        super::far::serve(control, session, &setup)
    }
}

const FIGURES: &[Figure] = &[
    figure("connections", "", "/connections/completed"),
    figure("duration p50", "ms", "/duration_ms/p50"),
    figure("duration p95", "ms", "/duration_ms/p95"),
    figure("response p50", "ms", "/response_ms/p50"),
    figure("response p95", "ms", "/response_ms/p95"),
    figure("queue p50", "packets", "/queue_packets/p50"),
    figure("queue p95", "packets", "/queue_packets/p95"),
    figure("drops", "packets", "/drops"),
    figure("active p50", "", "/active_connections/p50"),
    figure("forward", "Mbit/s", "/throughput_mbps/forward"),
    figure("reverse", "Mbit/s", "/throughput_mbps/reverse"),
    figure("start late p95", "ms", "/start_lateness_ms/p95"),
];
