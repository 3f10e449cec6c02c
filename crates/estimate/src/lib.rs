//! What is this path like? `isobath estimate`: one property of a path, by trains of probes.
//!
//! Which trains are sent, and what they say, is decided by the estimators of the crate `probe`, which have no clock and no
//! socket. Here they get both: a [`carrier`] carries one train after the other from one host to the other, audits the gaps at which
//! the probes left, and tells what arrived when. The near end thinks; the far end sends and receives as it is told.
//!
//! A run goes plan ([`plan`]) -> estimator and trains ([`run`], over a [`carrier`]; at the far end [`far`]; between them
//! [`messages`]) -> what was found ([`finding`]) -> [`summary`] -> [`scorecard`].
#![forbid(unsafe_code)]

mod carrier;
pub mod exchange;
pub mod far;
pub mod finding;
mod hops;
mod measurement;
pub mod messages;
pub mod methods;
pub mod quality;
mod receiving;
pub mod riding;
pub mod run;
pub mod scorecard;
mod sending;
pub mod simulate;
pub mod summary;
mod traffic;

pub use measurement::Estimate;
use schema::estimate::{Plan, plan, tables};

use kit::datagrams::Terms;
use messages::Setup;
use packet::{ETHERNET_MTU, UDP_HEADERS};
use serde::Serialize;
use session::TagKey;
use session::wire::Kind;

/// The stream of trains, that of probes that are sent back, and that of a trace.
const STREAM: u16 = 1;
const ECHO: u16 = 2;
const TRACE: u16 = 3;

/// The first line of a run, by which a server knows what is wanted.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Opening {
    Estimate(Setup),
}

/// How a run goes, for whoever watches.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Share of the run that is over, where that is known.
    pub done: Option<f64>,
    /// Trains so far, and their probes and octets.
    pub trains: u32,
    /// Probes that left, of all trains.
    pub probes: u64,
    /// Octets that they put on the path, IP headers included.
    pub octets: u64,
    /// What is being done.
    pub doing: String,
}

/// How the datagrams of a run look at one end, which sends with the first of `keys` and believes the second.
fn terms(session: u64, keys: (TagKey, TagKey), plan: &Plan, v6: bool) -> Terms {
    Terms {
        session,
        stream: STREAM,
        kind: Kind::OneWay,
        key_out: keys.0,
        key_in: keys.1,
        class: plan.class(),
        payload: (ETHERNET_MTU - UDP_HEADERS[usize::from(v6)]) as usize,
    }
}
