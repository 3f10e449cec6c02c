//! The end to which the load goes: counts what arrives, and tells the sender (RFC 9946 section 8).

use super::load::Load;
use super::rates::SendingRate;
use super::status::{DelayVariation, Errors, Status, SubInterval};
use crate::Moment;
use std::time::Duration;
use units::Instant;

/// Numbers that are remembered, to tell a datagram that came late from one that came twice.
const RECENT: usize = 32;
/// After so long without a datagram the sender is told.
const SILENCE: Duration = Duration::from_secs(1);

/// What arrived in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrived {
    /// How long the time was.
    pub lasted: Duration,
    /// Datagrams.
    pub datagrams: u32,
    /// Octets of their payloads.
    pub bytes: u64,
    /// What did not arrive as it was sent.
    pub errors: Errors,
    /// One-way delay above the least of the test, of each datagram that came in its turn.
    pub delay: Variation,
    /// Round trips above the least of the test.
    pub rtt: Variation,
}

/// Delays above the least one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Variation {
    /// How many there are.
    pub count: u32,
    /// The least; zero, as the others, without one.
    pub least: Duration,
    /// The greatest.
    pub greatest: Duration,
    /// All together.
    pub sum: Duration,
    /// The latest.
    pub latest: Duration,
}

impl Variation {
    fn push(&mut self, delay: Duration) {
        self.least = if self.count == 0 {
            delay
        } else {
            self.least.min(delay)
        };
        self.greatest = self.greatest.max(delay);
        self.sum = self.sum.saturating_add(delay);
        self.latest = delay;
        self.count = self.count.saturating_add(1);
    }

    /// None without a delay.
    pub fn mean(&self) -> Option<Duration> {
        self.sum.checked_div(self.count)
    }

    fn on_the_wire(&self) -> DelayVariation {
        DelayVariation {
            least: (self.count > 0).then(|| ms(self.least)),
            greatest: ms(self.greatest),
            sum: ms(self.sum),
            count: self.count,
        }
    }
}

/// A trial that is over.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// What the sender is told.
    pub status: Status,
    /// What arrived in the trial.
    pub trial: Arrived,
    /// The least round trip so far.
    pub least_rtt: Option<Duration>,
    /// The sub-interval that ended with it.
    pub sub_interval: Option<Arrived>,
}

/// Counts a load.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// When a sub-interval is over: half a trial before its end, so that none has a trial too many.
    sub_interval: Duration,
    highest: u32,
    recent: [u32; RECENT],
    next_recent: usize,
    least_delta_ns: Option<i128>,
    least_rtt: Option<Duration>,
    least_updated: bool,
    /// When the latest feedback that was answered had left.
    answered: Duration,
    heard: Instant,
    number: u32,
    trial: Counted,
    sub: Option<Counted>,
    /// Time of all sub-intervals that are over.
    at: Duration,
    saved: SubInterval,
    saved_number: u32,
}

#[derive(Clone, Copy, Debug)]
struct Counted {
    since: Instant,
    arrived: Arrived,
}

impl Counted {
    fn new(since: Instant) -> Self {
        Self {
            since,
            arrived: Arrived::default(),
        }
    }

    fn end(&mut self, now: Instant) -> Arrived {
        let mut arrived = std::mem::replace(self, Self::new(now));
        arrived.arrived.lasted = now.since(arrived.since);
        arrived.arrived
    }
}

impl Receiver {
    /// Of a test whose trials and sub-intervals last so long.
    pub fn new(trial: Duration, sub_interval: Duration, now: Instant) -> Self {
        Self {
            sub_interval: sub_interval.saturating_sub(trial / 2),
            highest: 0,
            recent: [0; RECENT],
            next_recent: 0,
            least_delta_ns: None,
            least_rtt: None,
            least_updated: false,
            answered: Duration::ZERO,
            heard: now,
            number: 0,
            trial: Counted::new(now),
            sub: None,
            at: Duration::ZERO,
            saved: SubInterval::default(),
            saved_number: 0,
        }
    }

    /// When a datagram came last.
    pub const fn heard(&self) -> Instant {
        self.heard
    }

    /// What is counted at the moment.
    fn all(&mut self) -> impl Iterator<Item = &mut Arrived> {
        let sub = self.sub.as_mut().map(|sub| &mut sub.arrived);
        std::iter::once(&mut self.trial.arrived).chain(sub)
    }

    /// A datagram has come.
    pub fn handle(&mut self, load: &Load, now: Moment) {
        self.heard = Instant::from_nanos(now.mono_ns);
        for arrived in self.all() {
            arrived.datagrams = arrived.datagrams.saturating_add(1);
            arrived.bytes += u64::from(load.payload);
        }
        if self.is_in_turn(load.number) {
            self.round_trip(load, now);
            self.one_way(load, now);
        }
    }

    /// Whether no later datagram has come before; counts it where it is not.
    fn is_in_turn(&mut self, number: u32) -> bool {
        let is_first = self.highest == 0;
        if number > self.highest {
            let lost = number - self.highest - 1;
            for arrived in self.all() {
                arrived.errors.lost = arrived.errors.lost.saturating_add(lost);
            }
            self.highest = number;
        } else if self.recent.contains(&number) {
            for arrived in self.all() {
                arrived.errors.duplicates += 1;
            }
            return false;
        } else {
            for arrived in self.all() {
                arrived.errors.reordered += 1;
                // It was taken for lost, maybe in a trial before.
                arrived.errors.lost = arrived.errors.lost.saturating_sub(1);
            }
        }
        self.recent[self.next_recent] = number;
        self.next_recent = (self.next_recent + 1) % RECENT;
        is_first || number == self.highest
    }

    /// From a status feedback to the first datagram that answers it.
    fn round_trip(&mut self, load: &Load, now: Moment) {
        if load.feedback_sent == self.answered {
            return;
        }
        self.answered = load.feedback_sent;
        let Some(took) = Duration::from_nanos(now.wall_ns).checked_sub(load.feedback_sent) else {
            return;
        };
        let waited = Duration::from_millis(load.response_delay_ms.into());
        // The wait there is rounded. More than that is a clock that was set meanwhile.
        if waited > took + Duration::from_millis(2) {
            return;
        }
        let rtt = took.saturating_sub(waited);
        if self.least_rtt.is_none_or(|least| rtt < least) {
            self.least_rtt = Some(rtt);
            self.least_updated = true;
        }
        let variation = rtt.saturating_sub(self.least_rtt.unwrap_or(rtt));
        for arrived in self.all() {
            arrived.rtt.push(variation);
        }
    }

    fn one_way(&mut self, load: &Load, now: Moment) {
        let sent = i128::try_from(load.sent.as_nanos()).unwrap_or(i128::MAX);
        let delta = i128::from(now.wall_ns) - sent;
        let is_first = self.least_delta_ns.is_none();
        if self.least_delta_ns.is_none_or(|least| delta < least) {
            self.least_delta_ns = Some(delta);
            self.least_updated = true;
        }
        let above = delta - self.least_delta_ns.unwrap_or(delta);
        let above = Duration::from_nanos(u64::try_from(above).unwrap_or(u64::MAX));
        if !is_first {
            for arrived in self.all() {
                arrived.delay.push(above);
            }
        }
    }

    /// Ends the trial at `seen`, until when all that came has been handled: a host that is kept from looking has the rest in the next
    /// one, with the time in which it came. None while nothing has come at all. A server has its sender send at `rate` from now on.
    pub fn feedback(
        &mut self,
        now: Moment,
        seen: Instant,
        rate: SendingRate,
        is_stop: bool,
    ) -> Option<Feedback> {
        if self.highest == 0 {
            return None;
        }
        let mono = Instant::from_nanos(now.mono_ns);
        let trial = self.trial.end(seen);
        self.number += 1;
        let status = Status {
            is_stop,
            heard_nothing: mono.since(self.heard) >= SILENCE,
            number: self.number,
            rate,
            sub_interval_number: self.saved_number,
            sub_interval: self.saved,
            errors: trial.errors,
            clock_delta_ms: clock_ms(self.least_delta_ns.unwrap_or(0)),
            delay: trial.delay.on_the_wire(),
            least_rtt_ms: self.least_rtt.map(ms),
            rtt_variation_ms: (trial.rtt.count > 0).then(|| ms(trial.rtt.latest)),
            least_updated: std::mem::take(&mut self.least_updated),
            lasted_us: u32::try_from(trial.lasted.as_micros()).unwrap_or(u32::MAX),
            datagrams: trial.datagrams,
            bytes: u32::try_from(trial.bytes).unwrap_or(u32::MAX),
            sent: Duration::from_nanos(now.wall_ns),
        };
        Some(Feedback {
            status,
            trial,
            least_rtt: self.least_rtt,
            sub_interval: self.end_sub_interval(seen),
        })
    }

    /// The first sub-interval begins with the first feedback.
    fn end_sub_interval(&mut self, now: Instant) -> Option<Arrived> {
        let sub = self.sub.get_or_insert_with(|| Counted::new(now));
        if now.since(sub.since) <= self.sub_interval {
            return None;
        }
        let arrived = sub.end(now);
        self.at += arrived.lasted;
        self.saved_number += 1;
        self.saved = SubInterval {
            datagrams: arrived.datagrams,
            bytes: arrived.bytes,
            lasted_us: u32::try_from(arrived.lasted.as_micros()).unwrap_or(u32::MAX),
            errors: arrived.errors,
            delay: arrived.delay.on_the_wire(),
            rtt_variation_ms: (
                (arrived.rtt.count > 0).then(|| ms(arrived.rtt.least)),
                ms(arrived.rtt.greatest),
            ),
            at_ms: ms(self.at),
        };
        Some(arrived)
    }
}

/// To the nearest millisecond.
fn ms(span: Duration) -> u32 {
    let rounded = (span + Duration::from_micros(500)).as_millis();
    u32::try_from(rounded).unwrap_or(u32::MAX - 1)
}

/// A difference of clocks, which may be below zero: its lower 32 bits.
fn clock_ms(ns: i128) -> u32 {
    let ms = (ns / 1_000_000).rem_euclid(1 << 32);
    u32::try_from(ms).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Moment {
        Moment {
            // The other end's clock is 100 s behind.
            wall_ns: (200_000 + ms) * MS,
            mono_ns: ms * MS,
        }
    }

    fn receiver() -> Receiver {
        let ms = Duration::from_millis;
        Receiver::new(ms(50), ms(1_000), Instant::from_nanos(0))
    }

    fn load(number: u32, sent_ms: u64) -> Load {
        Load {
            number,
            payload: 1_222,
            sent: Duration::from_millis(100_000 + sent_ms),
            ..Load::default()
        }
    }

    impl Receiver {
        /// All that came until `now` has been handled.
        fn told(&mut self, now: Moment) -> Option<Feedback> {
            let seen = Instant::from_nanos(now.mono_ns);
            self.feedback(now, seen, SendingRate::default(), false)
        }
    }

    #[test]
    fn a_host_that_looks_late_counts_no_more_in_a_time_than_came_in_it() {
        let mut receiver = receiver();
        receiver.handle(&load(1, 0), at(10));
        receiver.told(at(50)).unwrap();
        // It looked at 100 ms for the last time, and comes to its feedback at 180.
        receiver.handle(&load(2, 50), at(60));
        let seen = Instant::from_nanos(100 * MS);
        let told = |receiver: &mut Receiver, now, seen| {
            let feedback = receiver.feedback(at(now), seen, SendingRate::default(), false);
            let Status {
                lasted_us,
                datagrams,
                ..
            } = feedback.unwrap().status;
            (lasted_us, datagrams)
        };
        assert_eq!(told(&mut receiver, 180, seen), (50_000, 1));
        receiver.handle(&load(3, 110), at(120));
        receiver.handle(&load(4, 160), at(170));
        let seen = Instant::from_nanos(200 * MS);
        assert_eq!(told(&mut receiver, 200, seen), (100_000, 2));
    }

    #[test]
    fn losses_late_ones_and_doubles_are_told_apart() {
        let mut receiver = receiver();
        assert!(receiver.told(at(0)).is_none());
        for number in [1, 2, 5, 4, 5, 9] {
            receiver.handle(&load(number, 10), at(20));
        }
        let feedback = receiver.told(at(50)).unwrap();
        let expected = Errors {
            // 3, 6, 7 and 8.
            lost: 4,
            reordered: 1,
            duplicates: 1,
        };
        assert_eq!(feedback.status.errors, expected);
        assert_eq!(
            (feedback.status.datagrams, feedback.status.bytes),
            (6, 6 * 1_222)
        );
        assert_eq!(feedback.status.lasted_us, 50_000);
        let next = receiver.told(at(100)).unwrap();
        assert_eq!(
            (next.status.errors, next.status.number),
            (Errors::default(), 2)
        );
    }

    #[test]
    fn delays_are_above_the_least_whatever_the_clocks_say() {
        let mut receiver = receiver();
        for (number, sent, came) in [(1, 0, 20), (2, 10, 35), (3, 20, 38), (4, 30, 60)] {
            receiver.handle(&load(number, sent), at(came));
        }
        let feedback = receiver.told(at(100)).unwrap();
        let delay = feedback.status.delay;
        // 25, 18 and 30 ms, where the least was 20 and then 18.
        assert_eq!(
            (delay.least, delay.greatest, delay.sum, delay.count),
            (Some(0), 12, 17, 3)
        );
        assert_eq!(feedback.status.clock_delta_ms, 100_018);
    }

    #[test]
    fn a_round_trip_is_from_feedback_to_its_first_answer_less_the_wait_there() {
        let mut receiver = receiver();
        receiver.handle(&load(1, 0), at(20));
        let first = receiver.told(at(50)).unwrap();
        assert_eq!(
            (first.status.least_rtt_ms, first.status.rtt_variation_ms),
            (None, None)
        );
        let answer = |number, wait| Load {
            feedback_sent: first.status.sent,
            response_delay_ms: wait,
            ..load(number, 60)
        };
        receiver.handle(&answer(2, 5), at(85));
        receiver.handle(&answer(3, 9), at(99));
        let second = receiver.told(at(100)).unwrap();
        assert_eq!(
            (second.status.least_rtt_ms, second.status.rtt_variation_ms),
            (Some(30), Some(0))
        );
        let later = Load {
            feedback_sent: second.status.sent,
            ..load(4, 120)
        };
        receiver.handle(&later, at(150));
        let third = receiver.told(at(150)).unwrap();
        assert_eq!(third.status.rtt_variation_ms, Some(20));
        assert_eq!(third.trial.rtt.latest, Duration::from_millis(20));
    }

    #[test]
    fn sub_intervals_end_with_a_trial_and_are_told_from_then_on() {
        let mut receiver = receiver();
        let mut ended = Vec::new();
        for trial in 1..=42_u64 {
            receiver.handle(
                &load(u32::try_from(trial).unwrap(), trial * 50),
                at(trial * 50),
            );
            let feedback = receiver.told(at(trial * 50)).unwrap();
            ended.extend(
                feedback
                    .sub_interval
                    .map(|arrived| (trial, arrived.datagrams)),
            );
            let told = feedback.status.sub_interval_number;
            assert_eq!(u64::from(told), trial.saturating_sub(2) / 20, "{trial}");
        }
        assert_eq!(ended, [(21, 20), (41, 20)]);
        assert_eq!(receiver.saved.lasted_us, 1_000_000);
        assert_eq!(receiver.saved.at_ms, 2_000);
    }
}
