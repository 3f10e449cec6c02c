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

    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet<B>) {
        let at = packet.at;
        self.next = self.next.min(at);
        if self.row.back().is_none_or(|last| last.at <= at) {
            self.row.push_back(packet);
            return;
        }
        let near = self.near.get_or_insert_with(|| Box::new(Wheel::new()));
        if let Err(packet) = near.insert(packet) {
            self.far.push(at, packet);
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

    /// When the next packet departs; [`Instant::FAR_FUTURE`] when nothing is in flight.
    #[inline]
    pub(crate) const fn next(&self) -> Instant {
        self.next
    }

    /// The next packet, where it is at hand.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&Packet<B>> {
        if self.in_row() == self.next {
            self.row.front()
        } else if self.far.next() == self.next {
            None
        } else {
            self.near.as_ref()?.peek()
        }
    }

    #[inline]
    pub(crate) fn next_departure(&self) -> Option<Instant> {
        (self.next < Instant::FAR_FUTURE).then_some(self.next)
    }
}
