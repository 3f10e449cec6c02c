//! How soon the other end answers.

use super::distance;

/// Segments under way that are timed at once; of a burst the first have the shortest times, and the next burst comes.
const TIMED: usize = 3;

/// Times one direction's segments until the other end answers, and keeps the shortest.
#[derive(Debug)]
pub(super) struct RoundTrip {
    /// Where timed segments end, the earliest first, and when they passed.
    ends: [u32; TIMED],
    at_ns: [u64; TIMED],
    timed: u8,
    /// The sender's clock in the segment whose echo is awaited, and when that passed; zero is none.
    clock: u32,
    clock_ns: u64,
    /// The latest reading.
    latest: Option<u32>,
    /// The greatest is none.
    shortest_ns: u64,
}

impl Default for RoundTrip {
    fn default() -> Self {
        Self {
            ends: [0; TIMED],
            at_ns: [0; TIMED],
            timed: 0,
            clock: 0,
            clock_ns: 0,
            latest: None,
            shortest_ns: u64::MAX,
        }
    }
}

impl RoundTrip {
    /// A segment with numbers that were not sent before, up to `end`, passes.
    pub(super) fn sent(&mut self, end: u32, now_ns: u64) {
        let timed = usize::from(self.timed);
        if timed < TIMED {
            self.ends[timed] = end;
            self.at_ns[timed] = now_ns;
            self.timed += 1;
        }
    }

    /// Numbers from `start` on were sent again: which of the two is acknowledged cannot be told.
    pub(super) fn sent_again(&mut self, start: u32) {
        let kept = self.ends().iter();
        let kept = kept.take_while(|&&end| distance(end, start) >= 0);
        self.timed = kept.fold(0, |count, _| count + 1);
    }

    /// All numbers before `ack` were acknowledged.
    pub(super) fn acknowledged(&mut self, ack: u32, now_ns: u64) {
        let heard = self.ends().iter();
        let heard = heard.take_while(|&&end| distance(end, ack) >= 0);
        let count = heard.fold(0_u8, |count, _| count + 1);
        if count > 0 {
            let (from, to) = (usize::from(count), usize::from(self.timed));
            self.sample(now_ns.saturating_sub(self.at_ns[from - 1]));
            self.ends.copy_within(from..to, 0);
            self.at_ns.copy_within(from..to, 0);
            self.timed -= count;
        }
    }

    /// Where the segments under way that are timed end.
    fn ends(&self) -> &[u32] {
        &self.ends[..usize::from(self.timed)]
    }

    /// A segment passes whose sender's clock reads `clock`.
    pub(super) fn clock(&mut self, clock: u32, now_ns: u64) {
        // Only where it moves on is known when it was first read.
        if self
            .latest
            .is_some_and(|latest| distance(latest, clock) <= 0)
        {
            return;
        }
        self.latest = Some(clock);
        if self.clock_ns == 0 {
            self.clock = clock;
            self.clock_ns = now_ns;
        }
    }

    /// The other end has heard `clock`.
    pub(super) fn echo(&mut self, clock: u32, now_ns: u64) {
        if self.clock_ns > 0 && distance(self.clock, clock) >= 0 {
            self.sample(now_ns.saturating_sub(self.clock_ns));
            self.clock_ns = 0;
        }
    }

    /// Something of it.
    pub(super) const fn near(&self) -> u64 {
        self.clock_ns ^ self.at_ns[0]
    }

    fn sample(&mut self, ns: u64) {
        self.shortest_ns = self.shortest_ns.min(ns);
    }

    /// The shortest time until an answer.
    pub(super) fn shortest_ns(&self) -> Option<u64> {
        (self.shortest_ns < u64::MAX).then_some(self.shortest_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_segment_that_is_acknowledged_counts() {
        let mut trip = RoundTrip::default();
        trip.sent(100, 10);
        trip.sent(200, 20);
        trip.acknowledged(199, 50);
        assert_eq!(trip.shortest_ns(), Some(40));
        trip.acknowledged(200, 55);
        assert_eq!(trip.shortest_ns(), Some(35));
        trip.acknowledged(200, 56);
        assert_eq!(trip.shortest_ns(), Some(35));
    }

    /// Holds tmix/min-rtt.
    #[test]
    fn what_was_sent_twice_is_not_timed() {
        let mut trip = RoundTrip::default();
        trip.sent(100, 10);
        trip.sent(200, 10);
        trip.sent_again(100);
        trip.acknowledged(200, 12);
        assert_eq!(trip.shortest_ns(), Some(2));
        let mut trip = RoundTrip::default();
        trip.sent(100, 10);
        trip.sent_again(0);
        trip.acknowledged(100, 12);
        assert_eq!(trip.shortest_ns(), None);
    }

    #[test]
    fn an_echo_of_the_clock_is_an_answer() {
        let mut trip = RoundTrip::default();
        trip.clock(7, 100);
        trip.clock(8, 110);
        trip.echo(6, 120);
        assert_eq!(trip.shortest_ns(), None);
        trip.echo(7, 130);
        assert_eq!(trip.shortest_ns(), Some(30));
        // Readings that passed before.
        trip.clock(7, 140);
        trip.clock(8, 140);
        trip.echo(8, 141);
        assert_eq!(trip.shortest_ns(), Some(30));
    }
}
