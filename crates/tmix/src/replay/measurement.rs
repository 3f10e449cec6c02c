//! Replays among the measurements: their records, and what a server does for them.

use super::messages::Setup;
use super::scorecard;
use super::summary::Figures;
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, figure};
use record::{Record, Run};
use schema::replay::Summary;
use session::{Control, Error, Session};
use std::sync::Arc;

/// Connection vectors, replayed.
pub struct Replay;

impl Measurement for Replay {
    const TESTS: &'static [&'static str] = &["replay", "sim-replay"];
    const FIGURES: &'static [Figure] = &[
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
    type Summary = Summary;

    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        Figures::of_record(record)
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }
}

impl FarEnd for Replay {
    const OPENING: &'static str = "replay";
    type Setup = Setup;

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Self::Setup,
        _: &Equipment,
    ) -> Result<(), Error> {
        super::far::serve(control, session, &setup)
    }
}
