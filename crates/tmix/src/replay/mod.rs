//! Traffic from vectors, on real sockets: one connection a vector, each over a distance of its own.
//!
//! A file of connection vectors says what applications did. A replay does it again: each vector becomes a TCP connection
//! of the kernel that begins when its vector says, whose ends say what theirs said and wait as theirs waited, through a path
//! that is emulated. What the path does to them, and they to each other, is not in the file; it is what is measured.
//!
//! ```text
//! file -> workload (models, order) -> forecast (can this machine?) -> run: engines at both ends -> tables, summary
//! ```
//!
//! - [`workload`]: the vectors as they are played; [`totals`]: what they are in all. [`forecast`]: what they will ask of the machine; [`room`]: whether it has that.
//! - [`live`]: an end of a connection on a socket; what it does [`vectors::play`] decides. [`engine`]: all ends of a host.
//!   [`datagrams`]: flows of UDP, likewise.
//! - [`connector`], [`listeners`], [`tuples`]: how a connection is opened, and how the accepting end knows which vector it is.
//! - [`run`] in a lab: [`place`]; [`monitors`], [`active`] are what is seen at the bottleneck.
//! - [`near`], [`far`] between two hosts: [`messages`], [`script`], [`path_rtt`].
//! - [`collector`]: all news into the record. [`counters`], [`summary`], [`quality`], [`scorecard`]: what is known after.
//! - [`limits`]: what of all this the machine can do. [`verify`]: whether it was what was asked for.
//!
//! In a lab the distance of a connection is in the emulated path and holds from its first SYN on: TCP runs from end to end, and
//! no proxy is between.

pub mod active;
pub mod capture;
pub mod collector;
pub mod connector;
pub mod counters;
pub mod datagrams;
pub mod engine;
pub mod far;
pub mod forecast;
pub mod limits;
mod listeners;
pub mod live;
mod measurement;
pub mod messages;
pub mod monitors;
pub mod near;
pub mod path_rtt;
pub mod place;
pub mod quality;
pub mod room;
pub mod run;
pub mod scorecard;
pub mod script;
pub mod summary;
pub mod totals;
pub mod tuples;
pub mod verify;
pub mod workload;

pub use measurement::Replay;

use schema::replay::{plan, tables};

use std::time::Duration;

/// How a replay goes, for a display.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    /// Time since the first planned start.
    pub elapsed: Duration,
    /// When all is cut, or else the last planned start, after the first one.
    pub planned: Duration,
    /// Connections that have been opened, or could not be.
    pub begun: u64,
    /// Connections and flows in all.
    pub parts: u64,
    /// Connections and flows that are over.
    pub ended: u64,
    /// Connections that are open.
    pub open: u64,
}

/// `span` in nanoseconds; `u64::MAX` when it does not fit.
pub fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
