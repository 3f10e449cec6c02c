//! What a sender tells of itself.

use crate::{PacketId, Seq};
use std::collections::VecDeque;
use std::time::Duration;

/// What a sender has done.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sent {
    /// Packets, copies among them, window probes not.
    pub packets: u64,
    /// Octets of payload in them.
    pub bytes: u64,
    /// Copies of segments that had been sent before.
    pub retransmits: u64,
    /// Segments acknowledged in order.
    pub acked: u64,
    /// Octets of payload in those.
    pub acked_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Timeouts at which a whole window was out and nothing of it had arrived (RFC 3148 section 3.2.2); those that were undone do not
    /// count.
    pub lost_windows: u64,
    /// Most segments that were out at a time, from the oldest unacknowledged.
    pub largest_flight: u32,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Those of them that sent more than one segment again, and were not undone: without SACK each would have taken a round trip.
    pub multiple_losses: u64,
    /// Tail loss probes (RFC 8985 section 7).
    pub tail_probes: u64,
    /// Recoveries and timeouts that turned out to be needless, and were undone.
    pub undone: u64,
    /// Retransmissions that the receiver had no need of (DSACK, RFC 2883).
    pub spurious: u64,
    /// Reactions to marks.
    pub marks: u64,
    /// Window probes.
    pub window_probes: u64,
    /// Acknowledgements taken.
    pub acks: u64,
    /// Acknowledgements refused, see [`Violation`].
    pub violations: u64,
}

impl Sent {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        packets: 0,
        bytes: 0,
        retransmits: 0,
        acked: 0,
        acked_bytes: 0,
        timeouts: 0,
        lost_windows: 0,
        largest_flight: 0,
        recoveries: 0,
        multiple_losses: 0,
        tail_probes: 0,
        undone: 0,
        spurious: 0,
        marks: 0,
        window_probes: 0,
        acks: 0,
        violations: 0,
    };
}

/// What every sender does, of [`Sent`].
#[derive(Debug, Default)]
pub(super) struct Regular {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) acked: u64,
    pub(super) acked_bytes: u64,
    pub(super) acks: u64,
    pub(super) largest_flight: u32,
}

impl Regular {
    /// All that was done, with the `rest`.
    pub(super) const fn with(&self, rest: Sent) -> Sent {
        Sent {
            packets: self.packets,
            bytes: self.bytes,
            acked: self.acked,
            acked_bytes: self.acked_bytes,
            acks: self.acks,
            largest_flight: self.largest_flight,
            ..rest
        }
    }
}

/// A look at a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow start threshold, segments; infinite before the first loss.
    pub ssthresh: f64,
    /// Segments that are held to be in the network.
    pub flight: u32,
    /// Oldest segment not yet acknowledged.
    pub una: Seq,
    /// Next new segment.
    pub next: Seq,
    /// The receiver's window beyond `una`, segments.
    pub window: u32,
    /// Smoothed round trip, its variation, and the timeout that follows (RFC 6298), backed off as it is.
    pub srtt: Option<Duration>,
    /// See `srtt`.
    pub rttvar: Duration,
    /// See `srtt`.
    pub rto: Duration,
    /// Least round trip.
    pub min_rtt: Option<Duration>,
    /// Whether a fast recovery is under way.
    pub in_recovery: bool,
    /// Whether a timeout is being repaired.
    pub in_loss: bool,
}

/// What happened, for the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A round trip was measured.
    RoundTrip(Duration),
    /// The window was cut, from so many segments.
    Cut {
        /// Why.
        cause: Cause,
        /// Segments before and after.
        from: f64,
        /// See `from`.
        to: f64,
    },
    /// A cut was undone.
    Undone,
    /// A recovery ended.
    Recovered,
    /// A packet is held to be lost.
    Lost(PacketId),
    /// An acknowledgement was refused.
    Violation(Violation),
}

/// Why a window was cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// Duplicates, SACK or RACK told of a loss.
    Loss,
    /// Congestion was experienced (ECN).
    Mark,
    /// The retransmission timer ran out.
    Timeout,
}

/// What no honest receiver on any network sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Violation {
    /// It acknowledges what has not been sent.
    NeverSent,
    /// Its packet identifiers are none of this sender's.
    UnknownPacket,
    /// It acknowledges more than the packets prove whose identifiers it shows.
    Unproven,
}

/// Events that are kept for [`crate::Sender::poll_event`].
const MOST_EVENTS: usize = 4_096;

/// What happened and has not been asked for yet; when it is full, the oldest is forgotten. None is kept when nobody will ask.
#[derive(Debug)]
#[expect(
    clippy::box_collection,
    reason = "where there is none it takes a quarter of the memory"
)]
pub(super) struct Events(Option<Box<VecDeque<Event>>>);

impl Default for Events {
    fn default() -> Self {
        Self(Some(Box::default()))
    }
}

impl Events {
    #[inline]
    pub(super) fn push(&mut self, event: Event) {
        let Some(waiting) = &mut self.0 else {
            return;
        };
        if waiting.len() >= MOST_EVENTS {
            waiting.pop_front();
        }
        waiting.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.0.as_mut()?.pop_front()
    }

    pub(super) fn turn_off(&mut self) {
        self.0 = None;
    }
}
