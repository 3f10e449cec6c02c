//! Reordering by packet counters (RFC 4737 section 3.3), with duplicates told apart (section 2.3: only the first to arrive
//! counts).

/// Counters before the newest for which it is known whether they arrived; what is older counts as new.
const MEMORY: u32 = 1_024;
const WORDS: usize = (MEMORY / 64) as usize;

/// Which of the latest packets have arrived. Where none is missing, which is nearly always, their number says it all.
#[derive(Debug)]
pub(super) struct Order {
    newest: Option<u32>,
    /// So many up to the newest have arrived, and none before, as long as `seen` is not kept.
    run: u32,
    /// A bit for each counter modulo [`MEMORY`].
    seen: Option<Box<[u64; WORDS]>>,
}

impl Order {
    pub(super) const fn new() -> Self {
        Self {
            newest: None,
            run: 0,
            seen: None,
        }
    }

    /// The packet with `counter` arrived: how many that were sent later have arrived before it, as far as is remembered; none of
    /// one that is in order, or was here already.
    #[inline]
    pub(super) fn overtaken_by(&mut self, counter: u32) -> Option<u32> {
        let expected = self.newest.map(|newest| newest.wrapping_add(1));
        if self.seen.is_none() && expected.is_none_or(|expected| expected == counter) {
            self.newest = Some(counter);
            self.run = (self.run + 1).min(MEMORY);
            return None;
        }
        self.look_up(counter)
    }

    fn look_up(&mut self, counter: u32) -> Option<u32> {
        let newest = self.newest?;
        if self.seen.is_none() {
            self.seen = Some(Box::new([0; WORDS]));
            for back in 0..self.run {
                self.set(newest.wrapping_sub(back));
            }
        }
        let ahead = counter.wrapping_sub(newest);
        if ahead.cast_signed() > 0 {
            for step in 1..=ahead.min(MEMORY) {
                self.take(newest.wrapping_add(step));
            }
            self.newest = Some(counter);
        }
        let behind = newest.wrapping_sub(counter);
        let is_known = behind.cast_signed() >= 0 && behind < MEMORY;
        let was_seen = (ahead.cast_signed() > 0 || is_known) && self.set(counter);
        if ahead.cast_signed() >= 0 || was_seen {
            return None;
        }
        let later = (0..behind.min(MEMORY)).map(|back| newest.wrapping_sub(back));
        let arrived = later.filter(|later| self.has(*later));
        Some(u32::try_from(arrived.count()).unwrap_or(u32::MAX))
    }

    fn has(&self, counter: u32) -> bool {
        let (word, bit) = place(counter);
        let seen = self.seen.as_ref();
        seen.is_some_and(|seen| seen[word] & bit != 0)
    }

    /// Forgets `counter`'s bit.
    fn take(&mut self, counter: u32) {
        let (word, bit) = place(counter);
        if let Some(seen) = &mut self.seen {
            seen[word] &= !bit;
        }
    }

    /// Sets `counter`'s bit and returns what it was.
    fn set(&mut self, counter: u32) -> bool {
        let (word, bit) = place(counter);
        let Some(seen) = &mut self.seen else {
            return false;
        };
        let was = seen[word] & bit != 0;
        seen[word] |= bit;
        was
    }
}

const fn place(counter: u32) -> (usize, u64) {
    let at = counter % MEMORY;
    ((at / 64) as usize, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whether bits are kept from the beginning or only once one is missing.
        #[test]
        fn nothing_is_known_less_for_being_counted(
            steps in prop::collection::vec(prop_oneof![4 => Just(1_i32), 1 => -1_100..1_100_i32], 1..1_500),
        ) {
            let (mut counted, mut kept) = (Order::new(), Order::new());
            let mut counter = 7_u32;
            kept.overtaken_by(counter);
            kept.look_up(counter);
            counted.overtaken_by(counter);
            for step in steps {
                counter = counter.wrapping_add_signed(step);
                prop_assert_eq!(counted.overtaken_by(counter), kept.look_up(counter));
            }
        }
    }

    fn late(counters: &[u32]) -> Vec<u32> {
        let mut order = Order::new();
        counters
            .iter()
            .copied()
            .filter(|counter| order.overtaken_by(*counter).is_some())
            .collect()
    }

    /// Holds btc/reordering-severity.
    #[test]
    fn a_late_packet_was_overtaken_by_all_later_ones_that_are_here() {
        let overtaken = |counters: &[u32]| {
            let mut order = Order::new();
            let each = counters.iter().map(|counter| order.overtaken_by(*counter));
            each.last().flatten()
        };
        assert_eq!(overtaken(&[1, 2, 4, 3]), Some(1));
        // What is missing overtook nothing: TCP's receiver would have sent three duplicate acknowledgements.
        assert_eq!(overtaken(&[1, 3, 5, 7, 2]), Some(3));
        // One that is late itself was sent later than the next.
        assert_eq!(overtaken(&[1, 6, 4, 2]), Some(2));
        assert_eq!(overtaken(&[1, 6, 4, 5]), Some(1));
        assert_eq!(overtaken(&[u32::MAX - 1, 0, 1, 2, u32::MAX]), Some(3));
        // The memory ends somewhere.
        let all: Vec<u32> = (2..3_000).chain([1]).collect();
        assert_eq!(overtaken(&[&[0], &*all].concat()), Some(1_024));
        assert_eq!(overtaken(&[1, 2, 1]), None);
    }

    /// Holds btc/reordering.
    #[test]
    fn what_comes_after_a_later_one_is_late_once() {
        assert_eq!(late(&[1, 2, 3, 5, 4, 6]), [4]);
        assert_eq!(late(&[1, 3, 4, 2, 2, 4, 5]), [2]);
        assert_eq!(late(&[7, 7, 7]), [0; 0]);
        assert_eq!(late(&[u32::MAX - 1, 1, u32::MAX, 0]), [u32::MAX, 0]);
        assert_eq!(late(&[1, 5_000, 2, 5_001]), [2]);
        assert_eq!(late(&[1, 1_030, 6, 1_030, 7, 7]), [6, 7]);
    }
}
