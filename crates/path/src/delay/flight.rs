//! Packets in flight, by departure.

use crate::{Packet, RadixHeap};
use std::collections::VecDeque;
use units::Instant;

/// Packets ordered by `at`, which holds their departure; equal departures keep the order of entry.
///
/// A packet that departs after all others in `row` joins its end for a constant cost, which is all
/// that a fixed delay ever does; the others lie still on a shelf and only their places go through a
/// heap, so that a hundred thousand of them cost little to sort. The next to depart is the earlier
/// of the two heads; of equals that of the row, which entered first: whoever departs at the instant of one
/// in the row and came before it would have joined the row.
pub(crate) struct Flight<B> {
    row: VecDeque<Packet<B>>,
    /// Places on the shelf.
    heap: RadixHeap<u32>,
    shelf: Vec<Option<Packet<B>>>,
    /// Places on the shelf without a packet.
    free: Vec<u32>,
}

impl<B> Flight<B> {
    pub(crate) fn new() -> Self {
        Self {
            row: VecDeque::new(),
            heap: RadixHeap::default(),
            shelf: Vec::new(),
            free: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet<B>) {
        let at = packet.at;
        if self.row.back().is_none_or(|last| last.at <= at) {
            self.row.push_back(packet);
        } else {
            let place = self.shelve(packet);
            self.heap.push(at, place);
        }
    }

    /// Puts `packet` on a place that is free.
    fn shelve(&mut self, packet: Packet<B>) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.shelf.push(None);
            u32::try_from(self.shelf.len() - 1).unwrap_or(u32::MAX)
        });
        self.shelf[place as usize] = Some(packet);
        place
    }

    /// Removes the next packet that departs at `now` or before.
    #[inline]
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Packet<B>> {
        let row = self.row.front().map(|packet| packet.at);
        match self.heap.first() {
            Some(heap) if row.is_none_or(|row| heap < row) => {
                let place = self.heap.pop_due(now)?;
                self.free.push(place);
                self.shelf[place as usize].take()
            }
            _ => (row? <= now).then(|| self.row.pop_front())?,
        }
    }

    #[inline]
    pub(crate) fn next_departure(&self) -> Option<Instant> {
        let row = self.row.front().map(|packet| packet.at);
        match (row, self.heap.first()) {
            (Some(row), Some(heap)) => Some(row.min(heap)),
            (row, heap) => row.or(heap),
        }
    }
}
