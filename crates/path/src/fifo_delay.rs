//! A link and the delay behind it as one element.

use crate::delay::DelayModel;
use crate::delay::flight::Flight;
use crate::{ConstantRate, Count, Counters, Element, Limit, Packet, Service};
use std::collections::VecDeque;
use units::Instant;

/// A link at a constant rate with a drop-tail queue, and a delay behind it: what [`Link`](crate::Link) of a
/// [`Fifo`](crate::Fifo) and [`Delay`](crate::Delay) do in a row, packet for packet and instant for instant, for a third of the
/// work.
///
/// Such a queue decides only when a packet comes. When the packet is sent, and when it has arrived, is known at that moment, so it goes
/// into flight at once, and of those that still wait only sizes and starts are kept.
///
/// [`Element::backlog`] is that of the latest call, as everything here is.
pub struct FifoDelay<B, L> {
    limit: Limit,
    service: ConstantRate,
    /// When the last packet has been sent.
    free: Instant,
    /// Packets that wait: when each is taken off the queue, and its octets.
    waiting: VecDeque<(Instant, u32)>,
    held: Count,
    model: L,
    flight: Flight<B>,
    entered: Count,
    left: Count,
    overflow: Count,
}

impl<B, L: DelayModel> FifoDelay<B, L> {
    /// A link by `service` whose queue has `limit`, and behind it a delay by `model`.
    pub fn new(service: ConstantRate, limit: Limit, model: L) -> Self {
        Self {
            limit,
            service,
            free: Instant::ZERO,
            waiting: VecDeque::new(),
            held: Count::default(),
            model,
            flight: Flight::new(),
            entered: Count::default(),
            left: Count::default(),
            overflow: Count::default(),
        }
    }

    /// Takes off the queue what has been taken off by `now`.
    fn drain(&mut self, now: Instant) {
        while let Some(&(start, size)) = self.waiting.front()
            && start <= now
        {
            self.waiting.pop_front();
            self.held.take(size);
        }
    }

    fn enter(&mut self, mut packet: Packet<B>) {
        let (at, size) = (packet.at, packet.size);
        self.drain(at);
        self.entered.put(size);
        if !self.limit.admits(self.held, size) {
            self.overflow.put(size);
            return;
        }
        let start = self.free.max(at);
        self.free = self.service.finish(size, start);
        if start > at {
            self.held.put(size);
            self.waiting.push_back((start, size));
        }
        packet.at = self.model.departure(packet.flow, self.free);
        self.flight.insert(packet);
    }
}

impl<B: Send, L: DelayModel> Element<B> for FifoDelay<B, L> {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        if let Some(packet) = packet {
            self.enter(packet);
        } else {
            self.drain(now);
        }
        while let Some(packet) = self.flight.take_due(now) {
            self.left.put(packet.size);
            out.push_back(packet);
        }
        self.flight.next_departure()
    }

    fn counters(&self) -> Counters {
        let inside =
            |of: fn(&Count) -> u64| of(&self.entered) - of(&self.left) - of(&self.overflow);
        Counters {
            entered: self.entered,
            left: self.left,
            queued: Count {
                packets: inside(|count| count.packets),
                bytes: inside(|count| count.bytes),
            },
            overflow: self.overflow,
            ..Counters::default()
        }
    }

    fn backlog(&self) -> Option<Count> {
        Some(self.held)
    }
}
