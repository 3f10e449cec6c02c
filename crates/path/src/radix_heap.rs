//! What is to happen, by the instant at which it does, where time never goes back.
//!
//! A *radix heap* (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path problem", 1990): entries lie in buckets by
//! the highest bit in which their instant differs from that of the latest one taken. Those of the lowest bucket are spread over
//! the buckets below it when they are the next. An entry moves at most once for each bit, mostly a few times, and nothing is ever
//! compared with its neighbours in order; a binary heap of ten thousand takes three times as many instructions.

use std::collections::VecDeque;
use units::Instant;

/// Buckets: one for each bit in which instants can differ.
const BUCKETS: usize = 64;

/// Values by their instants, the earliest first; equal instants keep the order of entry. An instant before that of the latest
/// value taken counts as that one.
#[derive(Clone, Debug)]
pub struct RadixHeap<T> {
    /// The instant of the latest value taken.
    last: u64,
    /// The values of that very instant.
    due: VecDeque<T>,
    /// Bucket n holds what differs from `last` in bit n, and in none above.
    buckets: [Vec<(u64, T)>; BUCKETS],
    /// The earliest instant of each.
    least: [u64; BUCKETS],
    /// A bit for each bucket with something in it.
    occupied: u64,
}

impl<T> Default for RadixHeap<T> {
    fn default() -> Self {
        Self {
            last: 0,
            due: VecDeque::new(),
            buckets: std::array::from_fn(|_| Vec::new()),
            least: [u64::MAX; BUCKETS],
            occupied: 0,
        }
    }
}

impl<T> RadixHeap<T> {
    /// Adds `value`, to be taken at `at`.
    #[inline]
    pub fn push(&mut self, at: Instant, value: T) {
        self.put(at.as_nanos().max(self.last), value);
    }

    #[inline]
    fn put(&mut self, at: u64, value: T) {
        let Some(bit) = (at ^ self.last).checked_ilog2() else {
            self.due.push_back(value);
            return;
        };
        let place = bit as usize;
        self.buckets[place].push((at, value));
        self.least[place] = self.least[place].min(at);
        self.occupied |= 1 << bit;
    }

    /// The earliest instant.
    #[inline]
    pub fn first(&self) -> Option<Instant> {
        if !self.due.is_empty() {
            return Some(Instant::from_nanos(self.last));
        }
        let least = self.least.get(self.occupied.trailing_zeros() as usize);
        least.copied().map(Instant::from_nanos)
    }

    /// Takes the earliest value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.due.is_empty() {
            self.spread();
        }
        self.due.pop_front()
    }

    /// Takes the earliest value if its instant is not after `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<T> {
        (self.first()? <= now).then(|| self.pop())?
    }

    /// The earliest instant is now, and its bucket's entries go to lower ones.
    fn spread(&mut self) {
        let place = self.occupied.trailing_zeros() as usize;
        let Some(bucket) = self.buckets.get_mut(place) else {
            return;
        };
        let mut entries = std::mem::take(bucket);
        self.last = std::mem::replace(&mut self.least[place], u64::MAX);
        self.occupied &= self.occupied - 1;
        for (at, value) in entries.drain(..) {
            self.put(at, value);
        }
        // Its memory is used again.
        self.buckets[place] = entries;
    }

    /// Whether nothing is to happen.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty() && self.occupied == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a list that is sorted at every step.
        #[test]
        fn the_earliest_comes_first_and_equals_in_order(
            steps in proptest::collection::vec(proptest::option::of((0_u32..40, 0_u64..200)), 0..400),
        ) {
            let mut heap = RadixHeap::default();
            let (mut plain, mut now) = (Vec::new(), 0_u64);
            for (number, step) in steps.into_iter().enumerate() {
                if let Some((scale, ahead)) = step {
                    let at = now + (ahead << scale);
                    heap.push(Instant::from_nanos(at), number);
                    plain.push((at, number));
                    plain.sort_unstable();
                } else {
                    let first = (!plain.is_empty()).then(|| plain.remove(0));
                    prop_assert_eq!(heap.first(), first.map(|(at, _)| Instant::from_nanos(at)));
                    prop_assert_eq!(heap.pop(), first.map(|(_, number)| number));
                    now = first.map_or(now, |(at, _)| at);
                }
                prop_assert_eq!(heap.is_empty(), plain.is_empty());
            }
        }
    }

    #[test]
    fn what_is_late_is_next() {
        let mut heap = RadixHeap::default();
        for at in [9, 9, 20] {
            heap.push(Instant::from_nanos(at), at);
        }
        assert_eq!(heap.pop(), Some(9));
        heap.push(Instant::from_nanos(3), 3);
        assert_eq!(heap.pop_due(Instant::from_nanos(8)), None);
        assert_eq!(heap.pop_due(Instant::from_nanos(9)), Some(9));
        assert_eq!(heap.pop(), Some(3));
        assert_eq!((heap.pop(), heap.pop()), (Some(20), None));
        assert!(heap.is_empty() && heap.first().is_none());
    }
}
