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
/// No place.
const NONE: u32 = u32::MAX;

/// Items by slot. All of them are in slots that are less than [`SLOTS`] apart.
#[derive(Debug)]
pub struct Slots<T> {
    /// The place of the first item of each, the latest to enter.
    heads: Box<[u32]>,
    /// A bit for each slot with an item, and one for each word of these.
    occupied: Box<[u64]>,
    words: [u64; WORDS / 64],
    /// The next slot with an item; `u64::MAX` without any.
    next: u64,
    /// Up to here [`Slots::ahead`] has looked.
    seen: u64,
    places: Vec<Place<T>>,
    /// The first place without an item.
    free: u32,
}

#[derive(Debug)]
struct Place<T> {
    item: Option<T>,
    /// The next place of the slot, or without an item.
    next: u32,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            heads: vec![NONE; WORDS * 64].into(),
            occupied: vec![0; WORDS].into(),
            words: [0; WORDS / 64],
            next: u64::MAX,
            seen: 0,
            places: Vec::new(),
            free: NONE,
        }
    }
}

impl<T> Slots<T> {
    /// The next slot with an item; `u64::MAX` without any.
    #[inline]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Puts `item` into `slot`.
    #[inline]
    pub fn put(&mut self, slot: u64, item: T) {
        debug_assert!(
            self.next == u64::MAX || slot.abs_diff(self.next) < SLOTS,
            "two slots would be one"
        );
        let here = index(slot);
        self.occupied[here / 64] |= 1 << (here % 64);
        self.words[here / 4_096] |= 1 << (here / 64 % 64);
        self.next = self.next.min(slot);
        let behind = self.heads[here];
        self.heads[here] = self.store(item, behind);
    }

    #[inline]
    fn store(&mut self, item: T, behind: u32) -> u32 {
        let (number, item) = (self.free, Some(item));
        if let Some(place) = self.places.get_mut(number as usize) {
            self.free = place.next;
            (place.item, place.next) = (item, behind);
            return number;
        }
        let number = u32::try_from(self.places.len()).unwrap_or(NONE);
        self.places.push(Place { item, next: behind });
        number
    }

    /// The items of the next slot, the latest to enter first.
    #[inline]
    pub fn peek(&self) -> impl Iterator<Item = &T> {
        let mut number = match self.next {
            u64::MAX => NONE,
            next => self.heads[index(next)],
        };
        std::iter::from_fn(move || {
            let place = self.places.get(number as usize)?;
            number = place.next;
            place.item.as_ref()
        })
    }

    /// Shows the items of the slots up to `until`, less than [`SLOTS`] after the next one, that were not shown yet; what enters a slot afterwards
    /// is left out.
    #[inline]
    pub fn ahead(&mut self, until: u64, mut see: impl FnMut(&T)) {
        if until <= self.seen || self.next == u64::MAX {
            return;
        }
        debug_assert!(
            until.saturating_sub(self.next) < SLOTS,
            "two slots would be one"
        );
        let mut slot = self.next;
        if slot <= self.seen {
            slot = self.after(self.seen + 1);
        }
        while slot <= until {
            let mut number = self.heads[index(slot)];
            while let Some(place) = self.places.get(number as usize) {
                place.item.iter().for_each(&mut see);
                number = place.next;
            }
            slot = self.after(slot + 1);
        }
        self.seen = until;
    }

    /// Takes the items of the next slot, the latest to enter first, to the end of `items`.
    #[inline]
    pub fn take(&mut self, items: &mut Vec<T>) {
        if self.next == u64::MAX {
            return;
        }
        let here = index(self.next);
        self.occupied[here / 64] &= !(1 << (here % 64));
        if self.occupied[here / 64] == 0 {
            self.words[here / 4_096] &= !(1 << (here / 64 % 64));
        }
        self.next = self.after(self.next);
        let mut number = std::mem::replace(&mut self.heads[here], NONE);
        while let Some(place) = self.places.get_mut(number as usize) {
            items.extend(place.item.take());
            let next = std::mem::replace(&mut place.next, self.free);
            self.free = number;
            number = next;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_ahead_sees_each_item_once() {
        let mut slots = Slots::default();
        let seen = |slots: &mut Slots<u64>, until| {
            let mut seen = Vec::new();
            slots.ahead(until, |item| seen.push(*item));
            seen
        };
        for item in [5, 7, 300, 16_000] {
            slots.put(item, item);
        }
        assert!(seen(&mut slots, 4).is_empty());
        assert_eq!(seen(&mut slots, 7), [5, 7]);
        // It came too late to be seen.
        slots.put(6, 6);
        assert!(seen(&mut slots, 7).is_empty());
        assert_eq!(seen(&mut slots, 400), [300]);
        let mut taken = Vec::new();
        while slots.next() < 16_000 {
            slots.take(&mut taken);
        }
        // Around the wheel.
        slots.put(SLOTS + 100, SLOTS + 100);
        assert_eq!(seen(&mut slots, SLOTS + 200), [16_000, SLOTS + 100]);
        assert!(seen(&mut slots, SLOTS + 300).is_empty());
    }
}
