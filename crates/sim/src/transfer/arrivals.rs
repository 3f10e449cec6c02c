//! Which packets have arrived, each counted once.

use transport::PacketId;

/// Words that are kept: packets that are older than 64 times as many of the latest are held to have been counted.
const WORDS: usize = 1 << 14;

/// Counts the packets that arrived, whichever copies of them the network made. The upper half of an identifier counts the
/// sender's packets ([`PacketId`]); a window over these numbers has a bit for each.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    bits: Vec<u64>,
    /// The highest number so far, from which the others' wraps are told.
    highest: u64,
    count: u64,
}

impl Arrivals {
    /// A packet has arrived; says whether it is the first time.
    pub(super) fn note(&mut self, id: PacketId) -> bool {
        let Some(number) = self.unwrapped(id) else {
            return false;
        };
        if number + (WORDS as u64 - 1) * 64 < self.highest {
            return false;
        }
        self.advance(number);
        let (word, bit) = place(number);
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += u64::from(is_new);
        is_new
    }

    /// How many different packets have arrived.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// The packet's number, of which an identifier has 32 bits: the one nearest to the highest so far.
    fn unwrapped(&self, id: PacketId) -> Option<u64> {
        let ahead = (id.0 >> 32).wrapping_sub(self.highest) << 32;
        self.highest.checked_add_signed(ahead.cast_signed() >> 32)
    }

    /// Moves the window so that it ends with `number`'s word, and empties the words that are new in it.
    fn advance(&mut self, number: u64) {
        if self.bits.is_empty() {
            self.bits = vec![0; WORDS];
        }
        let (from, to) = (self.highest / 64, number / 64);
        for word in (from + 1..=to).take(WORDS) {
            self.bits[place(word * 64).0] = 0;
        }
        self.highest = self.highest.max(number);
    }
}

/// Word and bit of a number.
fn place(number: u64) -> (usize, u64) {
    let word = number / 64 % WORDS as u64;
    (usize::try_from(word).unwrap_or(0), 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn copies_count_once_in_any_order(
            numbers in proptest::collection::vec(0_u64..3_000, 0..500),
            base in 3_000_u64..20_000_000_000,
        ) {
            let mut arrivals = Arrivals {
                highest: base,
                ..Arrivals::default()
            };
            let mut seen = HashSet::new();
            for number in numbers {
                let id = PacketId(((base + number - 1_500) << 32) | (number * 7));
                prop_assert_eq!(arrivals.note(id), seen.insert(number));
            }
            prop_assert_eq!(arrivals.count(), seen.len() as u64);
        }
    }
}
