//! What services of linked managers say to each other, a JSON line each, on the control connection of their link.
//!
//! A manager that knows none of these lines leaves them alone.

use super::map::Report;
use serde::{Deserialize, Serialize};

/// Links that a query may cross.
pub(super) const MOST_HOPS: u8 = 8;

/// A line.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Words {
    /// A node is linked with these.
    Node(Report),
    /// A query for a node.
    Ask(Ask),
    /// What came of it, or is new about it.
    Answer(Reply),
    /// Whoever asked the query of this number on this link wants to know no more.
    Gone(u64),
}

/// A query on its way to the node that is to answer it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Ask {
    /// By which the answer is known, on this link.
    pub id: u64,
    /// Who is to answer it.
    pub node: String,
    /// Links that it may still cross.
    pub hops: u8,
    /// As in the path and the query of HTTP.
    pub what: String,
    pub query: String,
    /// Whether it is answered again and again.
    #[serde(default)]
    pub watch: bool,
}

/// What a client of a watch is told.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// That there will be events.
    Taken,
    /// An answer.
    #[default]
    Estimate,
    /// One beyond a bound.
    Crossed,
    /// Why there is none.
    Error,
}

impl Event {
    /// Its name among server-sent events.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Estimate => "estimate",
            Self::Crossed => "crossed",
            Self::Error => "error",
        }
    }
}

/// An answer on its way back.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Reply {
    pub id: u64,
    /// As of HTTP.
    pub status: u16,
    /// JSON, as of HTTP.
    pub body: String,
    /// Which kind of event it is.
    #[serde(default)]
    pub event: Event,
    /// Whether more is to come.
    #[serde(default)]
    pub more: bool,
}
