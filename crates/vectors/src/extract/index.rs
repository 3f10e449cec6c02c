//! Numbers by hash.
//!
//! A power of two of places, at most half of them taken. An entry is the upper half of the hash and the number, in one word;
//! it stands at the place that its half of the hash says, or at the next that was free (linear probing), so that a search
//! touches one line of memory nearly always. When an entry goes, those behind it that would not be found any more move up.

/// Places to begin with.
const FEW: usize = 256;

/// A set of numbers, each found by a hash.
#[derive(Debug)]
pub(super) struct Index {
    /// Zero is free; else the upper half of the hash, and the number and one.
    entries: Vec<u64>,
    taken: usize,
}

impl Index {
    pub(super) fn new() -> Self {
        Self {
            entries: vec![0; FEW],
            taken: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.taken
    }

    /// The entry at which the search for a hash begins.
    #[inline]
    pub(super) fn first(&self, hash: u64) -> u64 {
        self.entries[self.home(hash)]
    }

    /// The number with this hash for which `same` is true.
    #[inline]
    pub(super) fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.home(hash);
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                return None;
            }
            if entry >> 32 == hash >> 32 && same(number(entry)) {
                return Some(number(entry));
            }
            at = self.after(at);
        }
    }

    /// Adds a number, below 2^32 - 1, that is not there.
    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        if (self.taken + 1) * 2 > self.entries.len() {
            self.grow();
        }
        self.taken += 1;
        self.put(hash >> 32 << 32 | (u64::from(number) + 1));
    }

    /// Removes a number.
    pub(super) fn remove(&mut self, hash: u64, number: u32) {
        let entry = hash >> 32 << 32 | (u64::from(number) + 1);
        let mut hole = self.home(hash);
        while self.entries[hole] != entry {
            if self.entries[hole] == 0 {
                return;
            }
            hole = self.after(hole);
        }
        self.taken -= 1;
        let mut at = hole;
        loop {
            at = self.after(at);
            let entry = self.entries[at];
            if entry == 0 {
                break;
            }
            // Does its search begin at the hole or before?
            if self.steps(self.home(entry), at) >= self.steps(hole, at) {
                self.entries[hole] = entry;
                hole = at;
            }
        }
        self.entries[hole] = 0;
    }

    fn put(&mut self, entry: u64) {
        let mut at = self.home(entry);
        while self.entries[at] != 0 {
            at = self.after(at);
        }
        self.entries[at] = entry;
    }

    fn grow(&mut self) {
        let twice = vec![0; self.entries.len() * 2];
        for entry in core::mem::replace(&mut self.entries, twice) {
            if entry != 0 {
                self.put(entry);
            }
        }
    }

    /// Where the search for a hash, or the hash of an entry, begins.
    #[inline]
    const fn home(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.entries.len() - 1)
    }

    #[inline]
    const fn after(&self, at: usize) -> usize {
        (at + 1) & (self.entries.len() - 1)
    }

    /// From one place on to another.
    const fn steps(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.entries.len() - 1)
    }
}

/// The number of an entry.
#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
const fn number(entry: u64) -> u32 {
    entry as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(steps in prop::collection::vec((0..400_u32, any::<bool>()), 0..2_000)) {
            // Few hashes, the last of them at the end: long searches that go round.
            let hash = |number: u32| u64::from((number % 7).wrapping_sub(5)) << 32;
            let mut index = Index::new();
            let mut expected = BTreeSet::new();
            for (number, add) in steps {
                if !add {
                    index.remove(hash(number), number);
                    expected.remove(&number);
                } else if expected.insert(number) {
                    index.insert(hash(number), number);
                }
            }
            prop_assert_eq!(index.len(), expected.len());
            for number in 0..400 {
                let found = index.find(hash(number), |found| found == number);
                prop_assert_eq!(found.is_some(), expected.contains(&number));
            }
        }
    }
}
