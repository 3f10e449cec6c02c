//! A timing wheel of packets that soon depart.
//!
//! Varghese and Lauck, "Hashed and hierarchical timing wheels" (1987), scheme 4 with sorting: the next quarter of a second is cut into
//! slots of 16 microseconds, each with the packets that depart in it as a list. A slot is put in order only when its time comes,
//! and then has one packet or two, so a packet costs the same however many are in flight.

use units::Instant;

/// A slot is 2^14 ns long.
const SLOT_BITS: u32 = 14;
/// Slots: 268 ms of them.
const SLOTS: usize = 1 << 14;
const WORDS: usize = SLOTS / 64;
const NONE: u32 = u32::MAX;

/// Items by their instants; equal instants keep the order of entry.
pub(super) struct Wheel<T> {
    /// The first item of each slot, the latest to enter.
    slots: Box<[u32]>,
    /// A bit for each slot with something in it, and one for each word of these.
    occupied: Box<[u64]>,
    words: [u64; WORDS / 64],
    shelf: Vec<Place<T>>,
    /// The first place on the shelf without an item.
    free: u32,
    /// The slot that is open: what departs in it or before lies in `due`.
    open: u64,
    /// The next slot with something in it.
    next: u64,
    /// Items of the open slot, the next one last.
    due: Vec<(Instant, u32)>,
    /// The earliest instant, [`Instant::FAR_FUTURE`] without any, and the place of its item.
    first: (Instant, u32),
}

struct Place<T> {
    at: Instant,
    /// The next place of the slot, or without an item.
    next: u32,
    item: Option<T>,
}

impl<T> Wheel<T> {
    pub(super) fn new() -> Self {
        Self {
            slots: vec![NONE; SLOTS].into(),
            occupied: vec![0; WORDS].into(),
            words: [0; WORDS / 64],
            shelf: Vec::new(),
            free: NONE,
            open: 0,
            next: u64::MAX,
            due: Vec::new(),
            first: (Instant::FAR_FUTURE, NONE),
        }
    }

    /// The earliest instant; [`Instant::FAR_FUTURE`] without any.
    #[inline]
    pub(super) const fn first(&self) -> Instant {
        self.first.0
    }

    /// The item that departs first.
    #[inline]
    pub(super) fn peek(&self) -> Option<&T> {
        self.shelf.get(self.first.1 as usize)?.item.as_ref()
    }

    /// Adds `item`, which departs `at`; gives it back when that is further ahead than the wheel goes.
    #[inline]
    pub(super) fn insert(&mut self, at: Instant, item: T) -> Result<(), T> {
        let slot = slot(at);
        let mut ahead = slot.saturating_sub(self.open);
        if ahead >= SLOTS as u64 {
            if self.first.0 < Instant::FAR_FUTURE {
                return Err(item);
            }
            // It stood still. What comes next may depart before this one, or after it.
            ahead = SLOTS as u64 / 2;
            self.open = slot - ahead;
        }
        let place = self.shelve(at, item);
        if ahead == 0 {
            // Its equals entered before it, so they lie behind it.
            let before = self.due.partition_point(|(other, _)| *other > at);
            self.due.insert(before, (at, place));
        } else {
            self.enter(slot, place);
        }
        if at < self.first.0 {
            self.first = (at, place);
        }
        Ok(())
    }

    #[inline]
    fn shelve(&mut self, at: Instant, item: T) -> u32 {
        let place = self.free;
        if let Some(shelf) = self.shelf.get_mut(place as usize) {
            self.free = shelf.next;
            (shelf.at, shelf.item) = (at, Some(item));
            return place;
        }
        let place = u32::try_from(self.shelf.len()).unwrap_or(NONE);
        let item = Some(item);
        self.shelf.push(Place {
            at,
            next: NONE,
            item,
        });
        place
    }

    #[inline]
    fn enter(&mut self, slot: u64, place: u32) {
        let here = index(slot);
        self.shelf[place as usize].next = std::mem::replace(&mut self.slots[here], place);
        self.occupied[here / 64] |= 1 << (here % 64);
        self.words[here / 4_096] |= 1 << (here / 64 % 64);
        self.next = self.next.min(slot);
    }

    /// Takes the item that departs first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.due.is_empty() {
            self.turn();
        }
        let (_, place) = self.due.pop()?;
        let here = self.shelf.get_mut(place as usize)?;
        let item = here.item.take();
        here.next = std::mem::replace(&mut self.free, place);
        self.first = match self.due.last() {
            Some(first) => *first,
            None => self.first_of_next(),
        };
        item
    }

    /// Opens the next slot with something in it.
    fn turn(&mut self) {
        if self.next == u64::MAX {
            return;
        }
        self.open = self.next;
        let here = index(self.open);
        let mut place = std::mem::replace(&mut self.slots[here], NONE);
        self.occupied[here / 64] &= !(1 << (here % 64));
        if self.occupied[here / 64] == 0 {
            self.words[here / 4_096] &= !(1 << (here / 64 % 64));
        }
        while let Some(shelf) = self.shelf.get(place as usize) {
            self.due.push((shelf.at, place));
            place = shelf.next;
        }
        // The latest to enter is first: a stable sort keeps it before its equals, which are taken from the end.
        if self.due.len() > 1 {
            self.due.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        }
        self.next = self.seek();
    }

    /// The first item of the next slot with something in it.
    #[inline]
    fn first_of_next(&self) -> (Instant, u32) {
        let mut first = (Instant::FAR_FUTURE, NONE);
        if self.next < u64::MAX {
            let mut place = self.slots[index(self.next)];
            while let Some(shelf) = self.shelf.get(place as usize) {
                // Of equals the one that entered first, which is the last in the list.
                if shelf.at <= first.0 {
                    first = (shelf.at, place);
                }
                place = shelf.next;
            }
        }
        first
    }

    /// The first slot after the open one with something in it; `u64::MAX` without any.
    #[inline]
    fn seek(&self) -> u64 {
        let here = index(self.open);
        let word = self.occupied[here / 64] & (u64::MAX << (here % 64));
        let next = if word != 0 {
            here / 64 * 64 + word.trailing_zeros() as usize
        } else if let Some(word) = self.word_after(here / 64) {
            word * 64 + self.occupied[word].trailing_zeros() as usize
        } else {
            return u64::MAX;
        };
        self.open + (next.wrapping_sub(here) % SLOTS) as u64
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
const fn slot(at: Instant) -> u64 {
    at.as_nanos() >> SLOT_BITS
}

/// Its place on the wheel.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is below SLOTS")]
const fn index(slot: u64) -> usize {
    (slot % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a list that is sorted at every step.
        #[test]
        fn the_earliest_comes_first_and_equals_in_order(
            steps in proptest::collection::vec(proptest::option::of((0_u32..29, 0_u64..40)), 0..400),
            begin in 0_u64..1 << 40,
        ) {
            let mut wheel = Wheel::new();
            let (mut plain, mut now) = (Vec::new(), begin);
            for (number, step) in steps.into_iter().enumerate() {
                if let Some((scale, ahead)) = step {
                    let at = now + (ahead << scale);
                    if wheel.insert(Instant::from_nanos(at), number).is_ok() {
                        plain.push((at, number));
                        plain.sort_unstable();
                    } else {
                        prop_assert!(at - now > 100_000_000, "{at} at {now} is within reach");
                    }
                } else {
                    let first = (!plain.is_empty()).then(|| plain.remove(0));
                    prop_assert_eq!(wheel.pop(), first.map(|(_, number)| number));
                    now = first.map_or(now, |(at, _)| at);
                }
                let first = plain.first().map_or(Instant::FAR_FUTURE, |(at, _)| Instant::from_nanos(*at));
                prop_assert_eq!(wheel.first(), first);
                prop_assert_eq!(wheel.peek(), plain.first().map(|(_, number)| number));
            }
        }
    }
}
