//! A link and the delays around it as one element.

use crate::delay::flight::Flight;
use crate::delay::{DelayModel, SteadyDelay};
use crate::noted::Noted;
use crate::{Arrival, ConstantRate, Count, Counters, Element, Limit, Packet, Service};
use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// A link at a constant rate with a drop-tail queue, and a delay before it, behind it, or both: what [`Delay`](crate::Delay),
/// [`Link`](crate::Link) of a [`Fifo`](crate::Fifo) and [`Delay`](crate::Delay) do in a row, packet for packet and instant for instant, for a third
/// of the work.
///
/// Such a queue decides only when a packet comes. When the packet is sent, and when it has arrived, is known at that moment, so it goes
/// into flight at once, and of those that still wait only sizes and starts are kept. Those on their way to the queue are looked after when the first of them has
/// been sent, each at its own instant.
///
/// [`Element::backlog`] is that of the latest call without a packet.
pub struct FifoDelay<B> {
    /// The delay before the link, and what is on its way.
    ahead: Option<(SteadyDelay, Flight<B>)>,
    limit: Limit,
    service: ConstantRate,
    /// When the last packet has been sent.
    free: Instant,
    /// Packets that wait: when each is taken off the queue, and its octets.
    waiting: VecDeque<(Instant, u32)>,
    held: Count,
    behind: Option<SteadyDelay>,
    /// No packet takes less behind the link.
    least_behind: Duration,
    flight: Flight<B>,
    /// When it wants to be called next, as of the latest change.
    wake: Instant,
    entered: Count,
    left: Count,
    overflow: Count,
    noted: Noted,
}

impl<B> FifoDelay<B> {
    /// The link is `service`, its queue holds what `limit` admits, and the delays `[ahead, behind]` it follow these models.
    pub fn new(
        service: ConstantRate,
        limit: Limit,
        [ahead, behind]: [Option<SteadyDelay>; 2],
    ) -> Self {
        Self {
            ahead: ahead.map(|model| (model, Flight::new())),
            limit,
            service,
            free: Instant::ZERO,
            waiting: VecDeque::new(),
            held: Count::default(),
            least_behind: behind.as_ref().map_or(Duration::ZERO, DelayModel::least),
            behind,
            flight: Flight::new(),
            wake: Instant::FAR_FUTURE,
            entered: Count::default(),
            left: Count::default(),
            overflow: Count::default(),
            noted: Noted::default(),
        }
    }

    /// Takes off the queue what starts at `now` or before.
    fn drain(&mut self, now: Instant) {
        while let Some(&(start, size)) = self.waiting.front()
            && start <= now
        {
            self.waiting.pop_front();
            self.held.take(size);
        }
    }

    /// A packet comes to the queue. Returns when it is sent; `None` when there is no room for it.
    #[inline]
    fn enqueue(&mut self, at: Instant, size: u32) -> Option<Instant> {
        self.noted.note(at, size);
        self.drain(at);
        if !self.limit.admits(self.held, size) {
            self.overflow.put(size);
            return None;
        }
        let start = self.free.max(at);
        self.free = self.service.finish(size, start);
        if start > at {
            self.held.put(size);
            self.waiting.push_back((start, size));
        }
        Some(self.free)
    }

    /// A packet that has been sent at `sent` goes into flight.
    #[inline]
    fn launch(&mut self, mut packet: Packet<B>, sent: Instant) {
        let at = packet.at;
        packet.at = match &mut self.behind {
            Some(model) => model.departure(packet.flow, sent),
            None => sent,
        };
        self.flight.insert(at, packet);
    }

    /// A packet comes to the element.
    fn enter(&mut self, mut packet: Packet<B>) {
        self.entered.put(packet.size);
        let at = packet.at;
        let Some((model, flight)) = &mut self.ahead else {
            if let Some(sent) = self.enqueue(at, packet.size) {
                self.launch(packet, sent);
            }
            self.wake = self.flight.next();
            return;
        };
        let next = flight.next();
        packet.at = model.departure(packet.flow, at);
        flight.insert(at, packet);
        if flight.next() < next {
            self.wake = self.due();
        }
    }

    /// What has reached the queue by `now`; what has been sent by then, with nothing behind the link, leaves.
    fn reach(&mut self, now: Instant, out: &mut VecDeque<Packet<B>>) {
        while let Some((_, flight)) = &mut self.ahead
            && let Some(mut packet) = flight.take_due(now)
        {
            let Some(sent) = self.enqueue(packet.at, packet.size) else {
                continue;
            };
            if sent <= now && self.behind.is_none() && self.flight.is_empty() {
                packet.at = sent;
                self.left.put(packet.size);
                out.push_back(packet);
            } else {
                self.launch(packet, sent);
            }
        }
    }

    /// What has arrived by `now` leaves.
    #[inline]
    fn leave(&mut self, now: Instant, out: &mut VecDeque<Packet<B>>) {
        while let Some(packet) = self.flight.take_due(now) {
            self.left.put(packet.size);
            out.push_back(packet);
        }
    }

    /// When a packet may leave. Those on their way to the queue leave in order, so the first decides: it leaves when it has been sent. If it
    /// may find no room, the call is due when it comes.
    #[inline]
    fn due(&self) -> Instant {
        let behind = self.flight.next();
        let Some((_, flight)) = &self.ahead else {
            return behind;
        };
        let start = flight.next().max(self.free);
        if behind <= start {
            return behind;
        }
        // Until it comes the queue only gets shorter.
        let admits = |size: &u32| self.limit.admits(self.held, *size);
        let Some(size) = flight.next_size().filter(admits) else {
            return start;
        };
        let mut service = self.service;
        let sent = service.finish(size, start);
        behind.min(sent + self.least_behind)
    }
}

impl<B: Send> Element<B> for FifoDelay<B> {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        if let Some(packet) = packet {
            self.enter(packet);
            if now < self.wake {
                return known(self.wake);
            }
        }
        self.reach(now, out);
        self.leave(now, out);
        self.drain(now);
        self.wake = self.due();
        known(self.wake)
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

    fn foresee(&mut self, now: Instant, see: &mut dyn FnMut(&Packet<B>)) {
        match &mut self.ahead {
            Some((_, flight)) => flight.foresee(now, see),
            None => self.flight.foresee(now, see),
        }
    }

    fn backlog(&self) -> Option<Count> {
        Some(self.held)
    }

    fn watch(&mut self) {
        self.noted.watch();
    }

    fn take_arrivals(&mut self) -> Vec<Arrival> {
        self.noted.take()
    }
}

/// An instant that comes.
fn known(at: Instant) -> Option<Instant> {
    (at < Instant::FAR_FUTURE).then_some(at)
}
