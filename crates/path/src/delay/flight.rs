//! Packets in flight, by departure.

use super::wheel::Wheel;
use crate::{Packet, RadixHeap};
use std::collections::VecDeque;
use units::Instant;

/// Packets ordered by `at`, which holds their departure; equal departures keep the order of entry.
///
/// A packet that departs after all others in `row` joins its end, which is all that a fixed delay ever does. The others turn on
/// a wheel, or, when they depart later than it reaches, lie in a heap. The next to depart is the earliest of the three heads. Of equals that
/// of the row entered first: whoever departs at the instant of one in the row and came before it would have joined the row. Then that of the
/// heap: it entered when the wheel did not reach so far.
pub(crate) struct Flight<B> {
    row: VecDeque<Packet<B>>,
    /// None before the first is needed.
    near: Option<Box<Wheel<B>>>,
    far: RadixHeap<Packet<B>>,
    /// The next departure; [`Instant::FAR_FUTURE`] when nothing is in flight.
    next: Instant,
}

impl<B> Flight<B> {
    pub(crate) fn new() -> Self {
        Self {
            row: VecDeque::new(),
            near: None,
            far: RadixHeap::default(),
            next: Instant::FAR_FUTURE,
        }
    }

    /// Adds a packet that entered at `entered`, which never goes back.
    #[inline]
    pub(crate) fn insert(&mut self, entered: Instant, packet: Packet<B>) {
        let at = packet.at;
        self.next = self.next.min(at);
        if self.row.back().is_none_or(|last| last.at <= at) {
            self.row.push_back(packet);
            return;
        }
        let near = self.near.get_or_insert_with(|| Box::new(Wheel::new()));
        if let Err(packet) = near.insert(entered, packet) {
            self.far.push(at, packet);
        }
    }

    /// Shows packets on the wheel that depart soon.
    #[inline]
    pub(crate) fn foresee(&mut self, now: Instant, see: &mut dyn FnMut(&Packet<B>)) {
        if let Some(near) = &mut self.near {
            near.foresee(now, see);
        }
    }

    /// Removes the next packet that departs at `now` or before.
    #[inline]
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Packet<B>> {
        if now < self.next {
            return None;
        }
        self.take()
    }

    /// Removes the next packet.
    #[inline]
    fn take(&mut self) -> Option<Packet<B>> {
        let packet = if self.in_row() == self.next {
            self.row.pop_front()
        } else if self.far.next() == self.next {
            self.far.pop()
        } else {
            self.near.as_mut().and_then(|near| near.pop())
        };
        let near = self.near.as_ref();
        let near = near.map_or(Instant::FAR_FUTURE, |near| near.first());
        self.next = self.in_row().min(near).min(self.far.next());
        packet
    }

    #[inline]
    fn in_row(&self) -> Instant {
        let head = self.row.front();
        head.map_or(Instant::FAR_FUTURE, |head| head.at)
    }

    /// Whether nothing is in flight.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.next == Instant::FAR_FUTURE
    }

    /// When the next packet departs; [`Instant::FAR_FUTURE`] when nothing is in flight.
    #[inline]
    pub(crate) const fn next(&self) -> Instant {
        self.next
    }

    /// Octets of the next packet, where it is at hand.
    #[inline]
    pub(crate) fn next_size(&self) -> Option<u32> {
        match self.row.front() {
            Some(head) if head.at == self.next => Some(head.size),
            _ if self.far.next() == self.next => None,
            _ => Some(self.near.as_ref()?.first_size()),
        }
    }

    #[inline]
    pub(crate) fn next_departure(&self) -> Option<Instant> {
        (self.next < Instant::FAR_FUTURE).then_some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay::tests::{packet, size};
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    proptest! {
        /// Beside a list that is sorted at every step; delays of up to three seconds, by whole steps so that some depart together.
        #[test]
        fn the_earliest_leaves_first_and_equals_in_order(
            steps in prop::collection::vec((0_u64..4, prop::option::of(prop_oneof![0_u64..30, (0_u64..30).prop_map(|n| n * 100)])), 0..500),
        ) {
            let (mut flight, mut plain, mut now) = (Flight::new(), Vec::new(), 0);
            for (number, (pause, delay)) in steps.into_iter().enumerate() {
                now += pause * 20;
                if let Some(delay) = delay {
                    flight.insert(Instant::from_millis(now), packet((now + delay) * MS, number));
                    plain.push((now + delay, number));
                    plain.sort_unstable();
                }
                while let Some(packet) = flight.take_due(Instant::from_millis(now)) {
                    prop_assert_eq!(packet.body, plain.remove(0).1);
                }
                let first = plain.first().map(|(at, _)| Instant::from_millis(*at));
                prop_assert_eq!(flight.next_departure(), first);
                prop_assert!(first.is_none_or(|first| first > Instant::from_millis(now)));
                if let (Some(octets), Some((_, number))) = (flight.next_size(), plain.first()) {
                    prop_assert_eq!(octets, size(*number));
                }
            }
        }
    }
}
