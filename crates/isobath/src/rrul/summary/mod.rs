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
pub(crate) use calls::Heard;
pub(crate) use calls::{CallFigures, Calls};
pub(crate) use figures::{Phases, Times};
pub(crate) use marks::{EcnFigures, Marks};
pub(crate) use path::PathFigures;
pub(crate) use rates::{Acks, Fairness, Throughput, Transferred};
pub(crate) use round_trips::{Latency, Shares};
#[cfg(test)]
pub(crate) use web::LoaderFigures;
pub(crate) use web::{Rpm, WebFigures};

use super::Plan;
use super::score::{Penalty, Score};
use super::tables::Tables;
use crate::kit::lab_counters::{LabBooks, LinkTruth};
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use view::View;

/// The figures of a run of the RRUL family. What was not measured is null or empty.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub(crate) struct Summary {
    /// When what took place.
    pub(crate) phases: Times,
    /// UDP round trips of all classes.
    pub(crate) latency_ms: Latency,
    /// TCP round trips of all classes: request and reply on a connection of their own.
    pub(crate) tcp_rr_ms: Phases,
    /// TCP load while every load stream ran.
    pub(crate) throughput_mbps: Throughput,
    /// What the acknowledgements of the load took, by the direction in which they travelled.
    pub(crate) acks: Acks,
    /// Share of UDP requests that were never answered.
    pub(crate) loss_pct: Shares,
    /// Calls, by class.
    pub(crate) voip: BTreeMap<String, Calls>,
    /// Page loads.
    pub(crate) web: Option<WebFigures>,
    /// Look-ups of names.
    pub(crate) dns_ms: Phases,
    /// Round trips per minute under load (draft-ietf-ippm-responsiveness).
    pub(crate) rpm: Option<Rpm>,
    /// How much later than planned each TCP stream was connected: the handshake, and what was lost of it.
    pub(crate) slew_ms: Option<Distribution>,
    /// How alike the load streams fared.
    pub(crate) fairness: Fairness,
    /// What became of the classes, by class and direction.
    pub(crate) dscp: BTreeMap<String, Marks>,
    /// What became of the ECN field.
    pub(crate) ecn: EcnFigures,
    /// Where delay under load begins.
    pub(crate) bottleneck: Option<PathFigures>,
    /// TCP payload delivered.
    pub(crate) transferred_bytes: Transferred,
    /// Streams by IP version.
    pub(crate) families: BTreeMap<String, u32>,
    /// How far the far end's clock is from the client's, found from the one-way delays.
    pub(crate) clock: Option<figures::ClockFigures>,
    /// The five parts of the score.
    pub(crate) score: Option<Score>,
    /// Bad behaviour, by name.
    pub(crate) penalties: Vec<Penalty>,
    /// The emulated links' own books; empty on a real path.
    pub(crate) lab: Vec<LinkTruth>,
}

/// The summary of what is in `tables`, for a run of `plan`.
pub(crate) fn summarise(plan: &Plan, tables: &Tables) -> Summary {
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
        lab: tables.lab.as_ref().map(LabBooks::truth).unwrap_or_default(),
    };
    summary.score = super::score::score(&summary);
    summary.penalties = super::score::penalties(plan, &summary);
    summary
}
