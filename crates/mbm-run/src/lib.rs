//! Model based metrics: will this path carry an application? The tests of RFC 8337 over real sockets.
//!
//! What is sent when, and what it says, is decided by the crate `mbm`, which has no clock and no socket. Here it gets both: a
//! *sender* that drives a test's stream and judges it, and a *receiver* that keeps the counters of what arrived. The receiver answers
//! with short reports that carry its counters' totals, so the sender knows the truth half a round trip later however many of the reports are lost.
//!
//! The packets are datagrams, or ([`tcp`]) segments of the kernel's TCP.
//!
//! A run goes plan ([`plan`]) -> tests one after the other, each agreed on with the far end ([`messages`], [`run`], [`far`]) ->
//! the two ends of a test ([`sender`], [`receiver`]; on sockets [`sending`], [`receiving`], over a [`kit::datagrams`]) -> their
//! counters ([`results`]) -> [`summary`] -> [`scorecard`]. In virtual time ([`simulated`]) all but the far end is the same.
#![forbid(unsafe_code)]

pub mod far;
mod measurement;
pub mod messages;
pub mod quality;
mod receiver;
mod receiving;
mod report;
mod results;
mod rows;
pub mod run;
pub mod scorecard;
mod sender;
mod sending;
pub mod simulated;
mod spans;
pub mod summary;
mod tcp;
mod trips;

pub use measurement::Mbm;
use schema::mbm::{plan, tables};

use ::mbm::loss::Counts;
use messages::Setup;
use plan::Plan;
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

impl Live {
    /// Of test number `index` of `plan`, with so much known of each of its streams.
    fn of(plan: &Plan, test: ::mbm::diagnostic::Test, index: usize, streams: &[Counts]) -> Self {
        let packets = streams.iter().map(|counts| counts.packets);
        let least = plan.ruling().map(|ruling| ruling.least_packets());
        Self {
            test,
            index,
            tests: plan.tests.len(),
            packets: packets.clone().sum(),
            marks: streams.iter().map(Counts::marks).sum(),
            done: packets.min().unwrap_or(0) as f64 / least.unwrap_or(1).max(1) as f64,
        }
    }
}
