//! Time in flight: fixed, jittered, per flow, as somebody assigns, or for chosen packets only.
//!
//! One element, [`Delay`], holds packets; a [`Law`] says until when.

mod assigned;
mod fixed;
mod flight;
mod flow;
mod hold_back;
mod jitter;

pub use assigned::{Assigned, ConnectionDelay};
pub use fixed::Fixed;
pub use flow::FlowDelay;
pub use hold_back::HoldBack;
pub use jitter::{Distribution, Jitter};

use crate::{Counters, Element, Packet};
use flight::Flight;
use std::collections::VecDeque;
use units::{FlowId, Instant};

/// When a packet that arrives comes out again.
pub trait Law: Send {
    /// The departure of a packet of `flow` that arrives `at`; never before `at`. Called once a
    /// packet, in order of arrival.
    fn departure(&mut self, flow: FlowId, at: Instant) -> Instant;
}

/// Holds each packet until the departure that its law gives. There is no limit on how many are in
/// flight, as on a real wire: what bounds them is the rate of the link before.
pub struct Delay<B, L> {
    law: L,
    flight: Flight<B>,
    books: Counters,
}

impl<B, L: Law> Delay<B, L> {
    /// A delay by `law`.
    pub fn new(law: L) -> Self {
        Self {
            law,
            flight: Flight::new(),
            books: Counters::default(),
        }
    }
}

impl<B: Send, L: Law> Element<B> for Delay<B, L> {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        if let Some(mut packet) = packet {
            self.books.enter(packet.size);
            packet.at = self.law.departure(packet.flow, packet.at);
            self.flight.insert(packet);
        }
        while let Some(packet) = self.flight.take_due(now) {
            self.books.leave(packet.size);
            out.push_back(packet);
        }
        self.flight.next_departure()
    }

    fn counters(&self) -> Counters {
        self.books
    }
}
