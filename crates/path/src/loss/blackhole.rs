//! A network that carries one version of IP only, and does not say so.

use crate::{Cause, Counters, Element, Family, Packet};
use std::collections::VecDeque;
use units::Instant;

/// Loses every packet of one version of IP without a word to its sender, as a broken tunnel or a
/// forgotten firewall rule does. Who connects through it waits for a time-out where a missing route
/// would be an error at once; applications try the other version meanwhile (RFC 8305).
#[derive(Clone, Debug)]
pub struct Blackhole {
    family: Family,
    counters: Counters,
}

impl Blackhole {
    /// An element that loses the packets of `family`.
    pub fn new(family: Family) -> Self {
        Self {
            family,
            counters: Counters::default(),
        }
    }
}

impl<B> Element<B> for Blackhole {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        _: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        let packet = packet?;
        self.counters.enter(packet.size);
        if packet.family == self.family {
            self.counters.drop(packet.size, Cause::Loss);
        } else {
            self.counters.leave(packet.size);
            out.push_back(packet);
        }
        None
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
