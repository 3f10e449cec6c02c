//! One direction of a connection.

use super::distance;
use super::holes::Holes;
use super::round_trip::RoundTrip;
use capture::dissect::Segment;

/// Further apart no two numbers of one connection are (RFC 7323 section 2.3).
pub(super) const FARTHEST: i32 = 1 << 30;

/// More octets than this must have passed unseen by the word of two segments, which are at most so far from each other. One
/// alone may be forged or damaged: an end takes it only if it is within its window, which a monitor does not always know.
const FAR: i32 = 1 << 16;
const SIDE_BY_SIDE: u32 = 1 << 20;

/// Whether two numbers speak for each other.
pub(super) const fn side_by_side(one: u32, two: u32) -> bool {
    distance(one, two).unsigned_abs() <= SIDE_BY_SIDE
}

/// What an end sends, and what the other has of it.
#[derive(Debug, Default)]
pub(super) struct Half {
    /// The number after all data that was seen, or that must have been sent.
    pub(super) end: u32,
    /// The other end has everything before.
    pub(super) acked: u32,
    /// How far the other end may send: this end's last acknowledgement and window.
    pub(super) edge: Option<u32>,
    /// The last window, shifted; and the largest.
    pub(super) window: u32,
    pub(super) largest_window: u32,
    /// The number of its SYN.
    pub(super) syn: Option<u32>,
    /// The number of its FIN, and when that was first seen.
    pub(super) fin: Option<(u32, u64)>,
    pub(super) window_scale: Option<u8>,
    /// The largest segment that it wants to receive.
    pub(super) mss: Option<u16>,
    /// `end` comes from a segment of its own, not from an acknowledgement.
    pub(super) based: bool,
    /// What follows if the segment from which `end` comes, which had no data, was a keep-alive, whose number is one too low
    /// (RFC 9293 section 3.8.4).
    pub(super) after_keep_alive: Option<u32>,
    /// `acked` comes from an acknowledgement.
    pub(super) heard: bool,
    pub(super) fin_acked: bool,
    /// A segment far ahead of all others, until another tells whether it belongs here; and an acknowledgement of its data that
    /// is as far ahead.
    pub(super) far: Option<Box<Segment>>,
    pub(super) far_ack: Option<u32>,
    /// Segments in a row whose numbers do not belong here.
    pub(super) strange: u8,
    /// The latest time from which on nothing is known to have kept it from sending.
    pub(super) free_since_ns: u64,
    pub(super) packets: u64,
    /// With IP headers.
    pub(super) bytes: u64,
    /// Segments with data, again ones too.
    pub(super) segments: u64,
    /// Segments that were seen before.
    pub(super) again: u32,
    /// Segments that were not, though those after them were, long before.
    pub(super) filled: u32,
    /// The same, but so soon that they were overtaken.
    pub(super) overtaken: u32,
    pub(super) round_trip: RoundTrip,
    pub(super) holes: Holes,
}

/// What a segment brings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Piece {
    /// So many octets further than before.
    New(u32),
    /// Only what was sent before.
    Old,
    /// Nothing.
    Nothing,
}

/// What is known when a segment passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub(super) now_ns: u64,
    /// How long a segment that is sent in answer to the loss of one cannot come after those that show the loss.
    pub(super) overtaken_ns: u64,
    /// The other end's window is closed.
    pub(super) shut: bool,
    /// The segment has a FIN, which is the first.
    pub(super) fin: bool,
}

impl Half {
    /// Whether a number is so far from where the direction is that it belongs to something else.
    pub(super) const fn is_strange(&self, seq: u32) -> bool {
        self.based && distance(self.end, seq).unsigned_abs() > FARTHEST.unsigned_abs()
    }

    /// Whether octets up to `number` would be so many at once that one segment's word is not enough.
    pub(super) const fn is_far(&self, number: u32) -> bool {
        self.based && distance(self.end, number) > FAR
    }

    /// Data from `start` to `end` passes, or a segment without data that would follow them.
    pub(super) fn pass(&mut self, start: u32, end: u32, around: &Around) -> Piece {
        let now_ns = around.now_ns;
        let data = start != end;
        if !self.based {
            self.begin(start, data, around.fin);
        } else if data || start != self.end {
            // Once something was sent, the first number is known.
            let is_next = distance(self.end, start) == 1;
            if self.after_keep_alive.take() == Some(start) && is_next {
                self.rebase(start);
            }
        }
        let further = distance(self.end, end);
        if further > 0 {
            // One number without data is a FIN that was not seen, unless this is it.
            if !data && !around.fin && (further == 1 || self.fin.is_some()) {
                return Piece::Nothing;
            }
            if distance(self.end, start) > 0 {
                self.holes.add(self.end, start, now_ns);
            } else {
                self.holes.fill(start, end);
                self.round_trip.sent(end, now_ns);
            }
            self.segments += u64::from(data);
            self.end = end;
            self.free_since_ns = now_ns;
            return Piece::New(further.unsigned_abs());
        }
        if !data || self.is_probe(start, end, around.shut) {
            return Piece::Nothing;
        }
        self.segments += 1;
        self.old(start, end, around);
        self.free_since_ns = now_ns;
        Piece::Old
    }

    /// The first number of its own.
    fn begin(&mut self, start: u32, data: bool, fin: bool) {
        self.based = true;
        // The other end has what follows already: a keep-alive.
        let is_keep_alive = !data && !fin && self.heard && distance(start, self.acked) == 1;
        let may_be_one = !data && !fin && !is_keep_alive;
        self.after_keep_alive = may_be_one.then_some(start.wrapping_add(1));
        self.rebase(if is_keep_alive { self.acked } else { start });
    }

    /// Everything before `start` is not of this capture.
    const fn rebase(&mut self, start: u32) {
        self.end = start;
        if !self.heard {
            self.acked = start;
        }
    }

    /// A keep-alive repeats the last octet, which the other end has; a probe of a closed window one that it refused.
    const fn is_probe(&self, start: u32, end: u32, shut: bool) -> bool {
        distance(start, end) == 1 && end == self.end && (shut || !self.is_under_way(end))
    }

    fn old(&mut self, start: u32, end: u32, around: &Around) {
        self.round_trip.sent_again(start);
        match self.holes.fill(start, end) {
            None => self.again = self.again.saturating_add(1),
            // The other end had it without our seeing it: it was the capture that lost or overtook.
            Some(_) if distance(end, self.acked) >= 0 => {
                self.overtaken = self.overtaken.saturating_add(1);
            }
            Some(since) if around.now_ns.saturating_sub(since) < around.overtaken_ns => {
                self.overtaken = self.overtaken.saturating_add(1);
            }
            Some(_) => self.filled = self.filled.saturating_add(1),
        }
    }

    /// The other end has everything before `ack`. Says how many octets must have been sent unseen.
    pub(super) fn acknowledged(&mut self, ack: u32, now_ns: u64) -> u32 {
        if !self.based {
            self.acked = ack;
            self.heard = true;
            return 0;
        }
        let further = distance(self.acked, ack);
        if further <= 0 || distance(self.end, ack) > FARTHEST {
            return 0;
        }
        self.heard = true;
        self.round_trip.acknowledged(ack, now_ns);
        self.free_since_ns = now_ns;
        if let Some((fin, _)) = self.fin
            && distance(fin, ack) > 0
        {
            self.fin_acked = true;
            self.acked = ack;
            return 0;
        }
        self.acked = ack;
        let unseen = distance(self.end, ack);
        // One is a FIN that was not seen.
        if unseen <= 1 {
            return 0;
        }
        self.holes.add(self.end, ack, now_ns);
        self.end = ack;
        unseen.unsigned_abs()
    }

    /// Whether this end's window keeps the other from sending anything after `end`.
    pub(super) fn shuts(&self, end: u32) -> bool {
        self.edge.is_some_and(|edge| distance(end, edge) <= 0)
    }

    /// Whether data up to `end` has not reached the other end, as far as it has said.
    pub(super) const fn is_under_way(&self, end: u32) -> bool {
        distance(self.acked, end) > 0
    }
}
