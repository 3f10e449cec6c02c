//! What a run means: figures from its tables, and nothing else.
//!
//! The same function makes the summary at the end of a run and, from the tables on disk, that of a run that was
//! killed. *Idle* is the time before anything but probes runs (after the load, the queues still drain); *loaded* is the
//! time in which every load stream runs and has settled ([`Plan::loaded`]), without what a burst allowance carried
//! ([`boost`]).

mod boost;
mod calls;
mod figures;
mod marks;
mod path;
mod rates;
mod round_trips;
#[cfg(test)]
mod tests;
mod view;
mod web;

#[cfg(test)]
pub use calls::Heard;
pub use calls::{CallFigures, Calls};
pub use figures::{Phases, Times};
pub use marks::{EcnFigures, Marks};
pub use path::PathFigures;
pub use rates::{Acks, Fairness, Throughput, Transferred};
pub use round_trips::{Latency, Shares};
#[cfg(test)]
pub use web::LoaderFigures;
pub use web::{Rpm, WebFigures};

use super::Plan;
use super::score::{Penalty, Score};
use super::tables::Tables;
use kit::lab_counters::{LabCounters, LinkTruth};
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use view::View;

/// The figures of a run of the RRUL family. What was not measured is null or empty.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Summary {
    /// When what took place.
    pub phases: Times,
    /// UDP round trips of all classes.
    pub latency_ms: Latency,
    /// TCP round trips of all classes: request and reply on a connection of their own.
    pub tcp_rr_ms: Phases,
    /// TCP load while every load stream ran.
    pub throughput_mbps: Throughput,
    /// What the acknowledgements of the load took, by the direction in which they travelled.
    pub acks: Acks,
    /// Share of UDP requests that were never answered.
    pub loss_pct: Shares,
    /// Calls, by class.
    pub voip: BTreeMap<String, Calls>,
    /// Page loads.
    pub web: Option<WebFigures>,
    /// Look-ups of names.
    pub dns_ms: Phases,
    /// Round trips per minute under load (draft-ietf-ippm-responsiveness).
    pub rpm: Option<Rpm>,
    /// How much later than planned each TCP stream was connected: the handshake, and what was lost of it.
    pub slew_ms: Option<Distribution>,
    /// How alike the load streams fared.
    pub fairness: Fairness,
    /// What became of the classes, by class and direction.
    pub dscp: BTreeMap<String, Marks>,
    /// What became of the ECN field.
    pub ecn: EcnFigures,
    /// Where delay under load begins.
    pub bottleneck: Option<PathFigures>,
    /// TCP payload delivered.
    pub transferred_bytes: Transferred,
    /// Streams by IP version.
    pub families: BTreeMap<String, u32>,
    /// How far the far end's clock is from the client's, found from the one-way delays.
    pub clock: Option<figures::ClockFigures>,
    /// The five parts of the score.
    pub score: Option<Score>,
    /// Bad behaviour, by name.
    pub penalties: Vec<Penalty>,
    /// The emulated links' own books; empty on a real path.
    pub lab: Vec<LinkTruth>,
}

/// The summary of what is in `tables`, for a run of `plan`.
pub fn summarise(plan: &Plan, tables: &Tables) -> Summary {
    let view = View::new(plan, tables);
    let clock = view.clock();
    let mut summary = Summary {
        phases: view.times(),
        latency_ms: view.latency(),
        tcp_rr_ms: view.phases(&|stream| stream.kind == "tcp_rr"),
        throughput_mbps: view.throughput(),
        acks: view.acks(),
        loss_pct: view.loss(),
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
        families: view.families(),
        clock: clock.map(Into::into),
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
