//! Packets in flight, by departure.

use crate::Packet;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use units::Instant;

/// Packets ordered by `at`, which holds their departure; equal departures keep the order of entry.
///
/// A packet that departs after all others in `row` joins its end for a constant cost, which is all
/// that a fixed delay ever does; the others go to a heap. The next to depart is the earlier of the
/// two heads.
pub(super) struct Flight<B> {
    row: VecDeque<Entry<B>>,
    heap: BinaryHeap<Reverse<Entry<B>>>,
    entries: u64,
}

struct Entry<B> {
    packet: Packet<B>,
    /// Breaks ties: how many entered before.
    order: u64,
}

impl<B> Entry<B> {
    fn key(&self) -> (Instant, u64) {
        (self.packet.at, self.order)
    }
}

impl<B> PartialEq for Entry<B> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<B> Eq for Entry<B> {}

impl<B> PartialOrd for Entry<B> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<B> Ord for Entry<B> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<B> Flight<B> {
    pub(super) fn new() -> Self {
        Self {
            row: VecDeque::new(),
            heap: BinaryHeap::new(),
            entries: 0,
        }
    }

    pub(super) fn insert(&mut self, packet: Packet<B>) {
        let order = self.entries;
        self.entries += 1;
        let last = self.row.back().map(|entry| entry.packet.at);
        let entry = Entry { packet, order };
        if last.is_none_or(|last| last <= entry.packet.at) {
            self.row.push_back(entry);
        } else {
            self.heap.push(Reverse(entry));
        }
    }

    /// Removes the next packet that departs at `now` or before.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Packet<B>> {
        if self.next_departure()? > now {
            return None;
        }
        let entry = if self.heap_is_first() {
            self.heap.pop().map(|Reverse(entry)| entry)
        } else {
            self.row.pop_front()
        };
        entry.map(|entry| entry.packet)
    }

    pub(super) fn next_departure(&self) -> Option<Instant> {
        let row = self.row.front().map(|entry| entry.packet.at);
        let heap = self.heap.peek().map(|Reverse(entry)| entry.packet.at);
        match (row, heap) {
            (Some(row), Some(heap)) => Some(row.min(heap)),
            (row, heap) => row.or(heap),
        }
    }

    fn heap_is_first(&self) -> bool {
        match (self.row.front(), self.heap.peek()) {
            (Some(row), Some(Reverse(heap))) => heap < row,
            (row, _) => row.is_none(),
        }
    }
}
