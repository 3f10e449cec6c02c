//! How often a path is congested, and for how long at a time (BADABING).
//!
//! # The idea
//!
//! A packet that is lost once in a while says little: a full queue drops some of the packets that come to it and lets others
//! pass, so the share of lost probes is not the share of time in which the queue was full. What can be estimated without
//! bias is a sequence of *states*. Time is cut into slots; a slot is congested (1) or not (0). In each slot, with
//! probability p and without memory, an **experiment** begins that looks at this slot and the next (*basic*) or the next
//! two (*improved*). The reports are words such as `01` and `110`, and because every slot is as likely as any other to
//! begin a word:
//!
//! - **frequency** F = share of the words that begin with 1: the share of time that is congested;
//! - **duration** D = 2 (R / S - 1) + 1 slots, with S the words whose first two digits are `01` or `10`, and R those plus
//!   the ones with `11`. An episode of d slots has d - 1 pairs `11` and two edges, and each is seen with the same
//!   probability p;
//! - **corrected duration** D = (2 V / U) (R / S - 1) + 1, with U the words `011` and `110` and V the words `001` and `100`.
//!   A congested slot may be missed. Is the chance of missing one beside a 0 another than that beside a 1, then r = U / V tells
//!   by how much. It takes two more counts, each as small as S / 2, so its interval is much wider.
//!
//! # When a slot is congested
//!
//! Its probe is three packets back to back, so that one of them finds the queue full even where the queue lets some
//! through. The slot is congested if one of them was lost; or if one waited longer than (1 - alpha) of what the queue
//! holds while a packet was lost less than tau before or after. What the queue holds is the mean, over all losses, of the
//! waiting time of the last packet that arrived before the loss. Waiting is counted from the least delay of ten seconds
//! around, so that the clocks need not agree, and their skew takes no part.
//!
//! # When it is wrong
//!
//! - Loss without a queue (radio, a policer) is told by lost packets alone; alpha and tau have nothing to hold on to.
//! - Episodes shorter than a slot are mostly not seen, and those that are count as a slot.
//! - `01` and `10` must be about as frequent as each other, and `010` and `101` rare: [`Counts::imbalance`] and
//!   [`Counts::violations`] tell how far the assumptions hold.
//! - Few transitions: the standard deviation of D is about D / sqrt(S), so a minute of one loss says nothing of durations.
//!   That is [`Outcome::TooFew`].
//!
//! - A probe is load itself. In a short queue that fills slowly, its three packets hasten the beginning of an episode: `01`
//!   is seen more often than `10`, and D is too short.
//!
//! # How good
//!
//! Three minutes of a process of two states with exponential times, 40 runs each, against the episodes that took place:
//! frequency within 20 % in 37 runs at a frequency of 1 % and in all at 3 and 10 %; duration within 25 % in 27 runs at 1 %
//! (some 15 edges seen; too long by a tenth on average), in 33 at 3 % and in 39 at 10 %; 95 % intervals of both hold the
//! truth in 38 to 40.
//!
//! A link of 100 Mbit/s with a first-in first-out queue of 500 packets, overloaded in episodes of 200 ms: frequency too high
//! by 10 %, as slots count whose wait is within alpha though nothing was dropped in them yet; duration too long by 24 %,
//! of which a tenth is the same, and another tenth edges that are missed because no experiment met the loss within tau.
//! At 10 Mbit/s with 50 packets the probes' own load shows: frequency 7 % above, duration 9 % below, and `01` is 65 % of
//! the edges.
//!
//! Sommers, Barford, Duffield and Ron, "Improving accuracy in end-to-end packet loss measurement", SIGCOMM 2005: sections
//! 5 (estimators and validation) and 6 (probes, alpha, tau). Intervals are not theirs: the seconds of the run are drawn
//! anew with replacement (block bootstrap, percentiles), as experiments of one second look at the same episodes.

mod marks;
mod plan;
mod tally;
#[cfg(test)]
mod tests;

pub use tally::Counts;

use crate::train::{Estimator, Passage, Step};
use marks::Seen;
use plan::Plan;
use stats::interval::Interval;
use stats::random::SplitMix64;
use std::time::Duration;
use units::Instant;

/// Fewer edges of episodes than this say nothing of a duration: their number alone is known to no better than a third.
pub const LEAST_TRANSITIONS: u64 = 10;
/// Confidence of all intervals.
pub const LEVEL: f64 = 0.95;

/// How it is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Length of a slot; not below 0.1 ms nor above a second.
    pub slot: Duration,
    /// Probability that an experiment begins in a slot (p).
    pub probability: f64,
    /// Share of the experiments that look at three slots instead of two.
    pub improved: f64,
    /// Packets of a probe, 1 to 100.
    pub packets: u32,
    /// Octets of a packet, IP header included.
    pub octets: u32,
    /// How much shorter than the longest a wait may be and still tell of a full queue, as a share.
    pub alpha: f64,
    /// How near to a loss that wait must be; without it, the mean time between experiments and one standard deviation.
    pub tau: Option<Duration>,
    /// How long is probed; the times between trains do not count.
    pub duration: Duration,
    /// What decides in which slots experiments begin.
    pub seed: u64,
}

impl Default for Options {
    /// The paper's, for p = 0.3: alpha 0.1, tau by its rule (31 ms), for three minutes.
    fn default() -> Self {
        Self {
            slot: Duration::from_millis(5),
            probability: 0.3,
            improved: 0.5,
            packets: 3,
            octets: 600,
            alpha: 0.1,
            tau: None,
            duration: Duration::from_secs(180),
            seed: 1,
        }
    }
}

impl Options {
    /// The same within bounds that make sense.
    fn held(mut self) -> Self {
        let second = Duration::from_secs(1);
        self.slot = self.slot.clamp(Duration::from_micros(100), second);
        self.packets = self.packets.clamp(1, 100);
        for share in [&mut self.probability, &mut self.improved, &mut self.alpha] {
            *share = if share.is_nan() {
                0.0
            } else {
                share.clamp(0.0, 1.0)
            };
        }
        self
    }

    /// Slots that are congested for a loss this many slots away.
    fn reach(&self) -> u32 {
        let p = self.probability.max(1e-3);
        let rule = self.slot.mul_f64((1.0 + (1.0 - p).sqrt()) / p);
        let tau = self.tau.unwrap_or(rule).as_nanos();
        u32::try_from(tau / self.slot.as_nanos().max(1)).unwrap_or(u32::MAX)
    }

    /// Slots of all trains.
    fn slots(&self) -> u64 {
        let slots = self.duration.as_nanos() / self.slot.as_nanos().max(1);
        u64::try_from(slots).unwrap_or(u64::MAX)
    }
}

/// How sure an estimate is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// Frequency and duration are estimated.
    Conclusive,
    /// Fewer than [`LEAST_TRANSITIONS`] edges of episodes were seen. The frequency stands, within its interval.
    TooFew,
    /// The sender did not keep the slots in half of the trains or more; nothing is known.
    Untimed,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// See [`Outcome`].
    pub outcome: Outcome,
    /// Share of the slots that are congested (F).
    pub frequency: Option<Interval>,
    /// Mean duration of an episode in seconds (D of basic experiments); `None` when no edge was seen.
    pub duration_s: Option<Interval>,
    /// The same, corrected for congested slots that are missed (D of improved experiments).
    pub corrected_s: Option<Interval>,
    /// What the estimates come from, and figures that validate them.
    pub counts: Counts,
    /// Share of the probes' packets that were lost; the exact interval, as if each had been lost by itself.
    pub loss: Option<Interval>,
    /// How long a packet waits in the full queue, in seconds; `None` when nothing was lost.
    pub full_queue_s: Option<f64>,
    /// Trains that were sent, those of them that are not counted because they were not sent in time, and octets.
    pub trains: u32,
    /// See `trains`.
    pub untimed: u32,
    /// See `trains`.
    pub octets: u64,
}

/// The estimator.
#[derive(Clone, Debug)]
pub struct Badabing {
    options: Options,
    random: SplitMix64,
    plan: Plan,
    slots: u64,
    ready: Instant,
    seen: Vec<Seen>,
    trains: u32,
    untimed: u32,
    octets: u64,
}

impl Badabing {
    /// Begins at `now`.
    pub fn new(options: Options, now: Instant) -> Self {
        let options = options.held();
        Self {
            options,
            random: SplitMix64::new(options.seed),
            plan: Plan::default(),
            slots: 0,
            ready: now,
            seen: Vec::new(),
            trains: 0,
            untimed: 0,
            octets: 0,
        }
    }

    /// Draws the experiments of the next second that has some.
    fn plan(&mut self) -> bool {
        let (all, second) = (self.options.slots(), plan::slots_of_a_train(&self.options));
        while self.slots < all {
            let slots = u64::from(second).min(all - self.slots);
            self.slots += slots;
            self.plan = Plan::draw(&self.options, slots, &mut self.random);
            if !self.plan.is_empty() {
                return true;
            }
        }
        false
    }

    fn estimate(&self) -> Estimate {
        let full_queue_ns = marks::full_queue(&self.seen);
        let counts = tally::all(&self.seen, full_queue_ns, &self.options);
        let found = tally::Found::of(&counts, &self.options);
        let total = tally::sum(&counts);
        let outcome = match total.s {
            _ if self.untimed * 2 >= self.trains.max(1) => Outcome::Untimed,
            s if s < LEAST_TRANSITIONS => Outcome::TooFew,
            _ => Outcome::Conclusive,
        };
        Estimate {
            outcome,
            frequency: found.frequency,
            duration_s: found.duration_s,
            corrected_s: found.corrected_s,
            counts: total,
            loss: stats::proportion::exact(total.packets_lost, total.packets, LEVEL),
            full_queue_s: full_queue_ns.map(|ns| ns / 1e9),
            trains: self.trains,
            untimed: self.untimed,
            octets: self.octets,
        }
    }
}

impl Estimator for Badabing {
    type Estimate = Estimate;

    fn next(&mut self) -> Step<Estimate> {
        if self.plan.is_empty() && !self.plan() {
            return Step::Done(self.estimate());
        }
        Step::Train(self.plan.train(&self.options), self.ready)
    }

    fn handle(&mut self, passage: &Passage, now: Instant) {
        let plan = std::mem::take(&mut self.plan);
        self.ready = now;
        self.trains = self.trains.saturating_add(1);
        let octets = plan.train(&self.options).octets();
        self.octets = self.octets.saturating_add(octets);
        match Seen::of(plan, passage, &self.options) {
            Some(seen) => self.seen.push(seen),
            None => self.untimed = self.untimed.saturating_add(1),
        }
    }
}
