//! A timing wheel of packets that soon depart.

use crate::Packet;
use crate::slots::{SLOTS, Slots, slot};
use std::cmp::Reverse;
use units::Instant;

/// So many slots are looked at before their time.
const AHEAD: u64 = 16;

/// Packets by their departures, which are their `at`; equal ones keep the order of entry.
pub(super) struct Wheel<B> {
    slots: Slots<Packet<B>>,
    /// The slot that is open: what departs in it or before lies in `due`.
    open: u64,
    /// Packets of the open slot, the next one last.
    due: Vec<Packet<B>>,
    /// When the first departs, [`Instant::FAR_FUTURE`] without any, and its octets.
    first: (Instant, u32),
}

impl<B> Wheel<B> {
    pub(super) fn new() -> Self {
        Self {
            slots: Slots::default(),
            open: 0,
            due: Vec::new(),
            first: (Instant::FAR_FUTURE, 0),
        }
    }

    /// The earliest instant; [`Instant::FAR_FUTURE`] without any.
    #[inline]
    pub(super) const fn first(&self) -> Instant {
        self.first.0
    }

    /// Octets of the packet that departs first.
    #[inline]
    pub(super) const fn first_size(&self) -> u32 {
        self.first.1
    }

    /// Adds `packet`, which entered at `entered`; gives it back when it departs later than the wheel reaches.
    #[inline]
    pub(super) fn insert(&mut self, entered: Instant, packet: Packet<B>) -> Result<(), Packet<B>> {
        let at = packet.at;
        if self.first.0 == Instant::FAR_FUTURE {
            // It stood still.
            self.open = self.open.max(slot(entered));
        }
        let ahead = slot(at).saturating_sub(self.open);
        if ahead >= SLOTS {
            return Err(packet);
        }
        if at < self.first.0 {
            self.first = (at, packet.size);
        }
        if ahead == 0 {
            // Its equals entered before it, so they lie behind it.
            let before = self.due.partition_point(|other| other.at > at);
            self.due.insert(before, packet);
        } else {
            self.slots.put(slot(at), packet);
        }
        Ok(())
    }

    /// Shows packets that depart within the next quarter of a millisecond, each at most once.
    #[inline]
    pub(super) fn foresee(&mut self, now: Instant, see: &mut dyn FnMut(&Packet<B>)) {
        self.slots.ahead(slot(now).max(self.open) + AHEAD, see);
    }

    /// Takes the packet that departs first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Packet<B>> {
        if self.due.is_empty() {
            self.turn();
        }
        let packet = self.due.pop()?;
        self.first = match self.due.last() {
            Some(first) => (first.at, first.size),
            None => self.first_of_next(),
        };
        Some(packet)
    }

    /// Opens the next slot with something in it.
    fn turn(&mut self) {
        if self.slots.next() == u64::MAX {
            return;
        }
        self.open = self.slots.next();
        self.slots.take(&mut self.due);
        // The latest to enter is first: a stable sort keeps it before its equals, which are taken from the end.
        if self.due.len() > 1 {
            self.due.sort_by_key(|packet| Reverse(packet.at));
        }
    }

    /// The first packet of the next slot with something in it.
    #[inline]
    fn first_of_next(&self) -> (Instant, u32) {
        let mut first = (Instant::FAR_FUTURE, 0);
        for packet in self.slots.peek() {
            // Of equals the one that entered first, which is the last in the list.
            if packet.at <= first.0 {
                first = (packet.at, packet.size);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay::tests::{packet, size};
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
                if let Some((_, number)) = plain.first() {
                    prop_assert_eq!(wheel.first_size(), size(*number));
                }
            }
        }
    }
}
