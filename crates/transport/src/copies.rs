//! The packets that left, in the order in which they did: what RACK looks through (RFC 8985 section 5.1), and what names the
//! segment of a packet that came back. No more are remembered than the window and what was retransmitted of it. As long as every segment
//! has left once the [scoreboard](crate::scoreboard) does without.

use std::collections::VecDeque;
use units::Instant;

/// Copies that are remembered beyond twice the segments that are out.
const SPARE: usize = 4_096;

/// A packet that left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// The segment of which it is a copy.
    pub(crate) number: u64,
    /// When it left.
    pub(crate) sent: Instant,
}

/// See the module; a ring by packet counter.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    ring: VecDeque<Copy>,
    /// The counter of the first in `ring`.
    base: u64,
    /// No packet that has been forgotten carried this number or one above.
    forgotten_end: u64,
}

impl Copies {
    /// Of segments from `una` on that have left once each, given as they left: the counters follow each other, the first of which is `base`.
    pub(crate) fn of_firsts(una: u64, base: u64, sent: impl Iterator<Item = Instant>) -> Self {
        let copies = (una..).zip(sent);
        Self {
            ring: copies.map(|(number, sent)| Copy { number, sent }).collect(),
            base,
            forgotten_end: una,
        }
    }

    /// The packet with `counter` left, one after that before; `out` segments are.
    pub(crate) fn remember(&mut self, counter: u64, copy: Copy, out: usize) {
        if self.ring.is_empty() {
            self.base = counter;
        }
        self.ring.push_back(copy);
        if self.ring.len() > 2 * out + SPARE {
            let end = self.ring.pop_front().map_or(0, |copy| copy.number + 1);
            self.base += 1;
            self.forgotten_end = self.forgotten_end.max(end);
        }
    }

    /// Segments before `una` are acknowledged.
    pub(crate) fn forget_before(&mut self, una: u64) {
        self.forgotten_end = self.forgotten_end.max(una);
        while self.ring.front().is_some_and(|copy| copy.number < una) {
            self.ring.pop_front();
            self.base += 1;
        }
    }

    /// The packet with `counter`, if it is remembered.
    pub(crate) fn get(&self, counter: u64) -> Option<Copy> {
        let at = usize::try_from(counter.checked_sub(self.base)?).ok()?;
        self.ring.get(at).copied()
    }

    /// The lowest counter that is remembered.
    pub(crate) const fn oldest(&self) -> u64 {
        self.base
    }

    /// The arrival of the packet with `counter` proves that of no segment from here on.
    pub(crate) fn proven_by(&self, counter: u64) -> u64 {
        self.get(counter)
            .map_or(self.forgotten_end, |copy| copy.number + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_packet_proves_no_more_than_was_acknowledged() {
        let mut copies = Copies::default();
        for counter in 0..10 {
            let copy = Copy {
                number: counter,
                sent: Instant::ZERO,
            };
            copies.remember(counter, copy, 10);
        }
        copies.forget_before(4);
        assert_eq!(
            (copies.oldest(), copies.proven_by(2), copies.proven_by(7)),
            (4, 4, 8)
        );
        assert!(copies.get(3).is_none() && copies.get(10).is_none());
    }

    #[test]
    fn a_segment_that_is_sent_for_ever_fills_no_memory() {
        let mut copies = Copies::default();
        for counter in 0..100_000 {
            copies.remember(
                counter,
                Copy {
                    number: 5,
                    sent: Instant::ZERO,
                },
                1,
            );
        }
        assert_eq!(copies.ring.len(), SPARE + 2);
        assert_eq!((copies.proven_by(0), copies.proven_by(99_999)), (6, 6));
    }
}
