//! An open-loop stream: a pattern that begins at an instant.

use super::{Burst, Pattern, Shape, Stream};
use units::Instant;

/// Sends a [`Pattern`], whatever becomes of the packets.
#[derive(Clone, Debug)]
pub struct Schedule {
    pattern: Pattern,
    start: Instant,
    /// Number of the burst that is being sent.
    burst: u64,
    /// Sets of it that have left.
    sets: u32,
    next: u64,
    /// Packets in all.
    limit: u64,
}

impl Schedule {
    /// `pattern` from `start` on, for ever.
    pub const fn new(pattern: Pattern, start: Instant) -> Self {
        Self::limited(pattern, start, u64::MAX)
    }

    /// `pattern` from `start` on, for `limit` packets.
    pub const fn limited(pattern: Pattern, start: Instant, limit: u64) -> Self {
        Self {
            pattern,
            start,
            burst: 0,
            sets: 0,
            next: 0,
            limit,
        }
    }

    /// The same with the first packet numbered `first`: the rest of a stream that had another pattern.
    #[must_use]
    pub const fn numbered(self, first: u64) -> Self {
        Self {
            next: first,
            ..self
        }
    }

    /// When the next set is due.
    fn due(&self) -> Instant {
        let into = self.pattern.set_headway.times(u64::from(self.sets));
        self.start + self.pattern.headway.times(self.burst) + into
    }

    /// Begins again at `start` with the first burst; numbers go on.
    pub(super) const fn restart(&mut self, start: Instant) {
        self.start = start;
        self.burst = 0;
        self.sets = 0;
    }

    /// Number of the next packet.
    pub(super) const fn next_seq(&self) -> u64 {
        self.next
    }
}

impl Stream for Schedule {
    fn poll(&mut self, now: Instant) -> Option<Burst> {
        let due = self.due();
        if self.is_done() || due > now {
            return None;
        }
        let sent = self.sets.saturating_mul(self.pattern.set);
        let in_burst = self.pattern.packets.saturating_sub(sent);
        let left = u32::try_from(self.limit - self.next).unwrap_or(u32::MAX);
        let packets = in_burst.min(self.pattern.set).min(left).max(1);
        let first = self.next;
        self.next += u64::from(packets);
        self.sets += 1;
        if in_burst <= self.pattern.set {
            self.burst += 1;
            self.sets = 0;
        }
        Some(Burst {
            due,
            first,
            packets,
        })
    }

    fn next_due(&self) -> Option<Instant> {
        (!self.is_done()).then(|| self.due())
    }

    fn is_done(&self) -> bool {
        self.next >= self.limit
    }

    fn shape(&self) -> Shape {
        Shape {
            burst_packets: self.pattern.packets,
            headway: Some(self.pattern.headway()),
        }
    }
}
