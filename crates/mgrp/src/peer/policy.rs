//! Which probes may carry something.
//!
//! Riding saves octets, and ties a packet's fate to its probe's. Losses tend to come at the end of a train, where its own probes have
//! filled the queue, so it may pay to let only the first ones carry (T sections 3.2.2, 4.7.3; section 5.3 measures it). The
//! tool has its say for each probe, and the manager for all.

/// What may ride, and on what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Whether anything may. If not, packets leave at once as well.
    pub riding: bool,
    /// The first part of each train that may carry, from 0 to 1 (the *piggybacking ratio*).
    pub ratio: f64,
    /// The number of probes at the head of each train that may, however long the train.
    pub first: usize,
    /// Whether a packet that does not fit may be cut.
    pub fragments: bool,
}

/// When packets wait for probes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Hold {
    /// While a train waits or is under way, and for a second after the last one. The first train finds no packets that wait, and
    /// the packets' delay changes when measuring begins and when it ends.
    #[default]
    WhileProbing,
    /// Always: the delay is the same, measuring or not (T section 4.4).
    Always,
}

impl Default for Policy {
    /// As T measured: everything may carry, and be cut.
    fn default() -> Self {
        Self {
            riding: true,
            ratio: 1.0,
            first: usize::MAX,
            fragments: true,
        }
    }
}

impl Policy {
    /// Whether the probe at this place, from 0, of a train of `count` may carry if its tool lets it.
    pub(super) fn lets_carry(&self, place: usize, count: usize) -> bool {
        let is_within_ratio = (place as f64) < self.ratio * count as f64;
        self.riding && is_within_ratio && place < self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carriers(policy: Policy, count: usize) -> usize {
        let places = (0..count).take_while(|place| policy.lets_carry(*place, count));
        let led = places.count();
        let all = (0..count).filter(|place| policy.lets_carry(*place, count));
        assert_eq!(all.count(), led, "only at the head");
        led
    }

    /// Holds manager/first-probes.
    #[test]
    fn only_the_head_of_a_train_carries() {
        let policy = Policy::default();
        let ratio = |ratio| Policy { ratio, ..policy };
        assert_eq!(carriers(policy, 20), 20);
        assert_eq!(carriers(ratio(0.2), 20), 4, "a fifth, as in T");
        assert_eq!(carriers(ratio(0.5), 5), 3);
        assert_eq!(carriers(ratio(0.0), 5), 0);
        assert_eq!(carriers(ratio(f64::NAN), 5), 0);
        assert_eq!(carriers(Policy { first: 3, ..policy }, 20), 3);
        let off = Policy {
            riding: false,
            ..policy
        };
        assert_eq!(carriers(off, 20), 0);
    }
}
