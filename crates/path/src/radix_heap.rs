//! What is to happen, by the instant at which it does, where time never goes back.
//!
//! A *multi-level bucket heap* (Denardo and Fox, "Shortest-route methods: 1. Reaching, pruning, and buckets", 1979; with digits of one bit the
//! *radix heap* of Ahuja, Mehlhorn, Orlin and Tarjan, 1990). Instants are numbers of sixteen digits of four bits. An entry lies in the bucket
//! of the highest digit in which its instant differs from that of the latest one taken, and of that digit's value. Those of the lowest
//! bucket are spread over the buckets below it when they are the next, unless there is only one. So an entry moves a few times, at most
//! once for each digit, and nothing is ever compared with its neighbours in order; a binary heap of ten thousand takes several times
//! as many instructions.

use std::collections::VecDeque;
use units::Instant;

/// Bits of a digit.
const BITS: u32 = 4;
/// Values of a digit.
const VALUES: usize = 1 << BITS;
/// Digits of an instant.
const DIGITS: usize = (u64::BITS / BITS) as usize;

/// A bucket that is emptied keeps memory for so many entries. Each of them is the fullest in its turn.
const KEPT: usize = 64;

/// Values by their instants, the earliest first; equal instants keep the order of entry. An instant before that of the latest
/// value taken counts as that one.
#[derive(Clone, Debug)]
pub struct RadixHeap<T> {
    /// The instant of the latest value taken.
    last: u64,
    /// The earliest instant; `u64::MAX` without any.
    first: u64,
    /// The values of the instant `last`.
    due: VecDeque<T>,
    /// By digit and its value; none before the first is needed.
    buckets: Vec<Bucket<T>>,
    /// A bit for each bucket of a digit with something in it.
    occupied: [u16; DIGITS],
    /// A bit for each digit with such a bucket.
    digits: u16,
}

/// What differs from the latest instant in the same digit, and has the same value there.
#[derive(Clone, Debug)]
struct Bucket<T> {
    /// The earliest instant.
    least: u64,
    entries: Vec<(u64, T)>,
}

impl<T> Default for Bucket<T> {
    fn default() -> Self {
        Self {
            least: u64::MAX,
            entries: Vec::new(),
        }
    }
}

impl<T> Default for RadixHeap<T> {
    fn default() -> Self {
        Self {
            last: 0,
            first: u64::MAX,
            due: VecDeque::new(),
            buckets: Vec::new(),
            occupied: [0; DIGITS],
            digits: 0,
        }
    }
}

impl<T> RadixHeap<T> {
    /// Adds `value`, to be taken at `at`.
    #[inline]
    pub fn push(&mut self, at: Instant, value: T) {
        // The greatest number stands for none.
        let at = at.as_nanos().min(u64::MAX - 1).max(self.last);
        self.first = self.first.min(at);
        self.put(at, value);
    }

    #[inline]
    fn put(&mut self, at: u64, value: T) {
        let Some(bit) = (at ^ self.last).checked_ilog2() else {
            self.due.push_back(value);
            return;
        };
        let digit = bit / BITS;
        let figure = figure(at, digit);
        if self.buckets.is_empty() {
            self.buckets.resize_with(DIGITS * VALUES, Bucket::default);
        }
        let bucket = &mut self.buckets[digit as usize * VALUES + figure];
        bucket.least = bucket.least.min(at);
        bucket.entries.push((at, value));
        self.occupied[digit as usize % DIGITS] |= 1 << figure;
        self.digits |= 1 << digit;
    }

    /// The earliest instant.
    #[inline]
    pub fn first(&self) -> Option<Instant> {
        (self.first < u64::MAX).then(|| Instant::from_nanos(self.first))
    }

    /// The earliest instant; [`Instant::FAR_FUTURE`] without any.
    #[inline]
    pub const fn next(&self) -> Instant {
        Instant::from_nanos(self.first)
    }

    /// Takes the earliest value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if let Some(value) = self.due.pop_front() {
            if self.due.is_empty() {
                self.seek();
            }
            return Some(value);
        }
        self.pop_lowest()
    }

    /// Takes the earliest value if its instant is not after `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<T> {
        if self.first > now.as_nanos() {
            return None;
        }
        self.pop()
    }

    /// The bucket with the earliest entries, which is that of the lowest digit and the least value: its digit, and its place.
    #[inline]
    fn lowest(&self) -> Option<(usize, usize)> {
        let digit = self.digits.trailing_zeros() as usize;
        let values = self.occupied.get(digit)?;
        Some((digit, digit * VALUES + values.trailing_zeros() as usize))
    }

    /// Its earliest value is taken; the instant of that becomes the latest, and the others go to lower buckets.
    fn pop_lowest(&mut self) -> Option<T> {
        let (digit, place) = self.lowest()?;
        self.occupied[digit] &= self.occupied[digit] - 1;
        if self.occupied[digit] == 0 {
            self.digits &= self.digits - 1;
        }
        let bucket = &mut self.buckets[place];
        self.last = std::mem::replace(&mut bucket.least, u64::MAX);
        let value = if bucket.entries.len() == 1 {
            bucket.entries.pop().map(|(_, value)| value)
        } else {
            let mut entries = std::mem::take(&mut bucket.entries);
            for (at, value) in entries.drain(..) {
                self.put(at, value);
            }
            if entries.capacity() <= KEPT {
                self.buckets[place].entries = entries;
            }
            self.due.pop_front()
        };
        self.seek();
        value
    }

    /// Finds the earliest instant.
    #[inline]
    fn seek(&mut self) {
        self.first = if self.due.is_empty() {
            let lowest = self.lowest();
            lowest.map_or(u64::MAX, |(_, place)| self.buckets[place].least)
        } else {
            self.last
        };
    }

    /// Whether nothing is to happen.
    pub const fn is_empty(&self) -> bool {
        self.first == u64::MAX
    }
}

/// The value of a digit of `at`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is below VALUES")]
const fn figure(at: u64, digit: u32) -> usize {
    ((at >> (digit * BITS)) % VALUES as u64) as usize
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
