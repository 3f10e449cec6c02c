//! Reordering.

use super::DelayModel;
use crate::random::Dice;
use std::time::Duration;
use units::{FlowId, Instant};

/// Holds back each packet with a fixed probability for a fixed time, while the others leave as they
/// come: what arrives behind a held packet within that time overtakes it.
///
/// At a steady packet interval i a held packet is overtaken by the packets of `delay` / i that are
/// not held themselves, so that is its displacement (RFC 4737 section 4.2.2). The share of packets
/// that *overtake* in netem's `reorder` is here one minus the probability.
#[derive(Clone, Debug)]
pub struct HoldBack {
    probability: f64,
    delay: Duration,
    dice: Dice,
}

impl HoldBack {
    /// Holds back with `probability` (0 to 1) for `delay`.
    pub fn new(probability: f64, delay: Duration, seed: u64) -> Self {
        Self {
            probability,
            delay,
            dice: Dice::new(seed),
        }
    }
}

impl DelayModel for HoldBack {
    fn departure(&mut self, _: FlowId, at: Instant) -> Instant {
        if self.dice.chance(self.probability) {
            at + self.delay
        } else {
            at
        }
    }
}
