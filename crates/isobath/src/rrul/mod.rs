//! Realtime response under load: how a path treats small, urgent packets while it is full.
//!
//! Source: D. Taht, *Realtime Response Under Load (RRUL) Specification*, draft 07. TCP streams saturate the path in both
//! directions and several classes; before, during and after, round trips are taken in each class. The difference
//! between idle and loaded round trips is what the path's queues add, and what users feel.
//!
//! All tests of the family are one engine with different plans ([`plan`]). The run goes
//! plan -> agreement with the far end ([`messages`]) -> streams ([`stream`], at both ends; [`far`] is the server's) ->
//! tables ([`tables`]) -> summary ([`summary`]) -> scorecard ([`scorecard`]).

mod collector;
pub(crate) mod far;
pub(crate) mod messages;
pub(crate) mod ndjson;
pub(crate) mod near;
pub(crate) mod plan;
pub(crate) mod quality;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod scorecard;
pub(crate) mod stream;
pub(crate) mod streams;
pub(crate) mod summary;
pub(crate) mod tables;
pub(crate) mod warnings;

pub(crate) use plan::Plan;

use std::time::Duration;

/// How a run goes, for whoever watches.
pub(crate) struct Live {
    pub(crate) elapsed: Duration,
    pub(crate) phase: &'static str,
    pub(crate) down_mbps: f64,
    pub(crate) up_mbps: f64,
    /// The last round trip of each class by UDP.
    pub(crate) class_rtt_ms: Vec<(String, f64)>,
    /// The last page load, if pages are loaded.
    pub(crate) page_ms: Option<f64>,
    /// The last round trip of any probe.
    pub(crate) rtt_ms: Option<f64>,
}
