//! Available bandwidth from packets that applications send anyway (*opportunistic probing*).
//!
//! # The idea
//!
//! Applications send in bursts, and a burst is a train: its packets leave close together and at a rate that the application, or its TCP,
//! chose. With a time stamp round each packet (Papageorgiou 2008, section 8.3) a train tells what one of [`pathload`](crate::pathload)'s streams
//! tells: where its delays rise it was faster than what is available, where they do not it was not. Nothing is sent for it, and nothing is chosen: not
//! the rate, not the length, not the moment. So there are many trains of whatever rates, and the answer is as good as these are.
//!
//! # What one answer takes
//!
//! - A **train** is cut where a gap is longer than four times the median gap, so that each piece has about one rate. Pieces of fewer than
//!   [`SHORTEST`] packets say nothing.
//! - Its **trend** is that of pathload's streams ([`Trend`]). A rising one bounds what is available from above by the rate at which it *arrived*: a train
//!   that is faster than what is available arrives at a rate between that and its own (Melander, Bjorkman and Gunningberg 2000; the asymptotic
//!   dispersion rate of Dovrolis and others, 2004). One that does not rise bounds it from below by its own rate. One that loses more than a tenth
//!   is too fast.
//! - A single train is often wrong. So those remembered are sorted by their rates, and each [`Options::fleet`] neighbours are a **fleet**: seven tenths
//!   of them must agree. The highest fleet below is the lower bound, the lowest fleet above the upper one; each by its median.
//! - Trains are **forgotten** after [`Options::memory`], and when there are more than [`MOST_TRAINS`]: what was available then may not be now.
//!
//! It ends when the bounds are within [`Options::resolution`] of each other, or when the time is over.
//!
//! # When it is wrong
//!
//! - When the application never sends faster than what is available there is only a lower bound, and when it only ever does, as bursts that leave
//!   at the rate of a network card do, only an upper one, which may be far above: behind an idle or a lightly loaded link such a burst arrives at nearly
//!   the capacity. Both are told as what they are.
//! - Trains are short, so one packet of others' in a train looks like a trend; the fleet is what there is against that.
//! - What a burst meets is what is left *when the application sends*. Others that send in step with it are always or never seen.
//! - The packets are the application's own: what is found is what it and others could have of the path together, with its own rate.

mod fleets;
#[cfg(test)]
mod tests;

use crate::pathload::Trend;
use crate::train::{Arrival, Estimator, Passage, Step, Train};
use fleets::bounds;
use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// The fewest packets that say anything: as many as there are groups.
pub const SHORTEST: usize = 5;
/// Trains that are remembered at most.
pub const MOST_TRAINS: usize = 1_000;
/// Where a gap is longer than so many times the median, a train ends and another begins.
const PAUSE: u64 = 4;
/// A train that loses more than this share is too fast.
const MUCH_LOST: f64 = 0.1;

/// How it is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How long at most.
    pub duration: Duration,
    /// Packets of a train are no further apart than this.
    pub within: Duration,
    /// Packets of a train at most.
    pub probes: usize,
    /// Trains of neighbouring rates that must agree.
    pub fleet: usize,
    /// How long a train counts.
    pub memory: Duration,
    /// How exactly: width of what remains unknown, as a share of its middle.
    pub resolution: f64,
}

impl Default for Options {
    /// Pathload's fleets and what it calls one figure; half a minute, trains of up to 100, and gaps of up to 2 ms, which is a full packet at
    /// 6 Mbit/s.
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(30),
            within: Duration::from_millis(2),
            probes: 100,
            fleet: 12,
            memory: Duration::from_secs(20),
            resolution: 0.2,
        }
    }
}

/// How sure an estimate is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// Both bounds are known, and near each other.
    Conclusive,
    /// Both are known and far apart: no trains had rates between them.
    Between,
    /// Trains of higher rates did not rise, and some of lower rates did: it varied between the bounds.
    Varying,
    /// No fleet rose: applications never sent faster than what is available.
    AtLeast,
    /// Every fleet rose: they never sent slower.
    AtMost,
    /// There were no fleets, or they did not agree about anything.
    Nothing,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// See [`Outcome`].
    pub outcome: Outcome,
    /// Available is at least this, in bit/s of packets with their IP headers.
    pub low_bps: Option<f64>,
    /// And at most this.
    pub high_bps: Option<f64>,
    /// Trains that the sender told, and those of them, or of their pieces, that said something.
    pub trains: u32,
    /// See `trains`.
    pub judged: u32,
    /// Of these, those whose delays rose.
    pub rising: u32,
    /// The lowest and the highest rate at which any of these left, in bit/s.
    pub rates_bps: Option<[f64; 2]>,
    /// Octets of all packets, which would have been sent without it.
    pub octets: u64,
}

/// What a train said.
#[derive(Clone, Copy, Debug)]
struct Said {
    /// When that was known.
    at: Instant,
    /// At which it left, in bit/s, and at which it arrived.
    left_bps: f64,
    arrived_bps: f64,
    is_rising: bool,
}

/// The estimator.
#[derive(Clone, Debug)]
pub struct Harvest {
    options: Options,
    said: VecDeque<Said>,
    now: Instant,
    end: Instant,
    estimate: Estimate,
}

impl Harvest {
    /// Begins at `now`.
    pub fn new(options: Options, now: Instant) -> Self {
        Self {
            said: VecDeque::new(),
            now,
            end: now + options.duration,
            estimate: Estimate {
                outcome: Outcome::Nothing,
                low_bps: None,
                high_bps: None,
                trains: 0,
                judged: 0,
                rising: 0,
                rates_bps: None,
                octets: 0,
            },
            options,
        }
    }

    fn enter(&mut self, said: Said) {
        self.estimate.judged += 1;
        self.estimate.rising += u32::from(said.is_rising);
        let [low, high] = self.estimate.rates_bps.unwrap_or([said.left_bps; 2]);
        self.estimate.rates_bps = Some([low.min(said.left_bps), high.max(said.left_bps)]);
        self.said.push_back(said);
    }

    fn forget(&mut self) {
        let (now, memory) = (self.now, self.options.memory);
        let is_old = |said: &Said| said.at + memory < now;
        while self.said.len() > MOST_TRAINS || self.said.front().is_some_and(is_old) {
            self.said.pop_front();
        }
    }

    fn conclude(&mut self) {
        let [low, high] = bounds(self.said.iter().copied(), self.options.fleet);
        let (outcome, low, high) = match (low, high) {
            (None, None) => (Outcome::Nothing, None, None),
            (low, None) => (Outcome::AtLeast, low, None),
            (None, high) => (Outcome::AtMost, None, high),
            (Some(low), Some(high)) => {
                let [from, to] = [low.min(high), low.max(high)];
                let is_narrow = to - from <= self.options.resolution * f64::midpoint(from, to);
                let outcome = match (is_narrow, low <= high) {
                    (true, _) => Outcome::Conclusive,
                    (false, true) => Outcome::Between,
                    (false, false) => Outcome::Varying,
                };
                (outcome, Some(from), Some(to))
            }
        };
        self.estimate.outcome = outcome;
        self.estimate.low_bps = low;
        self.estimate.high_bps = high;
    }
}

impl Estimator for Harvest {
    type Estimate = Estimate;

    fn next(&mut self) -> Step<Estimate> {
        if self.now >= self.end || self.estimate.outcome == Outcome::Conclusive {
            return Step::Done(self.estimate);
        }
        let train = Train::packets(self.options.probes.max(1), self.options.within);
        Step::Train(train, self.now)
    }

    fn handle(&mut self, passage: &Passage, now: Instant) {
        // Time goes on even for a clock that does not.
        self.now = now.max(self.now + Duration::from_micros(1));
        self.estimate.trains = self.estimate.trains.saturating_add(1);
        self.estimate.octets = self.estimate.octets.saturating_add(passage.octets);
        let mean_bits = passage.octets as f64 * 8.0 / f64::from(passage.sent.max(1));
        let is_lossy = passage.loss() > MUCH_LOST;
        for piece in pieces(&passage.arrivals) {
            let said = judge(piece, mean_bits, is_lossy, self.now);
            if let Some(said) = said {
                self.enter(said);
            }
        }
        self.forget();
        self.conclude();
    }
}

/// A train cut where it pauses.
fn pieces(arrivals: &[Arrival]) -> impl Iterator<Item = &[Arrival]> {
    let gap = |one: &Arrival, next: &Arrival| next.sent_ns.saturating_sub(one.sent_ns);
    let mut gaps: Vec<u64> = arrivals
        .windows(2)
        .map(|two| gap(&two[0], &two[1]))
        .collect();
    gaps.sort_unstable();
    let median = gaps.get(gaps.len() / 2).copied().unwrap_or(0);
    let longest = median.saturating_mul(PAUSE).max(1_000);
    arrivals
        .chunk_by(move |one, next| gap(one, next) <= longest)
        .filter(|piece| piece.len() >= SHORTEST)
}

/// What packets that follow each other say, each of `bits` on average; none when nothing.
fn judge(piece: &[Arrival], bits: f64, is_lossy: bool, at: Instant) -> Option<Said> {
    let (first, last) = piece.first().zip(piece.last())?;
    let all = bits * (piece.len() - 1) as f64;
    let rate = |from: u64, to: u64| all / (to.saturating_sub(from).max(1) as f64 / 1e9);
    let trend = Trend::of_arrivals(piece);
    let is_rising = is_lossy || trend == Trend::Rising;
    let left_bps = rate(first.sent_ns, last.sent_ns);
    (is_rising || trend == Trend::Level).then(|| Said {
        at,
        left_bps,
        arrived_bps: rate(first.arrived_ns, last.arrived_ns).min(left_bps),
        is_rising,
    })
}
