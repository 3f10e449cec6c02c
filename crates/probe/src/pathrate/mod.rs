//! Capacity by packets that leave back to back (*pathrate*).
//!
//! # The idea
//!
//! Two packets that leave together leave the narrowest link as far apart as it takes to carry one: their *dispersion* at the
//! receiver tells its capacity, whatever the load, unless cross traffic came between them (then it is longer) or held up the first
//! of them behind the narrow link (then it is shorter). So pairs of packets tell many rates, and the capacity is one of
//! those that are told often, a *local mode* of their distribution, not always the most frequent one.
//!
//! Long trains have room for cross traffic between their packets, and the longer they are the less they differ: what they
//! tell tends to the *asymptotic dispersion rate*, which is below the capacity (and above the available bandwidth, for which it
//! was once taken). It rules out the modes that cross traffic makes below it; of the others the strongest and narrowest is the
//! capacity.
//!
//! C. Dovrolis, P. Ramanathan and D. Moore, "Packet-dispersion techniques and a capacity-estimation methodology", IEEE/ACM
//! Transactions on Networking 12(6), 2004, and their tool, version 2.4.1, whose constants these are.
//!
//! # What one answer takes
//!
//! - **Length**: trains of 2 to 50 packets, until three of one length lose some.
//! - **Preliminary**: seven trains of each length up to ten. Where what they tell hardly varies the path is lightly loaded,
//!   their mean is the capacity, and that is [`Outcome::Quick`]. The interquartile range gives the width of a bin.
//! - **Pairs** of many sizes, so that modes that depend on the sizes of packets become wide and weak: the local
//!   [`Mode`]s.
//! - **Trains**, as long as was found: the asymptotic dispersion rate.
//!
//! Until the path is known to be loaded each train is led by one packet more, for which hosts wake up, and which does not count. Pairs and long
//! trains are not: behind the narrow link what leads a pair would bring it together.
//!
//! # Hosts that are too slow
//!
//! No sender is infinitely fast. When packets arrive hardly farther apart than they left, or no farther apart than the receiver
//! can tell, their dispersion is that of the hosts: the path is at least that fast ([`Outcome::AtLeast`]).
//!
//! # What is decided here
//!
//! - Sizes of pairs take turns, so that a load that changes meets them all; the tool goes from the smallest to the largest.
//! - A mode's merit is as the tool's code has it: its strength (the share of all pairs that is in its bin) times the kurtosis
//!   of its bell and the number of pairs in that. The tool's documentation speaks of density (the share of the bell that is in
//!   the bin) times strength; played over the paths below, that takes a mode behind the narrow link more often.
//! - Bins are a tenth of the interquartile range, and no less than 1 % of the median.
//! - Cross traffic of small packets at even intervals lets long trains tell the same too little, again and again; so it does
//!   not end quickly while a few tell far more. A mode with less than a twentieth of the pairs is called weak.
//! - The leader. The tool counts from the first packet on, which is some 20 to 200 us late wherever somebody slept: it takes
//!   4 to 40 % from the gap of a pair of full packets at 20 Mbit/s.
//! - Long trains that are lost three times in a row become shorter by a quarter.
//! - The tool looks for interrupt coalescence. Here stamps are expected from the kernel or the interface.
//!
//! # When it is wrong
//!
//! A link whose packets wait for a token bucket has the rate at which it lets bursts pass; a link of several channels that of
//! one. Where a link behind the narrow one is loaded, it brings pairs together again that leave it as far apart as *it*
//! takes to carry one: another narrow mode, above the capacity. Played over three exact queues of 2, 1 and 1.6 times 5 to
//! 500 Mbit/s with the same load of packets of 40 to 1,500 octets on each, sixteen paths for each load:
//!
//! | load | packets that come independently | at even intervals | in long bursts |
//! |---|---|---|---|
//! | 0.1 | within 1 %, quick within 5 % | the same | the same |
//! | 0.3 | within 1 % | within 1 % | within 1 % |
//! | 0.6 | within 1 % | 60 % too much, or weak and 14 to 28 % too little | within 1 %; one in eight 60 % too much |
//! | 0.8 | weak: half within 1 %, else up to 43 % too little | weak: 30 to 44 % too little | half within 1 %, else mostly weak |
//! | 0.9 | weak: 32 to 48 % too little | weak: 34 to 50 % too little | mostly weak: wrong by up to 60 % |
//!
//! # Riders
//!
//! The capacity does not depend on the load, so there is nothing to subtract.

mod dispersion;
mod modes;
mod phase;
#[cfg(test)]
mod tests;

pub use modes::Mode;

use crate::train::{Estimator, Passage, Step, Train};
use dispersion::Dispersion;
use modes::{Histogram, trimmed};
use phase::{Phase, Progress};
use std::time::Duration;
use units::Instant;

/// How it is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Octets of the smallest packet of a pair and of the largest packet, IP header included.
    pub octets: [u32; 2],
    /// Packets of the longest train.
    pub longest: u32,
    /// Trains of each length in the preliminary phase.
    pub preliminary: u32,
    /// Pairs of packets.
    pub pairs: u32,
    /// Different sizes of them.
    pub sizes: u32,
    /// Long trains.
    pub trains: u32,
    /// Between two trains.
    pub pause: Duration,
    /// A coefficient of variation below this ends it quickly; 0 for never.
    pub variation: f64,
    /// The least time between two packets that the receiver can tell.
    pub least_gap: Duration,
}

impl Default for Options {
    /// The tool's: 600 to 1,500 octets, up to 50 packets, 7 trains of each length, 1,000 pairs of 40 sizes, 500 trains, 0.05.
    /// But 100 ms between trains, where the tool waits for 1.25 round trips or more, and 3 us to tell packets apart, which
    /// the tool measures.
    fn default() -> Self {
        Self {
            octets: [600, 1_500],
            longest: 50,
            preliminary: 7,
            pairs: 1_000,
            sizes: 40,
            trains: 500,
            pause: Duration::from_millis(100),
            variation: 0.05,
            least_gap: Duration::from_micros(3),
        }
    }
}

/// How sure an estimate is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// The capacity is a mode of the pairs above what long trains tell.
    Conclusive,
    /// Trains of all lengths told nearly the same: the path is lightly loaded, and their mean is the capacity.
    Quick,
    /// The same, but few pairs are in that mode, as on a path that is heavily loaded throughout: it may be another one.
    Weak,
    /// It is at least the value: no mode is above what long trains tell, or the hosts are no faster than the path.
    AtLeast,
    /// Too many trains lost packets.
    TooFewArrivals,
}

/// A capacity. All in bit/s of packets with their IP headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// The middle of the bin.
    pub value_bps: f64,
    /// The bin's lower end.
    pub low_bps: f64,
    /// The bin's upper end.
    pub high_bps: f64,
}

impl Capacity {
    fn around(value_bps: f64, width: f64) -> Self {
        Self {
            value_bps,
            low_bps: (value_bps - width / 2.0).max(0.0),
            high_bps: value_bps + width / 2.0,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// See [`Outcome`].
    pub outcome: Outcome,
    /// A lower bound for [`Outcome::AtLeast`] and [`Outcome::TooFewArrivals`]; none when nothing is known.
    pub capacity: Option<Capacity>,
    /// The local modes of the pairs, the strongest first; empty when it was quick.
    pub modes: Vec<Mode>,
    /// The asymptotic dispersion rate, in bit/s; none when no long trains were sent.
    pub asymptotic_bps: Option<f64>,
    /// Packets of the longest train that did not lose any again and again.
    pub length: u32,
    /// Trains and pairs that were sent.
    pub trains: u32,
    /// Their octets.
    pub octets: u64,
}

/// A share of pairs above this that tells of the hosts makes all of them useless (the tool).
const MOST_OF_HOSTS: f64 = 0.25;

/// A mode with a smaller share of the pairs than this is weak.
const WEAK: f64 = 0.05;
/// It does not end quickly when more than this share tells more than their mean by more than that share of it.
const MOST_ABOVE: f64 = 0.025;
const ABOVE: f64 = 1.1;

/// The estimator.
#[derive(Clone, Debug)]
pub struct Pathrate {
    options: Options,
    progress: Progress,
    /// What trains told, one for each phase that measures.
    preliminary: Samples,
    pairs: Samples,
    long: Samples,
    ready: Instant,
    sent: Train,
    trains: u32,
    octets: u64,
    done: Option<Estimate>,
}

/// Rates that were told by the trains of a phase, in bit/s.
#[derive(Clone, Debug, Default)]
struct Samples {
    path: Vec<f64>,
    /// Those that tell of the hosts: the path is at least as fast.
    hosts: Vec<f64>,
}

impl Samples {
    fn enter(&mut self, dispersion: Dispersion) {
        match dispersion {
            Dispersion::Path(rate) => self.path.push(rate),
            Dispersion::Hosts(rate) => self.hosts.push(rate),
            Dispersion::Lossy => {}
        }
    }

    /// The share that tells of the hosts.
    fn of_hosts(&self) -> f64 {
        let all = self.path.len() + self.hosts.len();
        self.hosts.len() as f64 / all.max(1) as f64
    }

    /// The share that tells more than `rate`, and not by a little.
    fn far_above(&self, rate: f64) -> f64 {
        let above = self.path.iter().filter(|told| **told > ABOVE * rate);
        above.count() as f64 / self.path.len().max(1) as f64
    }

    /// What the path can carry at least: the mean of all but the extremes.
    fn bound(&self) -> Option<f64> {
        let all = self.path.iter().chain(&self.hosts);
        trimmed(all.copied().collect()).map(|(mean, _)| mean)
    }
}

impl Pathrate {
    /// Begins at `now`.
    pub fn new(options: Options, now: Instant) -> Self {
        Self {
            progress: Progress::new(),
            preliminary: Samples::default(),
            pairs: Samples::default(),
            long: Samples::default(),
            ready: now,
            sent: Train::default(),
            trains: 0,
            octets: 0,
            done: None,
            options,
        }
    }

    fn conclude(&mut self, outcome: Outcome, capacity: Option<Capacity>, modes: Vec<Mode>) {
        self.done = Some(Estimate {
            outcome,
            capacity,
            modes,
            asymptotic_bps: self.asymptotic(),
            length: self.progress.longest(),
            trains: self.trains,
            octets: self.octets,
        });
    }

    /// A phase is over.
    fn ended(&mut self, phase: Phase) {
        match phase {
            Phase::Preliminary => self.judge_quickly(),
            Phase::Long => self.judge(),
            Phase::Length | Phase::Pairs => {}
        }
    }

    /// What is known after the preliminary phase.
    fn judge_quickly(&mut self) {
        let spread = trimmed(self.preliminary.path.clone());
        if self.preliminary.of_hosts() > 0.5 {
            let bound = self.preliminary.bound();
            let capacity = bound.map(|bound| Capacity::around(bound, 0.0));
            self.conclude(Outcome::AtLeast, capacity, Vec::new());
        } else if let Some((mean, deviation)) = spread
            && deviation < self.options.variation * mean
            && self.preliminary.far_above(mean) <= MOST_ABOVE
        {
            let capacity = Capacity::around(mean, self.width());
            self.conclude(Outcome::Quick, Some(capacity), Vec::new());
        }
    }

    /// Width of a bin, in bit/s.
    fn width(&self) -> f64 {
        Histogram::width(self.preliminary.path.clone())
    }

    /// The mean of what long trains told without the extremes; or the best of their modes where there are several (the
    /// tool).
    fn asymptotic(&self) -> Option<f64> {
        let modes = Histogram::new(self.long.path.clone(), self.width()).modes();
        let best = modes
            .iter()
            .max_by(|one, other| one.merit.total_cmp(&other.merit));
        match best.filter(|_| modes.len() > 1) {
            Some(best) => Some(best.middle_bps()),
            None => self.long.bound(),
        }
    }

    /// What is known at the end.
    fn judge(&mut self) {
        let asymptotic = self.asymptotic();
        let mut modes = Vec::new();
        if self.pairs.of_hosts() <= MOST_OF_HOSTS {
            modes = Histogram::new(self.pairs.path.clone(), self.width()).modes();
        }
        let above = |mode: &&Mode| asymptotic.is_some_and(|rate| mode.high_bps > rate);
        let candidates = modes.iter().filter(above);
        let best = candidates.max_by(|one, other| one.merit.total_cmp(&other.merit));
        match (best.copied(), asymptotic) {
            (Some(best), _) => {
                let outcome = match best.strength {
                    WEAK.. => Outcome::Conclusive,
                    _ => Outcome::Weak,
                };
                self.conclude(outcome, Some(best.capacity()), modes);
            }
            (None, Some(rate)) => {
                let capacity = Capacity::around(rate, self.width());
                self.conclude(Outcome::AtLeast, Some(capacity), modes);
            }
            (None, None) => self.conclude(Outcome::TooFewArrivals, None, modes),
        }
    }

    /// Takes what a train told; the phase of it may end.
    fn enter(&mut self, dispersion: Dispersion) {
        let samples = match self.progress.phase() {
            Phase::Length | Phase::Preliminary => &mut self.preliminary,
            Phase::Pairs => &mut self.pairs,
            Phase::Long => &mut self.long,
        };
        samples.enter(dispersion);
        let before = self.progress.phase();
        match self.progress.enter(dispersion, &self.options) {
            Ok(false) => {}
            Ok(true) => self.ended(before),
            Err(phase::TooLossy) => {
                let bound = self.long.bound().or_else(|| self.preliminary.bound());
                let capacity = bound.map(|bound| Capacity::around(bound, 0.0));
                self.conclude(Outcome::TooFewArrivals, capacity, Vec::new());
            }
        }
    }
}

impl Estimator for Pathrate {
    type Estimate = Estimate;

    fn next(&mut self) -> Step<Estimate> {
        if let Some(estimate) = &self.done {
            return Step::Done(estimate.clone());
        }
        self.sent = self.progress.train(&self.options);
        if self.progress.phase().is_led() {
            self.sent.probes.extend(self.sent.probes.first().copied());
        }
        Step::Train(self.sent.clone(), self.ready)
    }

    fn handle(&mut self, passage: &Passage, now: Instant) {
        self.trains = self.trains.saturating_add(1);
        self.octets = self.octets.saturating_add(self.sent.octets());
        self.ready = now + self.options.pause;
        let is_led = self.progress.phase().is_led();
        let least_gap = self.options.least_gap;
        self.enter(Dispersion::of(passage, &self.sent, is_led, least_gap));
    }
}
