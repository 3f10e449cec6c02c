//! Each nonce once: the sliding window of RFC 6479, in constant memory.
//!
//! A client numbers its data streams 0, 1, 2, ... The window remembers the highest number seen and
//! one bit for each of the [`SPAN`] numbers below it. A number below the window is refused as if it
//! had been seen, so connections may overtake each other by up to that many.

/// How far back a late nonce is still told from a repeated one.
const SPAN: u64 = 65_536;
const WORDS: usize = 1_024;

/// Which nonces have been used.
#[derive(Debug)]
pub(crate) struct Window {
    /// One more than the highest nonce seen.
    next: u64,
    /// Bit `n % SPAN` belongs to nonce `n`, for `next - SPAN <= n < next`.
    seen: [u64; WORDS],
}

impl Window {
    pub(crate) const fn new() -> Self {
        Self {
            next: 0,
            seen: [0; WORDS],
        }
    }

    /// Marks `nonce` as used; false when it was used before, or is too old to tell.
    pub(crate) fn admit(&mut self, nonce: u64) -> bool {
        if nonce == u64::MAX || nonce.saturating_add(SPAN) < self.next {
            return false;
        }
        if nonce >= self.next {
            self.advance(nonce + 1);
        }
        let (word, bit) = place(nonce);
        let fresh = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        fresh
    }

    /// Moves the top of the window to `next`, forgetting what falls out of it.
    fn advance(&mut self, next: u64) {
        let first = self.next.max(next.saturating_sub(SPAN));
        for nonce in first..next {
            let (word, bit) = place(nonce);
            self.seen[word] &= !bit;
        }
        self.next = next;
    }
}

/// Where the bit of `nonce` is: index of its word and mask.
fn place(nonce: u64) -> (usize, u64) {
    let slot = nonce % SPAN;
    let word = usize::try_from(slot / 64).unwrap_or(0);
    (word, 1 << (slot % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn a_late_nonce_passes_once_and_an_ancient_one_never() {
        let mut window = Window::new();
        assert!(window.admit(SPAN + 904));
        assert!(window.admit(905));
        assert!(!window.admit(905));
        assert!(!window.admit(904));
        assert!(!window.admit(SPAN + 904));
        assert!(!window.admit(u64::MAX));
        assert!(window.admit(u64::MAX - 1));
    }

    proptest! {
        #[test]
        fn no_nonce_passes_twice(nonces in prop::collection::vec(0_u64..200_000, 1..600)) {
            let (mut window, mut seen, mut top) = (Window::new(), HashSet::new(), 0);
            for nonce in nonces {
                let passed = window.admit(nonce);
                let in_window = nonce + SPAN >= top;
                prop_assert_eq!(passed, in_window && seen.insert(nonce));
                top = top.max(nonce + 1);
            }
        }
    }
}
