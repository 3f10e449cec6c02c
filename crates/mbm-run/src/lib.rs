//! Model based metrics: will this path carry an application? The tests of RFC 8337 over real sockets.
//!
//! What is sent when, and what it says, is decided by the crate `mbm`, which has no clock and no socket. Here it gets both: a
//! *sender* that drives a test's stream and judges it, and a *receiver* that keeps the counters of what arrived. The receiver answers
//! with short reports that carry its counters' totals, so the sender knows the truth half a round trip later however many of the reports are lost.
//!
//! The packets are datagrams, or ([`tcp`]) segments of the kernel's TCP.
//!
//! A run goes plan ([`plan`]) -> tests one after the other, each agreed on with the far end ([`messages`], [`run`], [`far`]) ->
//! the two ends of a test ([`sending`], [`receiving`], over a [`kit::datagrams`]) -> their counters ([`results`]) -> [`summary`] ->
//! [`scorecard`].
#![forbid(unsafe_code)]

pub mod far;
mod measurement;
pub mod messages;
pub mod quality;
mod receiving;
mod report;
mod results;
pub mod run;
pub mod scorecard;
mod sending;
mod spans;
pub mod summary;
mod tcp;

pub use measurement::Mbm;
use schema::mbm::{plan, tables};

use messages::Setup;
use serde::Serialize;

/// The first line of a run, by which a server knows what is wanted.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Opening {
    Mbm(Setup),
}

/// How a run goes, for whoever watches.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    /// Which test is under way, and which of the plan's it is.
    pub test: ::mbm::diagnostic::Test,
    /// The number of that test in the plan, from 0.
    pub index: usize,
    /// How many tests the plan has.
    pub tests: usize,
    /// Packets whose fate is known, and those of them that were lost or marked.
    pub packets: u64,
    /// Those of them that were lost or arrived marked CE.
    pub marks: u64,
    /// Share of the fewest packets with which the test can pass.
    pub done: f64,
}
