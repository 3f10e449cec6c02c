//! What a run of the RRUL family found.

mod calls;
mod figures;
mod intervals;
mod marks;
mod path;
mod rates;
mod round_trips;
mod web;

pub use calls::{Adaptive, CallFigures, Calls, Heard};
pub use figures::{ClockFigures, Interval, Phases, Times};
pub use intervals::Bounds;
pub use marks::{EcnFigures, Marks, TcpEcn, TcpMarks};
pub use path::{HopFigures, PathFigures, Trace};
pub use rates::{
    AckFigures, Acks, DatagramRates, Datagrams, Fairness, LoadLoss, Retransmitted, Throughput,
    Transferred,
};
pub use round_trips::{Beside, Latency, Shares};
pub use web::{Estimate, LoaderFigures, Rpm, WebFigures};

use super::score::{Penalty, Score};
use crate::LinkTruth;
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The figures of a run of the RRUL family. What was not measured is null or empty.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Summary {
    /// When what took place.
    pub phases: Times,
    /// Round trips of all classes: of UDP, where the far end answers such requests.
    pub latency_ms: Latency,
    /// UDP round trips of paced requests, an open loop: each moment counts alike.
    pub paced_ms: Phases,
    /// Share of paced requests that were never answered.
    pub paced_loss_pct: Shares,
    /// TCP round trips of all classes: request and reply on a connection of their own.
    pub tcp_rr_ms: Phases,
    /// TCP load while every load stream ran.
    pub throughput_mbps: Throughput,
    /// Rates of the datagrams of probes and calls, IP header included.
    pub datagrams_mbps: Datagrams,
    /// Share of the load's segments under load that were retransmissions.
    pub retransmitted_pct: Retransmitted,
    /// Share of the datagrams of load by UDP that did not arrive, over the whole run.
    pub load_loss_pct: LoadLoss,
    /// What the acknowledgements of the load took, by the direction in which they travelled.
    pub acks: Acks,
    /// Share of the requests of `latency_ms` that were never answered.
    pub loss_pct: Shares,
    /// Far ends beside the servers, by their addresses as they were named.
    pub beside: BTreeMap<String, Beside>,
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
    /// Payload of the load delivered.
    pub transferred_bytes: Transferred,
    /// How sure the figures are that people ask for first, by their path in this summary, such as `latency_ms.loaded.p50`: of
    /// medians and rates from their values by the second, of shares by Wilson's interval. Means of pages have their own.
    pub ci95: BTreeMap<String, Bounds>,
    /// Streams by IP version.
    pub families: BTreeMap<String, u32>,
    /// How far the far end's clock is from the client's, found from the one-way delays.
    pub clock: Option<ClockFigures>,
    /// The five parts of the score.
    pub score: Option<Score>,
    /// Bad behaviour, by name.
    pub penalties: Vec<Penalty>,
    /// The emulated links' own counters; empty on a real path.
    pub lab: Vec<LinkTruth>,
}
