//! Which slots of a second are looked at.

use super::Options;
use crate::train::{Probe, Train};
use stats::random::SplitMix64;
use std::time::Duration;

/// Looks at a slot and the one or two after it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Experiment {
    /// The slot in which it begins, from the beginning of the train.
    pub(super) slot: u32,
    /// Whether it looks at a third one.
    pub(super) improved: bool,
}

impl Experiment {
    /// The slots it looks at.
    pub(super) fn slots(self) -> std::ops::Range<u32> {
        self.slot..self.slot + if self.improved { 3 } else { 2 }
    }
}

/// The experiments of one train.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Plan {
    pub(super) experiments: Vec<Experiment>,
    /// Slots that get a probe, each once, in order.
    pub(super) slots: Vec<u32>,
}

/// Slots of a train, about a second of them.
pub(super) fn slots_of_a_train(options: &Options) -> u32 {
    let slots = 1_000_000_000 / options.slot.as_nanos().max(1);
    u32::try_from(slots).unwrap_or(u32::MAX).max(1)
}

impl Plan {
    /// Experiments that begin in `slots` slots; the last one may end up to two slots after them.
    pub(super) fn draw(options: &Options, slots: u64, random: &mut SplitMix64) -> Self {
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        let mut plan = Self::default();
        for slot in 0..slots {
            if random.unit() < options.probability {
                let improved = random.unit() < options.improved;
                plan.add(Experiment { slot, improved });
            }
        }
        plan
    }

    fn add(&mut self, experiment: Experiment) {
        let next = self.slots.last().map_or(0, |last| last + 1);
        let new = experiment.slots().filter(|slot| *slot >= next);
        self.slots.extend(new);
        self.experiments.push(experiment);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// A probe in each slot: its packets back to back, the first one a whole number of slots after that of the probe before.
    pub(super) fn train(&self, options: &Options) -> Train {
        let mut probes = Vec::new();
        let mut before = 0;
        for &slot in &self.slots {
            let gap = options.slot.saturating_mul(slot - before);
            before = slot;
            for packet in 0..options.packets {
                probes.push(Probe {
                    octets: options.octets,
                    gap: if packet == 0 { gap } else { Duration::ZERO },
                    may_carry: true,
                });
            }
        }
        Train {
            probes,
            ..Train::default()
        }
    }
}
