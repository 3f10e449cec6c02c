//! Open connections, or flows, found by their key.
//!
//! Connections lie in blocks that are never moved, so that growing costs no copy and no second table's memory; the index
//! beside them has their numbers by hash.

use super::index::Index;
use super::key::Key;
use core::hint::black_box;
use foldhash::fast::FixedState;

/// Connections of a block.
const BLOCK: usize = 256;

/// A place for a connection.
#[derive(Debug, Default)]
pub(super) struct Slot<T> {
    pub(super) key: Key,
    pub(super) hash: u64,
    pub(super) connection: T,
    taken: bool,
}

#[derive(Debug)]
pub(super) struct Table<T> {
    index: Index,
    blocks: Vec<Vec<Slot<T>>>,
    free: Vec<u32>,
    state: FixedState,
}

impl<T: Default> Table<T> {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            index: Index::new(),
            blocks: Vec::new(),
            free: Vec::new(),
            state: FixedState::with_seed(seed),
        }
    }

    #[inline]
    pub(super) fn hash(&self, key: &Key) -> u64 {
        key.hash(&self.state)
    }

    pub(super) const fn len(&self) -> usize {
        self.index.len()
    }

    /// The number of the connection with this key.
    #[inline]
    pub(super) fn find(&self, hash: u64, key: &Key) -> Option<u32> {
        self.index
            .find(hash, |number| self.slot(number).key == *key)
    }

    /// Whether the connection with this number has this key.
    #[inline]
    pub(super) fn is(&self, number: u32, key: &Key) -> bool {
        let slot = self.slot(number);
        slot.taken && slot.key == *key
    }

    /// Brings the beginning of a search nearer.
    #[inline]
    pub(super) fn touch_index(&self, hash: u64) {
        black_box(self.index.first(hash));
    }

    /// Brings a connection nearer.
    #[inline]
    pub(super) fn touch(&self, number: u32, near: impl Fn(&T) -> u64) {
        black_box(near(&self.slot(number).connection));
    }

    /// Adds a connection, whose key is not there, as it is by default.
    pub(super) fn insert(&mut self, hash: u64, key: Key) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| self.grow());
        // A connection is large, so it is not moved: places that are free have the default.
        let slot = self.slot_mut(number);
        slot.key = key;
        slot.hash = hash;
        slot.taken = true;
        self.index.insert(hash, number);
        number
    }

    /// Takes a connection out after a `last` look at it.
    pub(super) fn remove<R>(&mut self, number: u32, last: impl FnOnce(&Key, &mut T) -> R) -> R {
        let slot = self.slot_mut(number);
        let seen = last(&slot.key, &mut slot.connection);
        slot.connection = T::default();
        slot.taken = false;
        let hash = slot.hash;
        self.index.remove(hash, number);
        self.free.push(number);
        seen
    }

    #[inline]
    pub(super) fn slot(&self, number: u32) -> &Slot<T> {
        let number = number as usize;
        &self.blocks[number / BLOCK][number % BLOCK]
    }

    #[inline]
    pub(super) fn slot_mut(&mut self, number: u32) -> &mut Slot<T> {
        let number = number as usize;
        &mut self.blocks[number / BLOCK][number % BLOCK]
    }

    /// Numbers of the connections of which `which` is true, in an order that does not depend on the seed.
    pub(super) fn numbers(&self, which: impl Fn(&T) -> bool) -> Vec<u32> {
        let slots = self.blocks.iter().flatten().zip(0..);
        let taken = slots.filter(|(slot, _)| slot.taken && which(&slot.connection));
        taken.map(|(_, number)| number).collect()
    }

    /// A number that was not used before.
    fn grow(&mut self) -> u32 {
        if self.blocks.last().is_none_or(|block| block.len() == BLOCK) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        let before = (self.blocks.len() - 1) * BLOCK;
        let block = self.blocks.last_mut().expect("one was just added");
        block.push(Slot::default());
        u32::try_from(before + block.len() - 1).expect("fewer connections than the options allow")
    }
}
