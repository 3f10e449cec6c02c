//! Proportional integral controller enhanced (RFC 8033).
//!
//! PIE drops arrivals with a probability that it corrects every `update` by how far the queue's
//! delay is from `target` and by whether it rises or falls (section 4.2).
//!
//! The delay is measured by time stamps, as section 4.3 allows: it is the age of the packet at the
//! head, zero when nothing waits. Corrections happen at their logical instants, between the
//! arrivals and departures around them.
//!
//! Of the optional elements, ECN (section 5.1), the spreading of drops (5.4) and the bounded step
//! (5.5) are here; the departure-rate estimator (5.2) is not needed, and PIE is always active (5.3).

use super::{Queue, mark, store::Store};
use crate::random::Dice;
use crate::{Cause, Count, Counters, Limit, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{Instant, Span};

/// Weight of the distance to the target, per second (section 4.2).
const ALPHA: f64 = 0.125;
/// Weight of the change since the last correction, per second (section 4.2).
const BETA: f64 = 1.25;
/// Below each probability the correction is divided (section 4.2).
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 2_048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// The largest correction once the probability is 0.1 or more (section 5.5).
const LARGEST_STEP: f64 = 0.02;
/// What an idle queue leaves of the probability (section 4.2).
const DECAY: f64 = 0.98;
/// Above this probability packets are dropped, ECN or not (section 5.1).
const ECN_UP_TO: f64 = 0.1;
/// No drop before the probabilities since the last one add up to the first of these, and a certain
/// one at the second (section 5.4).
const SPREAD: (f64, f64) = (0.85, 8.5);
/// The packet size that "two packets wait" is reckoned with (section 4.1).
const MEAN_PACKET: u64 = 1_500;

/// The parameters of [`Pie`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct PieConfig {
    /// The delay to hold (`QDELAY_REF`); above zero.
    pub target: Span,
    /// Time between corrections (`T_UPDATE`); above zero.
    pub update: Span,
    /// How long a burst after a quiet time is let through (`MAX_BURST`).
    pub burst: Span,
    /// The most packets.
    pub packets: u32,
    /// Mark packets of senders that speak ECN, instead of dropping them, while the probability is
    /// at most 0.1 (section 5.1).
    pub ecn: bool,
}

impl Default for PieConfig {
    /// 15 ms, every 15 ms, 150 ms (section 4); 1,000 packets, without ECN.
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            burst: Span::from_millis(150),
            packets: 1_000,
            ecn: false,
        }
    }
}

/// The controller: section 4.2's state.
#[derive(Clone, Debug)]
struct Controller {
    config: PieConfig,
    probability: f64,
    delay: Duration,
    delay_before: Duration,
    burst_left: Duration,
}

impl Controller {
    const fn new(config: PieConfig) -> Self {
        Self {
            config,
            probability: 0.0,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            burst_left: config.burst.0,
        }
    }

    /// One correction, at a queue delay of `delay`.
    fn update(&mut self, delay: Duration) {
        self.delay_before = self.delay;
        self.delay = delay;
        let now = delay.as_secs_f64();
        let error = now - self.config.target.0.as_secs_f64();
        let change = now - self.delay_before.as_secs_f64();
        let step = self.scaled(ALPHA * error + BETA * change);
        self.probability += step;
        if self.is_empty_for_long() {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_left = self.burst_left.saturating_sub(self.config.update.0);
        let half = self.config.target.0 / 2;
        if self.probability <= 0.0 && self.delay < half && self.delay_before < half {
            self.burst_left = self.config.burst.0;
        }
    }

    fn scaled(&self, step: f64) -> f64 {
        let scale = SCALES.iter().find(|(below, _)| self.probability < *below);
        match scale {
            Some((_, divisor)) => step / divisor,
            None => step.min(LARGEST_STEP),
        }
    }

    fn is_empty_for_long(&self) -> bool {
        self.delay.is_zero() && self.delay_before.is_zero()
    }

    /// Whether further corrections at a delay of zero change nothing.
    fn is_at_rest(&self) -> bool {
        self.probability <= 0.0
            && self.is_empty_for_long()
            && self.burst_left == self.config.burst.0
    }

    /// Whether further corrections at a rising delay change nothing.
    fn is_saturated(&self) -> bool {
        let above = self.delay > self.config.target.0;
        self.probability >= 1.0 && self.burst_left.is_zero() && above
    }

    /// Whether arrivals are safe whatever the dice say (section 4.1).
    fn spares(&self, waiting_bytes: u64) -> bool {
        let calm = self.delay < self.config.target.0 / 2 && self.probability < 0.2;
        !self.burst_left.is_zero() || calm || waiting_bytes <= 2 * MEAN_PACKET
    }
}

/// The time that all but the last two of the corrections take that are due within `span`, one at
/// its start and one every `update`.
fn all_but_two(span: Duration, update: Duration) -> Duration {
    let after_first = span.as_nanos().saturating_sub(1) / update.as_nanos();
    let skipped = after_first.saturating_sub(1) * update.as_nanos();
    Duration::from_nanos(u64::try_from(skipped).unwrap_or(u64::MAX))
}

/// A queue under PIE.
pub struct Pie<B> {
    controller: Controller,
    next_update: Instant,
    /// The probabilities since the last drop, added up (section 5.4).
    accumulated: f64,
    store: Store<B>,
    counters: Counters,
    dice: Dice,
}

impl<B> Pie<B> {
    /// An empty queue.
    pub fn new(config: PieConfig, seed: u64) -> Self {
        Self {
            controller: Controller::new(config),
            next_update: Instant::ZERO + config.update.0,
            accumulated: 0.0,
            store: Store::new(),
            counters: Counters::default(),
            dice: Dice::new(seed),
        }
    }

    /// Makes the corrections that were due before `now`.
    fn catch_up(&mut self, now: Instant) {
        let update = self.controller.config.update.0.max(Duration::from_nanos(1));
        while self.next_update < now {
            if self.is_settled() {
                self.next_update += all_but_two(now.since(self.next_update), update);
            }
            let head = self.store.head();
            let delay = head.map_or(Duration::ZERO, |head| self.next_update.since(head.at));
            self.controller.update(delay);
            self.next_update += update;
        }
    }

    /// Whether corrections change nothing but the two delays until the next arrival or departure:
    /// then all but the last two can be left out, and a long time costs no more than a short one.
    fn is_settled(&self) -> bool {
        if self.store.head().is_none() {
            self.controller.is_at_rest()
        } else {
            self.controller.is_saturated()
        }
    }

    /// Whether the packet that arrives now is chosen (sections 4.1 and 5.4).
    fn chooses(&mut self) -> bool {
        if self.controller.spares(self.store.bytes()) {
            return false;
        }
        let probability = self.controller.probability;
        if probability <= 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        let chosen = self.accumulated >= SPREAD.1
            || self.accumulated >= SPREAD.0 && self.dice.chance(probability);
        if chosen {
            self.accumulated = 0.0;
        }
        chosen
    }

    fn admit(&mut self, packet: &mut Packet<B>) -> Result<(), Cause> {
        let limit = Limit::packets(self.controller.config.packets);
        if !limit.admits(self.store.count(), packet.size) {
            self.accumulated = 0.0;
            return Err(Cause::Overflow);
        }
        if self.chooses() {
            let config = &self.controller.config;
            let ecn = config.ecn && self.controller.probability <= ECN_UP_TO;
            if !mark(packet, ecn, &mut self.counters) {
                return Err(Cause::Aqm);
            }
        }
        Ok(())
    }
}

impl<B: Send> Queue<B> for Pie<B> {
    fn enqueue(&mut self, mut packet: Packet<B>, now: Instant) {
        self.catch_up(now);
        self.counters.enter(packet.size);
        match self.admit(&mut packet) {
            Ok(()) => self.store.push(packet),
            Err(cause) => self.counters.drop(packet.size, cause),
        }
    }

    fn dequeue(&mut self, now: Instant) -> Option<Packet<B>> {
        self.catch_up(now);
        let packet = self.store.pop()?;
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

    fn packet(ms: u64) -> Packet<()> {
        Packet {
            size: 1_500,
            flow: FlowId(0),
            family: crate::Family::V4,
            dscp: units::Dscp::CS0,
            ecn: Ecn::NotEct,
            at: Instant::from_millis(ms),
            body: (),
        }
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-12
    }

    #[test]
    fn the_probability_follows_a_sequence_worked_by_hand() {
        let mut controller = Controller::new(PieConfig::default());
        // Delay in ms; 0.125 (delay - 15 ms) + 1.25 (delay - delay before) in s; its divisor.
        let steps = [
            (20, 0.025_625, 2_048.0),
            (40, 0.028_125, 128.0),
            (100, 0.085_625, 32.0),
            (200, 0.148_125, 8.0),
            (200, 0.023_125, 2.0),
            (220, 0.050_625, 2.0),
            (180, -0.029_375, 2.0),
        ];
        let mut expected = 0.0;
        for (ms, step, divisor) in steps {
            controller.update(Duration::from_millis(ms));
            expected += step / divisor;
            assert!(close(controller.probability, expected), "{ms} ms");
        }
        assert!(close(expected, 0.043_611_145_019_531_25));
    }

    #[test]
    fn above_a_tenth_a_step_is_whole_but_at_most_two_hundredths() {
        let mut controller = Controller::new(PieConfig::default());
        controller.probability = 0.3;
        controller.update(Duration::from_millis(500));
        assert!(close(controller.probability, 0.32));
        controller.update(Duration::from_millis(500));
        // 0.125 * 0.485 s is above 0.02 too; then 0.125 * -0.015 - 1.25 * 0.5 is taken whole.
        assert!(close(controller.probability, 0.34));
        controller.update(Duration::ZERO);
        assert!(controller.probability <= 0.0);
    }

    #[test]
    fn an_idle_queue_lets_the_probability_decay() {
        let mut controller = Controller::new(PieConfig::default());
        controller.probability = 0.5;
        controller.update(Duration::ZERO);
        assert!(close(controller.probability, (0.5 - 0.001_875) * 0.98));
    }

    #[test]
    fn the_burst_allowance_runs_out_and_returns_after_quiet() {
        let mut controller = Controller::new(PieConfig::default());
        for _ in 0..10 {
            assert!(controller.spares(1_000_000));
            controller.update(Duration::from_millis(50));
        }
        assert!(!controller.spares(1_000_000), "150 ms have passed");
        assert!(controller.spares(3_000), "two packets are always spared");
        // A falling delay makes the probability zero; two quiet samples give the burst back.
        controller.update(Duration::ZERO);
        assert!(controller.burst_left.is_zero());
        controller.update(Duration::ZERO);
        assert_eq!(controller.burst_left, Duration::from_millis(150));
    }

    #[test]
    fn leaving_out_settled_corrections_leaves_the_last_two() {
        let ms = Duration::from_millis;
        let nothing = Duration::ZERO;
        // Due at 0, 15, 30, 45 ms: two are left, from 30 ms on.
        assert_eq!(all_but_two(ms(46), ms(15)), ms(30));
        // What is due at the end of the span is not due before it.
        assert_eq!(all_but_two(ms(45), ms(15)), ms(15));
        assert_eq!(all_but_two(ms(16), ms(15)), nothing);
        assert_eq!(all_but_two(ms(1), ms(15)), nothing);
    }

    #[test]
    fn a_long_stall_ends_in_the_state_that_single_corrections_lead_to() {
        let mut queue = Pie::new(PieConfig::default(), 1);
        let at = Instant::from_millis(7);
        queue.enqueue(packet(7), at);
        queue.catch_up(Instant::from_millis(100_000));
        let mut single = Controller::new(PieConfig::default());
        single.update(Duration::from_millis(8));
        for step in 1..100_000_u64.div_ceil(15) - 1 {
            single.update(Duration::from_millis(8 + 15 * step));
        }
        assert!(close(queue.controller.probability, 1.0));
        assert_eq!(queue.controller.delay, single.delay);
        assert_eq!(queue.controller.delay_before, single.delay_before);
        assert!(close(queue.controller.probability, single.probability));
    }

    #[test]
    fn a_long_idle_time_changes_no_later_correction() {
        let mut queue = Pie::new(PieConfig::default(), 1);
        let day = 86_400_000;
        queue.enqueue(packet(day), Instant::from_millis(day));
        queue.dequeue(Instant::from_millis(day + 20));
        // A day is a multiple of 15 ms, so one correction fell on 15 ms after it.
        assert_eq!(queue.next_update, Instant::from_millis(day + 30));
        assert_eq!(queue.controller.delay, Duration::from_millis(15));
    }
}
