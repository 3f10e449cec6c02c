//! The sender: which segment leaves when.

use crate::{Ack, Options, PacketId, Segment, Seq};
use std::time::Duration;
use units::Instant;

/// The sending end of a transfer.
#[derive(Debug)]
pub struct Sender {
    sent: Sent,
}

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
    /// Fast recoveries begun.
    pub recoveries: u64,
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

impl Sender {
    /// A sender by `options` with nothing to send; its packet identifiers come from `seed`, which for a receiver that may lie
    /// must be a secret.
    pub fn new(options: &Options, seed: u64) -> Self {
        let _ = (options, seed);
        Self {
            sent: Sent::default(),
        }
    }

    /// Gives the sender `segments` full segments more to send (any number: `u32::MAX` at a time).
    pub fn supply(&mut self, segments: u32) {
        let _ = segments;
    }

    /// Gives the sender one segment of `len` octets (at most the full size) to send after what it has.
    pub fn supply_one(&mut self, len: u16) {
        let _ = len;
    }

    /// Takes back what has not been sent yet, and marks the end: the transfer is done when all that was sent is acknowledged.
    pub fn close(&mut self) {}

    /// An acknowledgement arrived.
    pub fn handle_ack(&mut self, ack: &Ack, now: Instant) {
        let _ = (ack, now);
    }

    /// The instant of [`Sender::next_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
    }

    /// The next packet to send, if any may leave now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let _ = now;
        None
    }

    /// What happened, oldest first; at most the last few thousand are kept.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// When to call [`Sender::handle_timeout`].
    pub fn next_timeout(&self) -> Option<Instant> {
        None
    }

    /// Whether all that was supplied has been acknowledged and [`Sender::close`] was called.
    pub fn is_done(&self) -> bool {
        false
    }

    /// The segment of which `id` is a copy, if `id` is one of the packets that may still come back. This is what one-way
    /// emulation needs: an identifier that came back is fed to a receiver at this side.
    pub fn find(&self, id: PacketId) -> Option<Segment> {
        let _ = id;
        None
    }

    /// What has been done so far.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// How things stand.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}
