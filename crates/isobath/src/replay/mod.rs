//! Traffic from vectors, on real sockets: one connection a vector, each over a distance of its own.
//!
//! A file of connection vectors says what applications did. A replay does it again: each vector becomes a TCP connection
//! of the kernel that begins when its vector says, whose ends say what theirs said and wait as theirs waited, through a path
//! that is emulated. What the path does to them, and they to each other, is not in the file; it is what is measured.
//!
//! ```text
//! file -> cast (models, order) -> forecast (can this machine?) -> run: two engines, one lab -> tables, summary
//! ```
//!
//! - [`cast`]: the vectors as they are played. [`forecast`]: what they will ask of the machine.
//! - [`tuples`]: how the accepting end knows which vector a connection is.
//! - [`live`]: an end of a connection on a socket; what it does [`vectors::play`] decides. [`engine`]: all ends of a host.
//! - [`place`]: the lab. [`monitors`], [`active`]: what is seen at the bottleneck.
//! - [`run`]: both hosts, the lab and the record. [`books`], [`summary`], [`quality`], [`scorecard`]: what is known after.
//! - [`limits`]: what of all this the machine can do. [`verify`]: whether it was what was asked for.
//!
//! The distance of a connection is in the emulated path and holds from its first SYN on: TCP runs from end to end, and no proxy
//! is between.

pub(crate) mod active;
pub(crate) mod books;
pub(crate) mod cast;
pub(crate) mod engine;
pub(crate) mod forecast;
pub(crate) mod limits;
pub(crate) mod live;
pub(crate) mod monitors;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod quality;
pub(crate) mod run;
pub(crate) mod scorecard;
pub(crate) mod summary;
pub(crate) mod tables;
pub(crate) mod tuples;
pub(crate) mod verify;

use std::time::Duration;

/// How a replay goes, for a display.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    pub(crate) elapsed: Duration,
    pub(crate) planned: Duration,
    pub(crate) begun: u64,
    pub(crate) parts: u64,
    pub(crate) ended: u64,
    /// Connections that are open.
    pub(crate) open: u64,
}
