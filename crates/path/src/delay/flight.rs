//! Packets in flight, by departure.

use crate::Packet;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::Instant;

/// Packets ordered by `at`, which holds their departure; equal departures keep the order of entry.
///
/// A packet that departs after all others in `row` joins its end for a constant cost, which is all
/// that a fixed delay ever does; the others lie still in `shelf` and only their keys go through a
/// heap, so that a hundred thousand of them cost little to sort. The next to depart is the earlier
/// of the two heads.
pub(crate) struct Flight<B> {
    row: VecDeque<(Packet<B>, u64)>,
    heap: BinaryHeap<Reverse<Key>>,
    shelf: Vec<Option<Packet<B>>>,
    /// Places on the shelf without a packet.
    free: Vec<usize>,
    entries: u64,
}

/// What orders the packets of the heap, and where on the shelf each is.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Key {
    at: Instant,
    /// Breaks ties: how many entered before.
    order: u64,
    place: usize,
}

impl<B> Flight<B> {
    pub(crate) fn new() -> Self {
        Self {
            row: VecDeque::new(),
            heap: BinaryHeap::new(),
            shelf: Vec::new(),
            free: Vec::new(),
            entries: 0,
        }
    }

    pub(crate) fn insert(&mut self, packet: Packet<B>) {
        let order = self.entries;
        self.entries += 1;
        let at = packet.at;
        let last = self.row.back().map(|(last, _)| last.at);
        if last.is_none_or(|last| last <= at) {
            self.row.push_back((packet, order));
        } else {
            let place = self.shelve(packet);
            self.heap.push(Reverse(Key { at, order, place }));
        }
    }

    /// Puts `packet` on a place that is free.
    fn shelve(&mut self, packet: Packet<B>) -> usize {
        let place = self.free.pop().unwrap_or_else(|| {
            self.shelf.push(None);
            self.shelf.len() - 1
        });
        self.shelf[place] = Some(packet);
        place
    }

    /// Removes the next packet that departs at `now` or before.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Packet<B>> {
        if self.heap.is_empty() {
            let is_due = self.row.front()?.0.at <= now;
            return is_due
                .then(|| self.row.pop_front())?
                .map(|(packet, _)| packet);
        }
        if self.next_departure()? > now {
            return None;
        }
        if !self.heap_is_first() {
            return self.row.pop_front().map(|(packet, _)| packet);
        }
        let Reverse(key) = self.heap.pop()?;
        self.free.push(key.place);
        self.shelf[key.place].take()
    }

    pub(crate) fn next_departure(&self) -> Option<Instant> {
        let row = self.row.front().map(|(packet, _)| packet.at);
        let heap = self.heap.peek().map(|Reverse(key)| key.at);
        match (row, heap) {
            (Some(row), Some(heap)) => Some(row.min(heap)),
            (row, heap) => row.or(heap),
        }
    }

    fn heap_is_first(&self) -> bool {
        match (self.row.front(), self.heap.peek()) {
            (Some((packet, order)), Some(Reverse(key))) => {
                (key.at, key.order) < (packet.at, *order)
            }
            (row, _) => row.is_none(),
        }
    }
}
