//! A timing wheel of packets that soon depart.

use crate::Packet;
use crate::slots::{NONE, SLOTS, Slots, slot};
use std::cmp::Reverse;
use units::Instant;

/// Packets by their departures, which are their `at`; equal ones keep the order of entry.
pub(super) struct Wheel<B> {
    /// Places on the shelf by the slots in which their packets depart.
    slots: Slots,
    shelf: Vec<Place<B>>,
    /// The first place on the shelf without a packet.
    free: u32,
    /// The slot that is open: what departs in it or before lies in `due`.
    open: u64,
    /// Packets of the open slot, the next one last.
    due: Vec<(Instant, u32)>,
    /// The earliest instant, [`Instant::FAR_FUTURE`] without any, and the place of its packet.
    first: (Instant, u32),
}

/// A packet of most worlds and what is beside it fill a line of the processor's cache.
#[repr(align(64))]
struct Place<B> {
    packet: Option<Packet<B>>,
    /// The next place of the slot, or without a packet.
    next: u32,
}

impl<B> Place<B> {
    #[inline]
    fn at(&self) -> Instant {
        let packet = self.packet.as_ref();
        packet.map_or(Instant::FAR_FUTURE, |packet| packet.at)
    }
}

impl<B> Wheel<B> {
    pub(super) fn new() -> Self {
        Self {
            slots: Slots::default(),
            shelf: Vec::new(),
            free: NONE,
            open: 0,
            due: Vec::new(),
            first: (Instant::FAR_FUTURE, NONE),
        }
    }

    /// The earliest instant; [`Instant::FAR_FUTURE`] without any.
    #[inline]
    pub(super) const fn first(&self) -> Instant {
        self.first.0
    }

    /// The packet that departs first.
    #[inline]
    pub(super) fn peek(&self) -> Option<&Packet<B>> {
        self.shelf.get(self.first.1 as usize)?.packet.as_ref()
    }

    /// Adds `packet`, which entered at `entered`; gives it back when it departs later than the wheel reaches.
    #[inline]
    pub(super) fn insert(&mut self, entered: Instant, packet: Packet<B>) -> Result<(), Packet<B>> {
        if self.first.0 == Instant::FAR_FUTURE {
            // It stood still.
            self.open = self.open.max(slot(entered));
        }
        let at = packet.at;
        let ahead = slot(at).saturating_sub(self.open);
        if ahead >= SLOTS {
            return Err(packet);
        }
        let place = self.shelve(packet);
        if ahead == 0 {
            // Its equals entered before it, so they lie behind it.
            let before = self.due.partition_point(|(other, _)| *other > at);
            self.due.insert(before, (at, place));
        } else {
            self.shelf[place as usize].next = self.slots.put(slot(at), place);
        }
        if at < self.first.0 {
            self.first = (at, place);
        }
        Ok(())
    }

    #[inline]
    fn shelve(&mut self, packet: Packet<B>) -> u32 {
        let packet = Some(packet);
        let place = self.free;
        if let Some(here) = self.shelf.get_mut(place as usize) {
            self.free = here.next;
            here.packet = packet;
            return place;
        }
        let place = u32::try_from(self.shelf.len()).unwrap_or(NONE);
        self.shelf.push(Place { packet, next: NONE });
        place
    }

    /// Takes the packet that departs first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Packet<B>> {
        if self.due.is_empty() {
            self.turn();
        }
        let (_, place) = self.due.pop()?;
        let here = self.shelf.get_mut(place as usize)?;
        let packet = here.packet.take();
        here.next = std::mem::replace(&mut self.free, place);
        self.first = match self.due.last() {
            Some(first) => *first,
            None => self.first_of_next(),
        };
        packet
    }

    /// Opens the next slot with something in it.
    fn turn(&mut self) {
        if self.slots.is_empty() {
            return;
        }
        self.open = self.slots.next();
        let mut place = self.slots.take();
        while let Some(here) = self.shelf.get(place as usize) {
            self.due.push((here.at(), place));
            place = here.next;
        }
        // The latest to enter is first: a stable sort keeps it before its equals, which are taken from the end.
        if self.due.len() > 1 {
            self.due.sort_by_key(|(at, _)| Reverse(*at));
        }
    }

    /// The first packet of the next slot with something in it.
    #[inline]
    fn first_of_next(&self) -> (Instant, u32) {
        let mut first = (Instant::FAR_FUTURE, NONE);
        let mut place = self.slots.head();
        while let Some(here) = self.shelf.get(place as usize) {
            // Of equals the one that entered first, which is the last in the list.
            let at = here.at();
            if at <= first.0 {
                first = (at, place);
            }
            place = here.next;
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use proptest::prelude::*;
    use units::{Dscp, Ecn, FlowId};

    fn packet(at: u64, number: usize) -> Packet<usize> {
        Packet {
            size: 1_500,
            flow: FlowId(0),
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn: Ecn::NotEct,
            at: Instant::from_nanos(at),
            body: number,
        }
    }

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
                    if wheel.insert(Instant::from_nanos(now), packet(at, number)).is_ok() {
                        plain.push((at, number));
                        plain.sort_unstable();
                    } else {
                        prop_assert!(at - now > 100_000_000, "{at} at {now} is within reach");
                    }
                } else {
                    let first = (!plain.is_empty()).then(|| plain.remove(0));
                    prop_assert_eq!(wheel.pop().map(|packet| packet.body), first.map(|(_, number)| number));
                    now = first.map_or(now, |(at, _)| at);
                }
                let first = plain.first().map_or(Instant::FAR_FUTURE, |(at, _)| Instant::from_nanos(*at));
                prop_assert_eq!(wheel.first(), first);
                prop_assert_eq!(wheel.peek().map(|packet| packet.body), plain.first().map(|(_, number)| *number));
            }
        }
    }
}
