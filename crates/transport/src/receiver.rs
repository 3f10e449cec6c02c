//! The receiver: which acknowledgement goes back when.

use crate::{Ack, Options, Segment, Seq};
use units::{Ecn, Instant};

/// The receiving end of a transfer.
#[derive(Debug)]
pub struct Receiver {
    next: Seq,
    held: bool,
    receipts: Receipts,
}

/// What has arrived.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Receipts {
    /// Packets, copies among them.
    pub packets: u64,
    /// Segments in order.
    pub segments: u64,
    /// Octets of payload in order.
    pub bytes: u64,
    /// Packets whose segment had arrived already.
    pub duplicates: u64,
    /// Packets that arrived after one that was sent later (RFC 4737 section 3.3, by packet counters).
    pub reordered: u64,
    /// Packets marked CE.
    pub marked: u64,
    /// Packets beyond the window, or otherwise impossible; dropped.
    pub refused: u64,
    /// Acknowledgements sent.
    pub acks: u64,
}

impl Receiver {
    /// A receiver for a transfer by `options`.
    pub fn new(options: &Options) -> Self {
        Self {
            next: Seq(options.first_seq),
            held: false,
            receipts: Receipts::default(),
        }
    }

    /// A segment arrived at `now`, with `ecn` in its IP header.
    pub fn handle_segment(&mut self, segment: &Segment, ecn: Ecn, now: Instant) {
        let _ = (segment, ecn, now);
    }

    /// The instant of [`Receiver::next_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
    }

    /// Stops the application's reading (the window closes as segments arrive), or goes on with it (which is announced).
    pub fn hold(&mut self, is_held: bool, now: Instant) {
        let _ = now;
        self.held = is_held;
    }

    /// The next acknowledgement to send, if any.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Ack> {
        let _ = now;
        None
    }

    /// When to call [`Receiver::handle_timeout`].
    pub fn next_timeout(&self) -> Option<Instant> {
        None
    }

    /// The number expected next.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// Whether the last segment of the transfer and all before it have arrived.
    pub fn is_complete(&self) -> bool {
        false
    }

    /// What has arrived so far.
    pub fn receipts(&self) -> Receipts {
        self.receipts
    }
}
