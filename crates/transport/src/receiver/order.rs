//! Reordering by packet counters (RFC 4737 section 3.3), with duplicates told apart (section 2.3: only the first to arrive
//! counts).

/// Counters before the newest for which it is known whether they arrived; what is older counts as new.
const MEMORY: u32 = 1_024;
const WORDS: usize = (MEMORY / 64) as usize;

/// Which of the latest packets have arrived.
#[derive(Debug)]
pub(super) struct Order {
    newest: Option<u32>,
    /// A bit for each counter modulo [`MEMORY`].
    seen: [u64; WORDS],
}

impl Order {
    pub(super) const fn new() -> Self {
        Self {
            newest: None,
            seen: [0; WORDS],
        }
    }

    /// The packet with `counter` arrived; true when one that was sent later has arrived before it.
    pub(super) fn is_late(&mut self, counter: u32) -> bool {
        let newest = *self.newest.get_or_insert(counter);
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
        ahead.cast_signed() < 0 && !was_seen
    }

    /// Forgets `counter`'s bit.
    fn take(&mut self, counter: u32) {
        let (word, bit) = place(counter);
        if let Some(word) = self.seen.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Sets `counter`'s bit and returns what it was.
    fn set(&mut self, counter: u32) -> bool {
        let (word, bit) = place(counter);
        let Some(word) = self.seen.get_mut(word) else {
            return false;
        };
        let was = *word & bit != 0;
        *word |= bit;
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

    fn late(counters: &[u32]) -> Vec<u32> {
        let mut order = Order::new();
        counters
            .iter()
            .copied()
            .filter(|counter| order.is_late(*counter))
            .collect()
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
