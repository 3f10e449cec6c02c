//! What agents and operators say to each other, as JSON.

use crate::{Moment, Name, PublicKey, RunId};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// What an agent says of itself, again and again: who does not is gone.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Presence {
    /// Its name.
    pub name: Name,
    /// Where it stands.
    pub site: Option<Name>,
    /// Names that it shares with others.
    pub tags: Vec<Name>,
    /// Its version.
    pub isobath: String,
    /// Verbs that it can run, and so be the far end of.
    pub verbs: Vec<String>,
    /// When it started.
    pub started: Moment,
    /// When it said so.
    pub said: Moment,
    /// Whose signature is under what it hands over.
    #[serde(default)]
    pub key: Option<PublicKey>,
    /// Where its far end listens.
    pub address: SocketAddr,
    /// Runs under way.
    pub running: Vec<RunId>,
    /// Outcomes that wait to be handed over.
    pub waiting: u64,
}

/// What an agent asks of another: to be let in for a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Knock {
    /// The run.
    pub run: RunId,
    /// Its verb.
    pub verb: String,
}

/// What an operator asks of both ends of a run: to take it now, beside those of the schedule.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Demand {
    /// The run, of a measurement that may be had on demand.
    pub run: RunId,
}

/// The answer to a demand.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Promise {
    /// It will take part.
    Yes,
    /// It will not.
    No {
        /// Why, in one line.
        reason: String,
    },
}

/// The answer to a knock.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Welcome {
    /// Come in.
    Come {
        /// Where the far end listens.
        address: SocketAddr,
        /// Its access key.
        key: String,
    },
    /// Stay out.
    No {
        /// Why, in one line.
        reason: String,
    },
}
