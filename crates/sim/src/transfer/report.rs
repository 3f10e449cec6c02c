//! How a transfer went.

use super::source::Source;
use super::{Observer, sink::Sink};
use std::time::Duration;
use transport::{Receipts, Sent};

/// How a transfer ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// All its segments were acknowledged.
    Complete,
    /// Nothing new was acknowledged for five minutes.
    Stalled,
    /// Its time was over.
    Time,
}

/// The counters of both ends of one transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// When it began, after the world's beginning.
    pub start: Duration,
    /// How long it took: until its time was over, otherwise to the last acknowledgement of something new. `None` while it
    /// goes on.
    pub time: Option<Duration>,
    /// How it ended; `None` while it goes on.
    pub outcome: Option<Outcome>,
    /// What the sender did until then.
    pub sent: Sent,
    /// What the receiver found, whenever it arrived.
    pub receipts: Receipts,
    /// Packets that left the sender and never reached the receiver, those under way among them while it goes on.
    pub lost: u64,
}

impl Report {
    pub(super) fn new<O: Observer>(source: &Source<O>, sink: &Sink<O>) -> Self {
        let (sent, over) = source.counters();
        let (receipts, arrived) = sink.counters();
        let start = source.plan().start;
        Self {
            start,
            time: over.map(|over| over.at.since(units::Instant::ZERO + start)),
            outcome: over.map(|over| over.outcome),
            sent,
            receipts,
            lost: sent.packets.saturating_sub(arrived),
        }
    }

    /// Payload acknowledged over the time that it took, in Mbit/s; `None` while it goes on, and when nothing was
    /// acknowledged.
    pub fn throughput_mbps(&self) -> Option<f64> {
        let seconds = self.time?.as_secs_f64();
        let bytes = self.sent.acked_bytes;
        (bytes > 0 && seconds > 0.0).then(|| bytes as f64 * 8e-6 / seconds)
    }

    /// Packets lost as a share of those that left, in per cent; `None` when none left.
    pub fn loss_pct(&self) -> Option<f64> {
        (self.sent.packets > 0).then(|| self.lost as f64 * 100.0 / self.sent.packets as f64)
    }
}
