//! What is this path like? `isobath estimate`: one property of a path, by trains of probes.
//!
//! Which trains are sent, and what they say, is decided by the estimators of the crate `probe`, which have no clock and no
//! socket. Here they get both: a [`road`] carries one train after the other from one host to the other, audits the gaps at which
//! the probes left, and tells what arrived when. The near end thinks; the far end sends and receives as it is told.
//!
//! A run goes plan ([`plan`]) -> estimator and trains ([`run`], over a [`road`]; at the far end [`far`]; between them
//! [`messages`]) -> what was found ([`finding`]) -> [`summary`] -> [`scorecard`].

pub(crate) mod far;
pub(crate) mod finding;
mod hops;
pub(crate) mod messages;
pub(crate) mod methods;
pub(crate) mod plan;
pub(crate) mod quality;
mod receiving;
pub(crate) mod riding;
pub(crate) mod road;
pub(crate) mod run;
pub(crate) mod scorecard;
mod sending;
pub(crate) mod simulate;
pub(crate) mod summary;
pub(crate) mod tables;
pub(crate) mod traffic;

pub(crate) use plan::Plan;

use crate::kit::datagrams::Terms;
use crate::kit::path_mtu::{HEADERS, MTU};
use messages::Setup;
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
pub(crate) struct Live {
    /// Share of the run that is over, where that is known.
    pub(crate) done: Option<f64>,
    /// Trains so far, and their probes and octets.
    pub(crate) trains: u32,
    pub(crate) probes: u64,
    pub(crate) octets: u64,
    /// What is being done.
    pub(crate) doing: String,
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
        payload: (MTU - HEADERS[usize::from(v6)]) as usize,
    }
}
