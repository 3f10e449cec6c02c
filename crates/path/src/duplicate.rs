//! Packets that arrive twice.

use crate::random::Dice;
use crate::{Counters, Element, Packet};
use std::collections::VecDeque;
use units::Instant;

/// Sends each packet a second time with a fixed probability, right behind itself.
#[derive(Clone, Debug)]
pub struct Duplicate {
    probability: f64,
    dice: Dice,
    counters: Counters,
}

impl Duplicate {
    /// Copies with `probability` (0 to 1).
    pub fn new(probability: f64, seed: u64) -> Self {
        Self {
            probability,
            dice: Dice::new(seed),
            counters: Counters::default(),
        }
    }
}

impl<B: Clone> Element<B> for Duplicate {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        _: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        let packet = packet?;
        self.counters.enter(packet.size);
        self.counters.leave(packet.size);
        if self.dice.chance(self.probability) {
            self.counters.duplicate(packet.size);
            self.counters.leave(packet.size);
            out.push_back(packet.clone());
        }
        out.push_back(packet);
        None
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
