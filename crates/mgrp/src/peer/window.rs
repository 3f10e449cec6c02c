//! Each packet once: a sliding window over the numbers of packets (RFC 6479), in constant memory.
//!
//! Numbers have 64 bits at both ends and 32 on the wire. The window knows about where the sender is, so the number that is
//! meant is the nearest of those that end in the 32 bits. It remembers one bit for each of the [`SPAN`] numbers below the highest; a packet
//! that comes later than that is refused, for nobody knows any more whether it came before.

/// How many packets may overtake another. At 2 Gbit/s these are 50 ms.
const SPAN: u64 = 8_192;
const WORDS: usize = 128;

/// What is known of a packet's number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    /// It came for the first time.
    Fresh,
    /// It came before.
    Repeated,
    /// It is too old to tell.
    Late,
}

/// Which numbers have come.
#[derive(Debug)]
pub(super) struct Window {
    /// One more than the highest that has come.
    next: u64,
    /// Bit `n % SPAN` belongs to number `n`, for `next - SPAN <= n < next`.
    came: [u64; WORDS],
}

impl Window {
    pub(super) const fn new() -> Self {
        Self {
            next: 0,
            came: [0; WORDS],
        }
    }

    /// The number nearest to the window's head of all that end in these 32 bits.
    pub(super) const fn widen(&self, sequence: u32) -> u64 {
        let head = self.next.to_be_bytes();
        let low = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
        let ahead = sequence.wrapping_sub(low).cast_signed();
        match self.next.checked_add_signed(ahead as i64) {
            Some(number) => number,
            // Nothing is below zero: it is far ahead instead.
            None => sequence as u64,
        }
    }

    /// Takes note of a number.
    pub(super) fn admit(&mut self, number: u64) -> Verdict {
        if number == u64::MAX || number.saturating_add(SPAN) < self.next {
            return Verdict::Late;
        }
        if number >= self.next {
            self.advance(number + 1);
        }
        let (word, bit) = place(number);
        let Some(word) = self.came.get_mut(word) else {
            return Verdict::Late;
        };
        let is_fresh = *word & bit == 0;
        *word |= bit;
        if is_fresh {
            Verdict::Fresh
        } else {
            Verdict::Repeated
        }
    }

    /// Moves the head, and forgets what falls out at the tail.
    fn advance(&mut self, next: u64) {
        for number in self.next.max(next.saturating_sub(SPAN))..next {
            let (word, bit) = place(number);
            if let Some(word) = self.came.get_mut(word) {
                *word &= !bit;
            }
        }
        self.next = next;
    }
}

/// Where the bit of a number is: index of its word, and mask.
fn place(number: u64) -> (usize, u64) {
    let slot = number % SPAN;
    let word = usize::try_from(slot / 64).unwrap_or(0);
    (word, 1 << (slot % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn a_late_packet_passes_once_and_an_ancient_one_never() {
        let mut window = Window::new();
        assert_eq!(window.admit(SPAN + 99), Verdict::Fresh);
        assert_eq!(window.admit(100), Verdict::Fresh);
        assert_eq!(window.admit(100), Verdict::Repeated);
        assert_eq!(window.admit(99), Verdict::Late);
        assert_eq!(window.admit(u64::MAX), Verdict::Late);
    }

    proptest! {
        #[test]
        fn no_number_passes_twice(numbers in prop::collection::vec(0_u64..40_000, 1..400)) {
            let (mut window, mut seen, mut next) = (Window::new(), HashSet::new(), 0);
            for number in numbers {
                let is_fresh = window.admit(number) == Verdict::Fresh;
                prop_assert_eq!(is_fresh, number + SPAN >= next && seen.insert(number));
                next = next.max(number + 1);
            }
        }

        #[test]
        fn a_number_is_told_whole_by_who_knows_about_where_it_is(next in 0..u64::MAX / 2, off in -(1_i64 << 31)..1 << 31) {
            let window = Window { next, came: [0; WORDS] };
            if let Some(number) = next.checked_add_signed(off) {
                let low = u32::try_from(number & 0xffff_ffff).unwrap();
                prop_assert_eq!(window.widen(low), number);
            }
        }
    }
}
