//! Available bandwidth by streams that grow ever faster (*pathchirp*).
//!
//! # The idea
//!
//! A stream of one rate tells on which side of the available bandwidth that rate lies, and a search needs many of them. A
//! *chirp* asks for all rates at once: the gaps between its packets shrink by a constant factor, so each gap has a rate of
//! its own. As long as rates are below what the narrowest link has left the queue empties again and again; from the gap
//! on whose rate is above it, the delays rise to the end. Some twenty packets ask for a range of 20 to 1.
//!
//! # What one answer takes
//!
//! - The delays of a chirp are cut into **excursions**: stretches in which a queue builds up and, but for the last, empties
//!   again. Cross traffic makes the ones that end; the chirp itself makes the one that does not.
//! - Each gap gets an available bandwidth: its own rate while a queue builds up in an excursion that ends, the rate at
//!   which the last excursion begins otherwise. Their **average**, weighted by the gaps, is what the chirp says.
//! - The mean of a **window** of 11 chirps is an estimate, and one is kept each second.
//! - While estimates lie near an edge of the range of rates, the range **moves**, as long as there is time for a window.
//!
//! V. J. Ribeiro, R. H. Riedi, R. G. Baraniuk, J. Navratil and L. Cottrell, "pathChirp: Efficient available bandwidth
//! estimation for network paths", Passive and Active Measurement Workshop (PAM), 2003, sections 3 and 4, and their tool,
//! version 2.3.7, whose constants these are.
//!
//! # What is decided here
//!
//! - Rates and weights are those of the gaps that the sender kept, not of those that were asked for.
//! - The tool leaves out a chirp that lost a packet. Here, one that lost packets after its last excursion had begun still
//!   counts: a queue that overflows is no reason to doubt that it was building up.
//! - Chirps are sent at even intervals, so cross traffic of the same period may always meet them at the same place.
//!
//! # When it is wrong
//!
//! A chirp sees each rate for the length of one gap, while cross traffic comes and goes: the last excursion is not seen to
//! begin until rates are well above what is left, so **estimates are too high**. Played over an exact queue of 5, 20, 100 and
//! 500 Mbit/s with packets of 40 to 1,500 octets, two minutes each, six times: median error, and that between which nine
//! tenths lie (an idle link is told the first rate above it of those that a chirp has).
//!
//! | load | packets that come independently | at even intervals | in long bursts |
//! |---|---|---|---|
//! | 0 | 5 % (2 to 7) | | |
//! | 0.3 | 22 % (8 to 33) | 26 % (20 to 34) | 24 % (7 to 37) |
//! | 0.6 | 37 % (15 to 68) | 38 % (18 to 52) | 17 % (-7 to 47) |
//! | 0.9 | 137 % (72 to 239) | 26 % (10 to 58) | 135 % (49 to 310) |
//!
//! Stamps whose errors are as large as the delays make excursions where there are none, which lowers estimates.
//!
//! # Riders
//!
//! As with [`pathload`](crate::pathload): [`Estimate::competing`] is to be subtracted.

mod excursion;
mod range;
#[cfg(test)]
mod tests;
mod window;

pub use crate::spread::Spread;

use crate::riders::Competing;
use crate::train::{Estimator, Passage, Step, Train};
use excursion::{Chirped, Segmentation};
use range::Range;
use std::time::Duration;
use units::{Instant, Rate};
use window::Window;

/// How it is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How long it is measured.
    pub duration: Duration,
    /// The lowest and the highest rate of the first chirps.
    pub rates: [Rate; 2],
    /// The rate that all chirps have together, until the range of rates moves.
    pub average: Rate,
    /// Octets of each packet, IP header included.
    pub octets: u32,
    /// Each gap is shorter than the one before by this factor (the paper's gamma).
    pub spread_factor: f64,
    /// An excursion is over when the queue is down from its longest by this factor (the paper's F).
    pub decrease_factor: f64,
    /// Excursions that end count when they have at least as many packets (the paper's L).
    pub busy_period: usize,
    /// Chirps of which an estimate is the mean.
    pub window: usize,
    /// The shortest gap that the sender keeps; with the packet it bounds the rate.
    pub least_gap: Duration,
}

impl Default for Options {
    /// The tool's own, from its table of options; but a minute (the tool runs for ten), and gaps down to 10 us.
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(60),
            rates: [mbps(10), mbps(200)],
            average: AVERAGE,
            octets: 1_000,
            spread_factor: 1.2,
            decrease_factor: 1.5,
            busy_period: 5,
            window: 11,
            least_gap: Duration::from_micros(10),
        }
    }
}

const AVERAGE: Rate = match Rate::from_bps(300_000) {
    Some(rate) => rate,
    None => unreachable!(),
};

const fn mbps(rate: u64) -> Rate {
    match Rate::from_bps(rate.saturating_mul(1_000_000)) {
        Some(rate) => rate,
        None => AVERAGE,
    }
}

impl Options {
    const fn segmentation(&self) -> Segmentation {
        Segmentation {
            decrease_factor: self.decrease_factor,
            busy_period: self.busy_period,
        }
    }
}

/// How sure an estimate is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// The available bandwidth lay within the range of rates.
    Conclusive,
    /// It is at least the value: most of the last chirps saw no queue that did not empty.
    AtLeast,
    /// It is at most the value, near the lowest rate that is tried.
    AtMost,
    /// Too many chirps lost packets before anything could be told.
    TooFewArrivals,
    /// There was no time for as many chirps as an estimate takes, or the range still moved.
    Unfinished,
    /// The sender did not keep its gaps; nothing is known.
    Untimed,
}

/// The estimate of a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// When it was known.
    pub at: Instant,
    /// The mean of the window of chirps, in bit/s.
    pub value_bps: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// See [`Outcome`].
    pub outcome: Outcome,
    /// The mean of the last window, between the tenth and the ninetieth percentile of the estimates of each second since
    /// the range last moved; none when there was never a window.
    pub available: Option<Spread>,
    /// An estimate each second, also those before the range moved.
    pub history: Vec<Second>,
    /// Rates of riders that would have competed with the chirps of the last window, one of which is to be subtracted from the figures.
    pub competing: Competing,
    /// Chirps that were sent, and their octets.
    pub chirps: u32,
    /// See `chirps`.
    pub octets: u64,
}

/// The estimator.
#[derive(Clone, Debug)]
pub struct Chirp {
    options: Options,
    range: Range,
    window: Window,
    history: Vec<Second>,
    /// How many of the history were there when the range last moved.
    moved: usize,
    end: Instant,
    /// When the next estimate is to be kept.
    second: Instant,
    ready: Instant,
    sent: Train,
    chirps: u32,
    octets: u64,
    /// Chirps that were not counted: for their losses, and for their gaps.
    lossy: u32,
    untimed: u32,
}

/// Between two estimates that are kept.
const SECOND: Duration = Duration::from_secs(1);

impl Chirp {
    /// Begins at `now`.
    pub fn new(options: Options, now: Instant) -> Self {
        Self {
            range: Range::new(&options),
            window: Window::new(options.window),
            history: Vec::new(),
            moved: 0,
            end: now + options.duration,
            second: now + SECOND,
            ready: now,
            sent: Train::default(),
            chirps: 0,
            octets: 0,
            lossy: 0,
            untimed: 0,
            options,
        }
    }

    /// A chirp is over.
    fn enter(&mut self, passage: &Passage) {
        match self.options.segmentation().read(passage, &self.sent) {
            Chirped::Counts(reading) => {
                self.window.enter(reading, passage.riders, passage.lasted);
            }
            Chirped::Lossy => self.lossy = self.lossy.saturating_add(1),
            Chirped::Untimed => self.untimed = self.untimed.saturating_add(1),
        }
    }

    /// Keeps the estimate, and moves the range when it has to be.
    fn judge(&mut self, now: Instant) {
        let Some(value_bps) = self.window.mean() else {
            return;
        };
        if now >= self.second {
            self.history.push(Second { at: now, value_bps });
            self.second = now + SECOND;
        }
        let mut range = self.range;
        if !range.moves(value_bps) {
            self.range = range;
        } else if self.has_time(&range, now) {
            self.range = range;
            self.window = Window::new(self.options.window);
            self.moved = self.history.len();
        }
    }

    /// Whether a window of `range` would be full before the end.
    fn has_time(&self, range: &Range, now: Instant) -> bool {
        let chirps = u32::try_from(self.options.window).unwrap_or(u32::MAX);
        now + range.interval().saturating_mul(chirps.saturating_add(2)) < self.end
    }

    fn outcome(&self) -> Outcome {
        let left_out = self.lossy.saturating_add(self.untimed);
        let counted = self.chirps.saturating_sub(left_out);
        match self.window.mean() {
            None if self.untimed > counted => Outcome::Untimed,
            None if self.lossy > counted => Outcome::TooFewArrivals,
            Some(_) if self.window.is_level() => Outcome::AtLeast,
            Some(value) if !self.range.is_at_low(value) => Outcome::Conclusive,
            Some(_) if self.range.is_lowest() => Outcome::AtMost,
            None | Some(_) => Outcome::Unfinished,
        }
    }

    fn estimate(&self) -> Estimate {
        let seconds = self.history.iter().skip(self.moved);
        let value = self.window.mean();
        let estimates = seconds.map(|second| second.value_bps).chain(value);
        Estimate {
            outcome: self.outcome(),
            available: value.and_then(|value| Spread::of(value, estimates)),
            history: self.history.clone(),
            competing: self.window.competing(),
            chirps: self.chirps,
            octets: self.octets,
        }
    }
}

impl Estimator for Chirp {
    type Estimate = Estimate;

    fn next(&mut self) -> Step<Estimate> {
        if self.ready >= self.end {
            return Step::Done(self.estimate());
        }
        self.sent = self.range.chirp();
        Step::Train(self.sent.clone(), self.ready)
    }

    fn handle(&mut self, passage: &Passage, now: Instant) {
        self.chirps = self.chirps.saturating_add(1);
        self.octets = self.octets.saturating_add(self.sent.octets());
        self.ready = now.max(self.ready + self.range.interval());
        self.enter(passage);
        self.judge(now);
    }
}
