//! Random early detection (RFC 2309 section 3; S. Floyd and V. Jacobson, IEEE/ACM Transactions on
//! Networking 1, 1993).
//!
//! RED smooths the queue's length *in packets* and drops arrivals at random, the more likely the
//! further the average is between two thresholds. Spacing the drops evenly, a packet's chance grows
//! with the number that entered since the last drop. This is the *gentle* variant (S. Floyd, 2000):
//! between `max` and twice `max` the probability rises on to 1 instead of jumping there.

use super::{Queue, mark, store::Store};
use crate::random::Dice;
use crate::{Cause, Count, Counters, Limit, Packet, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Instant;

/// The parameters of [`Red`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedConfig {
    /// Average length in packets below which nothing is dropped.
    pub min: u32,
    /// Average length in packets at which the drop probability is `probability`; above `min`.
    pub max: u32,
    /// The drop probability at `max`.
    pub probability: Probability,
    /// Weight of each new length in the average (`w_q`).
    pub weight: Probability,
    /// The most packets.
    pub packets: u32,
    /// Mark packets of senders that speak ECN, instead of dropping them, up to an average of twice
    /// `max`; beyond that all are dropped (RFC 3168 section 7).
    pub ecn: bool,
}

impl Default for RedConfig {
    /// 5 and 15 packets, 0.1 and 0.002 (S. Floyd's notes on parameters, 1997); 1,000 packets,
    /// without ECN.
    fn default() -> Self {
        Self {
            min: 5,
            max: 15,
            probability: Probability::new_const(0.1),
            weight: Probability::new_const(0.002),
            packets: 1_000,
            ecn: false,
        }
    }
}

/// A queue under RED.
pub struct Red<B> {
    config: RedConfig,
    /// The link's time for a small packet, in seconds.
    packet_time: f64,
    average: f64,
    /// Packets that entered since the last drop while the average was above `min`; -1 right after
    /// the average was below.
    since_drop: i64,
    /// Since when the queue has been empty.
    idle_since: Option<Instant>,
    store: Store<B>,
    counters: Counters,
    dice: Dice,
}

impl<B> Red<B> {
    /// An empty queue. `packet_time` is the link's time for a small packet: while the queue is
    /// empty the average falls as if it had met that many arrivals. At zero the average is
    /// forgotten at once.
    pub fn new(config: RedConfig, packet_time: Duration, seed: u64) -> Self {
        Self {
            config,
            packet_time: packet_time.as_secs_f64().max(1e-9),
            average: 0.0,
            since_drop: -1,
            idle_since: Some(Instant::ZERO),
            store: Store::new(),
            counters: Counters::default(),
            dice: Dice::new(seed),
        }
    }

    /// Takes the length that an arrival at `now` meets into the average.
    fn observe(&mut self, now: Instant) {
        let weight = self.config.weight.get();
        if let Some(since) = self.idle_since.take() {
            let passed = now.since(since).as_secs_f64() / self.packet_time;
            self.average *= (1.0 - weight).powf(passed);
        } else {
            self.average += weight * (self.store.len() as f64 - self.average);
        }
    }

    /// The drop probability at the present average, before spacing.
    fn probability(&self) -> f64 {
        let (min, max) = (f64::from(self.config.min), f64::from(self.config.max));
        let probability = self.config.probability.get();
        if self.average < min {
            0.0
        } else if self.average < max {
            probability * (self.average - min) / (max - min)
        } else {
            (probability + (1.0 - probability) * (self.average - max) / max).min(1.0)
        }
    }

    /// Whether the packet that arrives now is chosen.
    fn chooses(&mut self) -> bool {
        let base = self.probability();
        if base <= 0.0 {
            self.since_drop = -1;
            return false;
        }
        self.since_drop += 1;
        let left = 1.0 - self.since_drop as f64 * base;
        let chosen = left <= 0.0 || self.dice.chance(base / left);
        if chosen {
            self.since_drop = 0;
        }
        chosen
    }

    fn admit(&mut self, packet: &mut Packet<B>) -> Result<(), Cause> {
        let limit = Limit::packets(self.config.packets);
        if !limit.admits(self.store.count(), packet.size) {
            self.since_drop = 0;
            return Err(Cause::Overflow);
        }
        if self.chooses() {
            let ecn = self.config.ecn && self.average < 2.0 * f64::from(self.config.max);
            if !mark(packet, ecn, &mut self.counters) {
                return Err(Cause::Aqm);
            }
        }
        Ok(())
    }
}

impl<B: Send> Queue<B> for Red<B> {
    fn enqueue(&mut self, mut packet: Packet<B>, now: Instant) {
        self.counters.enter(packet.size);
        self.observe(now);
        match self.admit(&mut packet) {
            Ok(()) => self.store.push(packet),
            Err(cause) => {
                self.counters.drop(packet.size, cause);
                // The next arrival must not take an empty queue for a busy one.
                if self.store.len() == 0 {
                    self.idle_since = Some(now);
                }
            }
        }
    }

    fn dequeue(&mut self, now: Instant) -> Option<Packet<B>> {
        let packet = self.store.pop()?;
        if self.store.len() == 0 {
            self.idle_since = Some(now);
        }
        self.counters.leave(packet.size);
        Some(packet)
    }

    fn backlog(&self) -> Count {
        self.store.count()
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Ecn, FlowId};

    fn red(ecn: bool) -> Red<()> {
        let config = RedConfig {
            ecn,
            ..RedConfig::default()
        };
        Red::new(config, Duration::from_millis(1), 3)
    }

    fn packet(at: Instant) -> Packet<()> {
        Packet {
            size: 1_500,
            flow: FlowId(0),
            family: crate::Family::V4,
            dscp: units::Dscp::CS0,
            ecn: Ecn::Ect0,
            at,
            body: (),
        }
    }

    #[test]
    fn the_probability_rises_from_min_to_max_and_gently_on_to_twice_max() {
        let mut red = red(false);
        let profile = [
            (4.9, 0.0),
            (5.0, 0.0),
            (10.0, 0.05),
            (15.0, 0.1),
            (22.5, 0.55),
            (30.0, 1.0),
            (99.0, 1.0),
        ];
        for (average, expected) in profile {
            red.average = average;
            assert!((red.probability() - expected).abs() < 1e-12, "{average}");
        }
    }

    #[test]
    fn drops_are_spaced_evenly_from_one_packet_to_an_interval_of_the_probability() {
        let mut red = red(false);
        red.average = 10.0;
        // At 0.05 the gap between drops is uniform over 1..=19, as the count is raised before the dice are thrown
        // (Floyd and Jacobson, section 7); rounding gives a few at 20.
        let mut gaps = [0_u32; 22];
        let mut gap = 0;
        for _ in 0..200_000 {
            gap += 1;
            if red.chooses() {
                gaps[gap] += 1;
                gap = 0;
            }
        }
        assert_eq!(gaps[0] + gaps[21], 0);
        let drops: u32 = gaps.iter().sum();
        for (gap, &count) in gaps.iter().enumerate().take(20).skip(1) {
            let share = f64::from(count) / f64::from(drops);
            assert!((share - 1.0 / 19.0).abs() < 0.01, "gap {gap}: {share}");
        }
    }

    #[test]
    fn the_average_falls_while_the_queue_is_idle() {
        let mut red = red(false);
        red.average = 8.0;
        red.idle_since = Some(Instant::from_millis(1_000));
        red.observe(Instant::from_millis(1_250));
        assert!((red.average - 8.0 * 0.998_f64.powi(250)).abs() < 1e-9);
    }

    #[test]
    fn ecn_marks_up_to_twice_max_and_drops_beyond() {
        let mut red = red(true);
        red.average = 29.0;
        let mut marked = packet(Instant::ZERO);
        while red.admit(&mut marked).is_ok() && marked.ecn != Ecn::Ce {}
        assert_eq!(marked.ecn, Ecn::Ce);
        red.average = 31.0;
        assert_eq!(red.admit(&mut packet(Instant::ZERO)), Err(Cause::Aqm));
    }
}
