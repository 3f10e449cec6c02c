//! Runs as the parts of one path: what they say of the whole (RFC 6049).
//!
//! What is put together, and whether it can be, the caller knows; here is only the form in which a page shows it. The runs are
//! the parts in the order in which a packet crosses them.

use record::Verdict;
use serde::Serialize;

/// What is known of the whole path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Composed {
    /// By test: those that every run made and that losses decide.
    pub tests: Vec<Composition>,
    /// Why the runs cannot be parts of one path, or those of a test cannot.
    pub refused: Option<String>,
}

/// The whole path by one test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Composition {
    /// The test.
    pub test: String,
    /// What the whole path says: its parts' losses, put together.
    pub whole: Part,
    /// The verdict in words, with its figures.
    pub says: String,
    /// What would change it.
    pub would_change: String,
    /// What to beware of.
    pub warnings: Vec<String>,
    /// A part for each run, in their order.
    pub parts: Vec<Part>,
}

/// A part of a path, or the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is called.
    pub name: String,
    /// Its verdict.
    pub outcome: Verdict,
    /// Packets whose fate is known.
    pub packets: u64,
    /// Packets of these that were lost or marked.
    pub marks: u64,
    /// Their share, per cent.
    pub loss_pct: f64,
    /// The exact 95 % interval of it, per cent; null without packets.
    pub interval_pct: Option<[f64; 2]>,
    /// Loss up to this is good, per cent: of a part its share of what is good for the whole.
    pub good_pct: f64,
    /// Loss from this on is bad, per cent: likewise.
    pub bad_pct: f64,
}
