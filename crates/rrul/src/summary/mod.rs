//! What a run means: figures from its tables, and nothing else.
//!
//! The same function makes the summary at the end of a run and, from the tables on disk, that of a run that was
//! killed. *Idle* is the time before anything but probes runs (after the load, the queues still drain); *loaded* is the
//! time in which every load stream runs and has settled ([`Plan::loaded`]), without what a burst allowance carried
//! ([`boost`]).

mod boost;
mod calls;
mod datagrams;
mod figures;
mod intervals;
mod marks;
mod path;
mod rates;
mod round_trips;
#[cfg(test)]
mod tests;
mod view;
mod web;

use super::Plan;
use super::tables::Tables;
use kit::lab_counters::LabCounters;
use kit::measurement::RoundTrips;
use schema::rrul::Summary;
pub use web::CUT_OFF;

use view::{View, is_latency, is_paced};

/// What the summary's latency is made of.
pub(crate) fn round_trips(plan: &Plan, tables: &Tables) -> RoundTrips {
    let view = View::new(plan, tables);
    let during = |when| view.milliseconds(when, &is_latency).map(|ms| ms / 1e3);
    RoundTrips {
        idle: during(&view.idle).collect(),
        loaded: during(&view.loaded).collect(),
    }
}

/// The summary of what is in `tables`, for a run of `plan`.
pub fn summarise(plan: &Plan, tables: &Tables) -> Summary {
    let view = View::new(plan, tables);
    let clock = view.clock();
    let mut summary = Summary {
        phases: view.times(),
        latency_ms: view.latency(),
        paced_ms: view.phases(&is_paced),
        paced_loss_pct: view.loss(&is_paced),
        tcp_rr_ms: view.phases(&|stream| stream.kind == "tcp_rr"),
        throughput_mbps: view.throughput(),
        retransmitted_pct: view.retransmitted(),
        load_loss_pct: view.load_loss(),
        datagrams_mbps: view.datagrams(),
        acks: view.acks(),
        loss_pct: view.loss(&is_latency),
        beside: view.beside(),
        voip: view.calls(clock.as_ref()),
        web: view.web(),
        dns_ms: view.phases(&|stream| stream.kind == "dns"),
        rpm: view.rpm(),
        slew_ms: view.slew(),
        fairness: view.fairness(),
        dscp: view.marks(),
        ecn: view.ecn(),
        bottleneck: view.path(),
        transferred_bytes: view.transferred(),
        ci95: view.intervals(),
        families: view.families(),
        clock: clock.map(figures::clock),
        score: None,
        penalties: Vec::new(),
        lab: tables
            .lab
            .as_ref()
            .map(LabCounters::truth)
            .unwrap_or_default(),
    };
    summary.score = super::score::score(&summary);
    summary.penalties = super::score::penalties(plan, &summary);
    summary
}
