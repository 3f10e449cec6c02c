//! Time in flight: fixed, jittered, per flow, as somebody assigns, or for chosen packets only.
//!
//! One element, [`Delay`], holds packets; a [`DelayModel`] says until when.

mod assigned;
mod fixed;
pub(crate) mod flight;
mod flow;
mod hold_back;
mod jitter;
mod steady;
mod wheel;

pub use assigned::{Assigned, ConnectionDelay};
pub use fixed::Fixed;
pub use flow::FlowDelay;
pub use hold_back::HoldBack;
pub use jitter::{Distribution, Jitter};
pub use steady::SteadyDelay;

use crate::{Counters, Element, Packet};
use flight::Flight;
use std::collections::VecDeque;
use std::time::Duration;
use units::{FlowId, Instant};

/// When a packet that arrives comes out again.
pub trait DelayModel: Send {
    /// The departure of a packet of `flow` that arrives `at`; never before `at`. Called once a
    /// packet, in order of arrival.
    fn departure(&mut self, flow: FlowId, at: Instant) -> Instant;

    /// No packet takes less.
    fn least(&self) -> Duration {
        Duration::ZERO
    }
}

/// Holds each packet until the departure that its model gives. There is no limit on how many are in
/// flight, as on a real wire: what bounds them is the rate of the link before.
pub struct Delay<B, L> {
    model: L,
    flight: Flight<B>,
    counters: Counters,
}

impl<B, L: DelayModel> Delay<B, L> {
    /// A delay by `model`.
    pub fn new(model: L) -> Self {
        Self {
            model,
            flight: Flight::new(),
            counters: Counters::default(),
        }
    }
}

impl<B: Send, L: DelayModel> Element<B> for Delay<B, L> {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        if let Some(mut packet) = packet {
            self.counters.enter(packet.size);
            let at = packet.at;
            packet.at = self.model.departure(packet.flow, at);
            self.flight.insert(at, packet);
        }
        while let Some(packet) = self.flight.take_due(now) {
            self.counters.leave(packet.size);
            out.push_back(packet);
        }
        self.flight.next_departure()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn least_delay(&self) -> Duration {
        self.model.least()
    }

    fn foresee(&mut self, now: Instant, see: &mut dyn FnMut(&Packet<B>)) {
        self.flight.foresee(now, see);
    }
}

/// What the tests of packets in flight share.
#[cfg(test)]
mod tests {
    use crate::{Family, Packet};
    use units::{Dscp, Ecn, FlowId, Instant};

    /// Octets by which packets can be told apart.
    pub(super) fn size(number: usize) -> u32 {
        40 + u32::try_from(number).unwrap()
    }

    /// Packet `number`, which departs at `at` ns.
    pub(super) fn packet(at: u64, number: usize) -> Packet<usize> {
        Packet {
            size: size(number),
            flow: FlowId(0),
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn: Ecn::NotEct,
            at: Instant::from_nanos(at),
            body: number,
        }
    }
}
