//! The slots of a timing wheel.
//!
//! Varghese and Lauck, "Hashed and hierarchical timing wheels" (1987), scheme 4: the next quarter of a second is cut into slots of 16
//! microseconds, each with a list of what is to happen in it. A slot is put in order only when its time comes, and then has one
//! item or two, so an item costs the same however many there are.

use units::Instant;

/// A slot is 2^14 ns long.
const SLOT_BITS: u32 = 14;
/// So many of them, 268 ms, are on the wheel at a time.
pub const SLOTS: u64 = 1 << 14;
const WORDS: usize = (SLOTS / 64) as usize;
/// No item.
pub const NONE: u32 = u32::MAX;

/// Lists of items by slot. Items are numbers; which one follows which in a list is kept by whoever has them. All of them are in slots that
/// are less than [`SLOTS`] apart.
#[derive(Debug)]
pub struct Slots {
    /// The first item of each, the latest to enter.
    heads: Box<[u32]>,
    /// A bit for each slot with an item, and one for each word of these.
    occupied: Box<[u64]>,
    words: [u64; WORDS / 64],
    /// The next slot with an item; `u64::MAX` without any.
    next: u64,
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            heads: vec![NONE; WORDS * 64].into(),
            occupied: vec![0; WORDS].into(),
            words: [0; WORDS / 64],
            next: u64::MAX,
        }
    }
}

impl Slots {
    /// Whether there is no item.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.next == u64::MAX
    }

    /// The next slot with an item; `u64::MAX` without any.
    #[inline]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// The first item of that slot; [`NONE`] without any.
    #[inline]
    pub fn head(&self) -> u32 {
        if self.is_empty() {
            return NONE;
        }
        self.heads[index(self.next)]
    }

    /// Puts `item` into `slot`; returns which one is behind it in the list, or [`NONE`].
    #[inline]
    #[must_use]
    pub fn put(&mut self, slot: u64, item: u32) -> u32 {
        debug_assert!(
            self.is_empty() || slot.abs_diff(self.next) < SLOTS,
            "two slots would be one"
        );
        let here = index(slot);
        self.occupied[here / 64] |= 1 << (here % 64);
        self.words[here / 4_096] |= 1 << (here / 64 % 64);
        self.next = self.next.min(slot);
        std::mem::replace(&mut self.heads[here], item)
    }

    /// Takes all items of the next slot; returns the first of the list.
    #[inline]
    pub fn take(&mut self) -> u32 {
        if self.is_empty() {
            return NONE;
        }
        let here = index(self.next);
        self.occupied[here / 64] &= !(1 << (here % 64));
        if self.occupied[here / 64] == 0 {
            self.words[here / 4_096] &= !(1 << (here / 64 % 64));
        }
        self.next = self.after(self.next);
        std::mem::replace(&mut self.heads[here], NONE)
    }

    /// The first slot after `slot` with an item; `u64::MAX` without any.
    #[inline]
    fn after(&self, slot: u64) -> u64 {
        let here = index(slot);
        let word = self.occupied[here / 64] & (u64::MAX << (here % 64));
        let next = if word != 0 {
            here / 64 * 64 + word.trailing_zeros() as usize
        } else if let Some(word) = self.word_after(here / 64) {
            word * 64 + self.occupied[word].trailing_zeros() as usize
        } else {
            return u64::MAX;
        };
        slot + (next.wrapping_sub(here) % (WORDS * 64)) as u64
    }

    /// The word with a bit in it that comes first after word `word`, around the wheel.
    fn word_after(&self, word: usize) -> Option<usize> {
        let group = word / 64;
        let rest = self.words[group] & (u64::MAX << (word % 64)) & !(1 << (word % 64));
        if rest != 0 {
            return Some(group * 64 + rest.trailing_zeros() as usize);
        }
        let mut groups = (1..=self.words.len()).map(|step| (group + step) % self.words.len());
        let group = groups.find(|group| self.words[*group] != 0)?;
        Some(group * 64 + self.words[group].trailing_zeros() as usize)
    }
}

/// The number of the slot of `at`, from the beginning of time.
#[inline]
pub const fn slot(at: Instant) -> u64 {
    at.as_nanos() >> SLOT_BITS
}

/// Its place on the wheel.
#[inline]
const fn index(slot: u64) -> usize {
    (slot % SLOTS) as usize
}
