//! Realtime response under load: how a path treats small, urgent packets while it is full.
//!
//! Source: D. Taht, *Realtime Response Under Load (RRUL) Specification*, draft 07. TCP streams saturate the path in both
//! directions and several classes; before, during and after, round trips are taken in each class. The difference
//! between idle and loaded round trips is what the path's queues add, and what users feel.
//!
//! All tests of the family are one engine with different plans ([`plan`]). The run goes
//! plan -> agreement with the far end ([`messages`]) -> streams ([`stream`], at both ends; [`far`] is the server's) ->
//! tables ([`tables`]) -> summary ([`summary`]) -> scorecard ([`scorecard`]). In virtual time ([`simulated`]) one machine has the streams of both ends;
//! with a far end of somebody else ([`foreign`]) there is no agreement.
#![forbid(unsafe_code)]

pub mod catalogue;
mod collector;
pub mod far;
pub mod foreign;
mod measurement;
pub mod messages;
pub mod ndjson;
pub mod near;
pub mod quality;
pub mod run;
mod score;
pub mod scorecard;
pub mod simulated;
mod stream;
pub mod streams;
pub mod summary;
pub mod tables;
pub mod warnings;

pub use measurement::Rrul;
use schema::rrul::{Plan, plan};

use std::time::Duration;

/// How a run goes, for whoever watches.
pub struct Live {
    /// Time since the run's start.
    pub elapsed: Duration,
    /// What the run is doing: `idle`, `idle web`, `load`, `web` or `idle again`.
    pub phase: &'static str,
    /// Rate of all TCP load from the server in the last bins, in Mbit/s.
    pub down_mbps: f64,
    /// Rate of all TCP load to the server in the last bins, in Mbit/s.
    pub up_mbps: f64,
    /// The last round trip of each class by UDP.
    pub class_rtt_ms: Vec<(String, f64)>,
    /// The last page load, if pages are loaded.
    pub page_ms: Option<f64>,
    /// The last round trip of any probe.
    pub rtt_ms: Option<f64>,
}
