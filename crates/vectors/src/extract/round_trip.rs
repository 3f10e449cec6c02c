//! How soon the other end answers.

use super::distance;

/// Segments under way that are timed at once; of a burst the first have the shortest times, and the next burst comes.
const TIMED: usize = 3;

/// Times one direction's segments until the other end answers, and keeps the shortest.
#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    /// Where timed segments end, the earliest first, and when they passed.
    ends: [u32; TIMED],
    at_ns: [u64; TIMED],
    timed: usize,
    /// The sender's clock in the segment whose echo is awaited, and when that passed; zero is none.
    clock: u32,
    clock_ns: u64,
    /// The latest reading.
    latest: Option<u32>,
    shortest_ns: Option<u64>,
}

impl RoundTrip {
    /// A segment with numbers that were not sent before, up to `end`, passes.
    pub(super) fn sent(&mut self, end: u32, now_ns: u64) {
        if self.timed < TIMED {
            self.ends[self.timed] = end;
            self.at_ns[self.timed] = now_ns;
            self.timed += 1;
        }
    }

    /// Numbers from `start` on were sent again: which of the two is acknowledged cannot be told.
    pub(super) fn sent_again(&mut self, start: u32) {
        let kept = self.ends[..self.timed].iter();
        self.timed = kept.take_while(|&&end| distance(end, start) >= 0).count();
    }

    /// All numbers before `ack` were acknowledged.
    pub(super) fn acknowledged(&mut self, ack: u32, now_ns: u64) {
        let ends = &self.ends[..self.timed];
        let count = ends
            .iter()
            .take_while(|&&end| distance(end, ack) >= 0)
            .count();
        if count > 0 {
            self.sample(now_ns.saturating_sub(self.at_ns[count - 1]));
            self.ends.copy_within(count..self.timed, 0);
            self.at_ns.copy_within(count..self.timed, 0);
            self.timed -= count;
        }
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
        self.shortest_ns = Some(self.shortest_ns.map_or(ns, |shortest| shortest.min(ns)));
    }

    /// The shortest time until an answer.
    pub(super) const fn shortest_ns(&self) -> Option<u64> {
        self.shortest_ns
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
