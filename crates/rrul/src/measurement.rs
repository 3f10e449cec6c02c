//! RRUL among the measurements: its records, and what a server does for it.

use crate::messages::Setup;
use crate::plan::Plan;
use crate::scorecard;
use crate::streams::{Common, StreamPlan};
use crate::summary::{round_trips, summarise};
use crate::tables::Tables;
use anyhow::Context as _;
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, RoundTrips, figure};
use record::{Record, Run};
use schema::rrul::Summary;
use session::{Control, Error, Session};
use std::sync::Arc;

/// Realtime response under load.
pub struct Rrul;

impl Measurement for Rrul {
    const TESTS: &'static [&'static str] = &["rrul", "sim-rrul"];
    const FIGURES: &'static [Figure] = &[
        figure("RTT idle p50", "ms", "/latency_ms/idle/p50"),
        figure("RTT idle p95", "ms", "/latency_ms/idle/p95"),
        figure("RTT idle p99", "ms", "/latency_ms/idle/p99"),
        figure("RTT loaded p50", "ms", "/latency_ms/loaded/p50"),
        figure("RTT loaded p95", "ms", "/latency_ms/loaded/p95"),
        figure("RTT loaded p99", "ms", "/latency_ms/loaded/p99"),
        figure(
            "added delay p50",
            "ms",
            "/latency_ms/loaded/p50 - /latency_ms/idle/p50",
        ),
        figure(
            "RTT * loaded p95",
            "ms",
            "/latency_ms/by_class/*/loaded/p95",
        ),
        figure("TCP RR idle p50", "ms", "/tcp_rr_ms/idle/p50"),
        figure("TCP RR loaded p50", "ms", "/tcp_rr_ms/loaded/p50"),
        figure("TCP RR loaded p95", "ms", "/tcp_rr_ms/loaded/p95"),
        figure("throughput down", "Mbit/s", "/throughput_mbps/down"),
        figure("throughput up", "Mbit/s", "/throughput_mbps/up"),
        figure("probe loss idle", "%", "/loss_pct/idle"),
        figure("probe loss loaded", "%", "/loss_pct/loaded"),
        figure("fairness down", "", "/fairness/down"),
        figure("fairness up", "", "/fairness/up"),
        figure("score", "points", "/score/total"),
        figure("score, web", "points", "/score/web"),
        figure("score, realtime", "points", "/score/realtime"),
        figure("score, VoIP", "points", "/score/voip"),
        figure("score, classes", "points", "/score/classification"),
        figure("score, fairness", "points", "/score/fairness"),
        figure("RPM loaded", "1/min", "/rpm/loaded"),
        figure("page idle p50", "ms", "/web/idle_ms/p50"),
        figure("page loaded p50", "ms", "/web/loaded_ms/p50"),
        figure("page loaded p95", "ms", "/web/loaded_ms/p95"),
        figure("DNS idle p50", "ms", "/dns_ms/idle/p50"),
        figure("DNS loaded p50", "ms", "/dns_ms/loaded/p50"),
        figure("VoIP * up", "MOS", "/voip/*/up/mos"),
        figure("VoIP * down", "MOS", "/voip/*/down/mos"),
        figure("VoIP * up loss", "%", "/voip/*/up/loss_pct"),
        figure("VoIP * down loss", "%", "/voip/*/down/loss_pct"),
    ];
    type Summary = Summary;

    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        let (plan, tables) = read(record)?;
        Ok(summarise(&plan, &tables))
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }

    fn explanation(&self, run: &Run, summary: &Self::Summary) -> Option<String> {
        Some(scorecard::explain(run, summary))
    }

    fn round_trips(&self, record: &Record) -> anyhow::Result<RoundTrips> {
        let (plan, tables) = read(record)?;
        Ok(round_trips(&plan, &tables))
    }
}

/// The plan and the tables of a record.
fn read(record: &Record) -> anyhow::Result<(Plan, Tables)> {
    let run = record.run();
    let plan = Plan::of_record(&run.plan).context("run.json has another plan")?;
    let checked = plan.check().map_err(anyhow::Error::msg);
    checked.context("run.json has another plan")?;
    let common = Common {
        families: &run.path.families,
        cc: None,
    };
    let tables = Tables::read(record, &StreamPlan::all(&plan, &common))?;
    Ok((plan, tables))
}

impl FarEnd for Rrul {
    const OPENING: &'static str = "setup";
    const NAME: &'static str = "rrul";
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
