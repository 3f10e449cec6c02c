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
pub(crate) enum Words {
    /// A node is linked with these.
    Node(Report),
    /// A query for a node.
    Ask(Ask),
    /// What came of it.
    Answer(Reply),
}

/// A query on its way to the node that is to answer it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Ask {
    /// By which the answer is known, on this link.
    pub(crate) id: u64,
    /// Who is to answer it.
    pub(crate) node: String,
    /// Links that it may still cross.
    pub(crate) hops: u8,
    /// As in the path and the query of HTTP.
    pub(crate) what: String,
    pub(crate) query: String,
}

/// An answer on its way back.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Reply {
    pub(crate) id: u64,
    /// As of HTTP.
    pub(crate) status: u16,
    /// JSON, as of HTTP.
    pub(crate) body: String,
}
