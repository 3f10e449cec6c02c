//! Open connections, found by their key.
//!
//! Connections lie in blocks that are never moved, so that growing costs no copy and no second table's memory; the index
//! beside them has their numbers by hash. Half of the hash lies in the index too: looking up touches one line of it and then
//! the connection itself.

use super::connection::Connection;
use super::key::Key;
use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Connections of a block.
const BLOCK: usize = 256;

/// A place for a connection.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) key: Key,
    pub(super) hash: u64,
    pub(super) connection: Connection,
    taken: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u32,
    half: u32,
}

#[derive(Debug)]
pub(super) struct Table {
    index: HashTable<Entry>,
    blocks: Vec<Vec<Slot>>,
    free: Vec<u32>,
    state: FixedState,
}

impl Table {
    pub(super) const fn new(seed: u64) -> Self {
        Self {
            index: HashTable::new(),
            blocks: Vec::new(),
            free: Vec::new(),
            state: FixedState::with_seed(seed),
        }
    }

    pub(super) fn hash(&self, key: &Key) -> u64 {
        key.hash(&self.state)
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// The number of the connection with this key.
    pub(super) fn find(&self, hash: u64, key: &Key) -> Option<u32> {
        let half = upper(hash);
        let same = |entry: &Entry| entry.half == half && self.slot(entry.number).key == *key;
        self.index.find(hash, same).map(|entry| entry.number)
    }

    /// Adds a connection whose key is not there.
    pub(super) fn insert(&mut self, hash: u64, key: Key, connection: Connection) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| self.grow());
        *self.slot_mut(number) = Slot {
            key,
            hash,
            connection,
            taken: true,
        };
        let blocks = &self.blocks;
        let hash_of = |entry: &Entry| at(blocks, entry.number).hash;
        let entry = Entry {
            number,
            half: upper(hash),
        };
        self.index.insert_unique(hash, entry, hash_of);
        number
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

    /// Whether the connection with this number has this key.
    pub(super) fn is(&self, number: u32, key: &Key) -> bool {
        let slot = self.slot(number);
        slot.taken && slot.key == *key
    }

    /// Brings a connection nearer.
    pub(super) fn touch(&self, number: u32) {
        core::hint::black_box(self.slot(number).connection.near());
    }

    pub(super) fn slot(&self, number: u32) -> &Slot {
        at(&self.blocks, number)
    }

    pub(super) fn slot_mut(&mut self, number: u32) -> &mut Slot {
        let number = number as usize;
        &mut self.blocks[number / BLOCK][number % BLOCK]
    }

    /// Takes a connection out.
    pub(super) fn remove(&mut self, number: u32) -> Slot {
        let slot = core::mem::take(self.slot_mut(number));
        let found = self
            .index
            .find_entry(slot.hash, |entry| entry.number == number);
        if let Ok(entry) = found {
            entry.remove();
        }
        self.free.push(number);
        slot
    }

    /// Numbers of the connections of which `which` is true, in an order that does not depend on the seed.
    pub(super) fn numbers(&self, which: impl Fn(&Connection) -> bool) -> Vec<u32> {
        let slots = self.blocks.iter().flatten().zip(0..);
        let taken = slots.filter(|(slot, _)| slot.taken && which(&slot.connection));
        taken.map(|(_, number)| number).collect()
    }
}

fn at(blocks: &[Vec<Slot>], number: u32) -> &Slot {
    let number = number as usize;
    &blocks[number / BLOCK][number % BLOCK]
}

const fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}
