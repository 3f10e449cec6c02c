//! What one acknowledgement did, while it is being worked through.

use super::verify::Claim;
use units::Instant;

/// The earliest and the latest departure among segments that were sent once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Departures {
    pub(super) first: Option<Instant>,
    pub(super) last: Option<Instant>,
}

impl Departures {
    pub(super) fn add(&mut self, sent: Instant) {
        self.first.get_or_insert(sent);
        self.last = Some(sent);
    }
}

/// See the module.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a finding of its own"
)]
pub(super) struct Progress {
    pub(super) claim: Claim,
    pub(super) now: Instant,
    /// When the segment left that the receiver echoes, if that can be.
    pub(super) echo: Option<Instant>,
    /// The oldest unacknowledged segment before.
    pub(super) una_before: u64,
    /// The end of what had arrived before.
    pub(super) sacked_before: u64,
    /// Older than what is known already.
    pub(super) is_old: bool,
    /// `una` moved.
    pub(super) advanced: bool,
    /// The receiver's window opened.
    pub(super) opened: bool,
    /// Segments acknowledged in order, those that SACK told of before among them.
    pub(super) in_order: u32,
    /// Segments that SACK told of for the first time.
    pub(super) sacked: u32,
    /// Segments that are known to have arrived and were not before.
    pub(super) delivered: u32,
    /// Something is held to be lost since this acknowledgement.
    pub(super) lost: bool,
    /// It tells of a duplicate.
    pub(super) duplicate: bool,
    /// The duplicate is that of the tail loss probe.
    pub(super) probe_duplicate: bool,
    /// It echoes congestion.
    pub(super) ece: bool,
    /// A segment arrived that was sent before the recovery and not again: the timeout was spurious (RFC 5682).
    pub(super) original: bool,
    /// A retransmitted segment was acknowledged in order.
    pub(super) resent: bool,
    /// A retransmission is held to be lost.
    pub(super) lost_again: bool,
    /// The retransmission timer begins anew.
    pub(super) rearm: bool,
    /// The lowest segment that arrived after later ones though it was sent once.
    pub(super) overtaken: Option<u64>,
    pub(super) ordered: Departures,
    pub(super) selected: Departures,
}

impl Progress {
    pub(super) fn overtaken(&mut self, number: u64) {
        self.overtaken = Some(self.overtaken.map_or(number, |low| low.min(number)));
    }

    /// A duplicate acknowledgement (RFC 5681 section 2).
    pub(super) const fn is_duplicate_ack(&self) -> bool {
        !(self.advanced || self.opened || self.is_old || self.duplicate)
    }
}
