//! Test streams: which packets leave when (RFC 8337 section 6).
//!
//! A stream imitates what a transport would send over the complete path, wherever the test is made. It is a state machine: the
//! carrier asks [`Stream::poll`] what to send, and tells a self-clocked stream which packets were acknowledged. Packets are full ones and are numbered from 0.
//!
//! | stream | of RFC 8337 | made by |
//! |---|---|---|
//! | paced single packets, paced bursts | section 3 | [`Pattern::paced`] |
//! | slow-start rate: bursts of 4 packets at twice the bottleneck | sections 3 and 6.1 | [`Pattern::slow_start_rate`] |
//! | slow-start bursts, repeated every target round trip | sections 3 and 6.1 | [`Pattern::slow_start_bursts`] |
//! | bursts at the rate of the sender's interface, derated or not | sections 8.4 and 8.5.1 | [`Pattern::sender_rate_bursts`] |
//! | constant window | section 6.2 | [`ConstantWindow`] |
//! | scanned window | section 6.3 | [`Scan`] |
//! | slow start until a loss, again and again | section 8.3.2 | [`UntilLoss`] |
//! | several at once, bursts together | section 6.4 | any of these for each, with one start |
//!
//! # Calling order
//!
//! `handle_ack` for each acknowledgement that has come; then `poll` until it says `None`; then wait until [`Stream::next_due`] or
//! the next acknowledgement. `now` never goes back. A burst that was due earlier than `now` keeps its `due`: a carrier that
//! is late sends at once, and its lateness shows in the [counters](Keeping) instead of adding up.

mod constant;
mod flight;
mod keeping;
mod meter;
mod pattern;
mod scan;
mod schedule;
mod until_loss;

pub use constant::ConstantWindow;
pub use keeping::{Keeping, PatternReport};
pub use meter::RateMeter;
pub use pattern::{Pattern, SET};
pub use scan::{FirstMark, Growth, MAX_STEPS, Scan, ScanOptions, ScanReport, Step};
pub use schedule::Schedule;
pub use until_loss::{Round, UntilLoss};

use std::time::Duration;
use units::Instant;

/// Packets that leave together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Burst {
    /// When the first of them is to leave.
    pub due: Instant,
    /// Number of the first.
    pub first: u64,
    /// How many, at least one.
    pub packets: u32,
}

/// An acknowledgement of one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ack {
    /// The packet's number.
    pub seq: u64,
    /// Whether it arrived with congestion experienced.
    pub ce: bool,
}

/// What a stream is to look like where it leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shape {
    /// Packets in a burst.
    pub burst_packets: u32,
    /// From the start of one burst to the start of the next; `None` for a self-clocked stream.
    pub headway: Option<Duration>,
}

/// A test stream.
pub trait Stream: core::fmt::Debug + Send {
    /// What is to leave at `now`; `None` when nothing more is due.
    fn poll(&mut self, now: Instant) -> Option<Burst>;

    /// When to poll next though nothing is acknowledged; `None` when only an acknowledgement, or nothing, brings more.
    fn next_due(&self) -> Option<Instant>;

    /// A packet was acknowledged.
    fn handle_ack(&mut self, _ack: Ack, _now: Instant) {}

    /// Whether nothing more will ever leave.
    fn is_done(&self) -> bool;

    /// What it is to look like.
    fn shape(&self) -> Shape;

    /// The scan's figures so far, of a stream that scans.
    fn scan(&self) -> Option<ScanReport> {
        None
    }

    /// The rounds so far, of a stream that sends until a loss.
    fn rounds(&self) -> &[Round] {
        &[]
    }
}

#[cfg(test)]
mod tests;
