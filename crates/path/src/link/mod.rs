//! Links: a queue, and what drains it.
//!
//! A [`Link`] takes packets off its [`Queue`] one at a time. When the next one may be taken, and
//! when it has left, is the matter of a [`Service`]: a constant rate, a recorded trace of delivery
//! opportunities, or a token bucket.

mod constant;
mod token_bucket;
mod trace;

pub use constant::ConstantRate;
pub use token_bucket::TokenBucket;
pub use trace::{OPPORTUNITY_BYTES, Trace, TraceRate};

use crate::noted::Noted;
use crate::{Arrival, Count, Counters, Element, Packet, Queue};
use std::collections::VecDeque;
use units::Instant;

/// When packets are taken off a queue and when they have left. Called in turns, `start` then
/// `finish`, with instants that never go back.
pub trait Service: Send {
    /// The first instant, not before `ready`, at which a packet can be taken off the queue.
    fn start(&mut self, ready: Instant) -> Instant;

    /// The instant at which a packet of `size` octets taken at `start` has left.
    fn finish(&mut self, size: u32, start: Instant) -> Instant;
}

/// A queue drained by a service.
///
/// The queue is asked for a packet at the exact instant that the service says, never at the instant
/// of the call: active queue management sees the same delays however late the link is called. A
/// packet that arrives at the instant of a departure arrives after it. The packet in transmission
/// is not in the queue and does not count against the queue's limit.
pub struct Link<B, S> {
    queue: Box<dyn Queue<B>>,
    service: S,
    state: State<B>,
    noted: Noted,
}

enum State<B> {
    /// Nothing waits.
    Idle,
    /// Packets wait; the next one is taken at this instant.
    Starting(Instant),
    /// This packet is in transmission; its stamp says until when.
    Sending(Packet<B>),
}

impl<B, S: Service> Link<B, S> {
    /// The link that drains `queue` by `service`.
    pub fn new(service: S, queue: Box<dyn Queue<B>>) -> Self {
        Self {
            queue,
            service,
            state: State::Idle,
            noted: Noted::default(),
        }
    }

    /// Does what is due up to `now`, one event after the other.
    fn catch_up(&mut self, now: Instant, out: &mut VecDeque<Packet<B>>) {
        loop {
            match &self.state {
                State::Starting(at) if *at <= now => {
                    let at = *at;
                    self.state = match self.queue.dequeue(at) {
                        Some(packet) => self.send(packet, at),
                        None => State::Idle,
                    };
                }
                State::Sending(packet) if packet.at <= now => {
                    let next = self.next(packet.at);
                    // A packet is large: it is moved only when it leaves.
                    if let State::Sending(packet) = std::mem::replace(&mut self.state, next) {
                        out.push_back(packet);
                    }
                }
                _ => return,
            }
        }
    }

    fn send(&mut self, mut packet: Packet<B>, at: Instant) -> State<B> {
        packet.at = self.service.finish(packet.size, at);
        State::Sending(packet)
    }

    /// What follows when the link is free at `ready`.
    fn next(&mut self, ready: Instant) -> State<B> {
        if self.queue.backlog().packets == 0 {
            State::Idle
        } else {
            State::Starting(self.service.start(ready))
        }
    }
}

impl<B: Send, S: Service> Element<B> for Link<B, S> {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        if let Some(packet) = packet {
            let at = packet.at;
            self.noted.note(at, packet.size);
            self.catch_up(at, out);
            self.queue.enqueue(packet, at);
            if matches!(self.state, State::Idle) {
                self.state = self.next(at);
            }
        }
        self.catch_up(now, out);
        match &self.state {
            State::Idle => None,
            State::Starting(at) => Some(*at),
            State::Sending(packet) => Some(packet.at),
        }
    }

    fn counters(&self) -> Counters {
        let mut counters = self.queue.counters();
        if let State::Sending(packet) = &self.state {
            counters.left.take(packet.size);
            counters.queued.put(packet.size);
        }
        counters
    }

    fn backlog(&self) -> Option<Count> {
        Some(self.queue.backlog())
    }

    fn watch(&mut self) {
        self.noted.watch();
    }

    fn take_arrivals(&mut self) -> Vec<Arrival> {
        self.noted.take()
    }
}
