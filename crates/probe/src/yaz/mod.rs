//! Available bandwidth by streams whose mean spacing is compared (*yaz*).
//!
//! # The idea
//!
//! As with [`pathload`](crate::pathload), a stream of equal packets with equal gaps that is faster than what the narrowest
//! link has left builds up a queue. Then packets arrive farther apart than they were sent; and while a queue empties that
//! was there before, closer together. Single gaps are off by whatever hosts do to them, their mean much less. So the
//! **mean gap** at the receiver is compared with that at the sender, and a difference either way, beyond a threshold, is
//! congestion. How far apart packets arrive also tells how much too fast the stream was, so no search is needed: the next
//! one is slower by half of the difference, until there is none.
//!
//! J. Sommers, P. Barford and W. Willinger, "A proposed framework for calibration of available bandwidth estimation tools",
//! IEEE Symposium on Computers and Communications (ISCC), 2006, and their tool of July 2006, whose constants these are.
//!
//! # What one answer takes
//!
//! - A **stream** ([`Options::probes`]): its mean gaps, and the deviation of what single gaps changed.
//! - A **round**, streams of one rate. More are sent until the change of the mean gap, give or take twice its standard error,
//!   is on one side of the threshold. Two lost packets of one stream are congestion, too (the tool).
//! - A **descent** of rounds to the first that sees no congestion: the rate of that is an estimate.
//! - Estimates **until** five in a row agree or the time is over. The figure is their exponentially weighted moving average
//!   with the factor 0.3 that the tool's documentation recommends.
//!
//! # What is decided here
//!
//! - *Calibration.* The authors calibrate the number of packets on the hosts, and settle at 50. Here each stream
//!   calibrates the next: it gets as many packets as make the standard error of the mean gap half of the threshold, or of
//!   the change if that is larger; and a round gets more streams where one of the longest is not enough.
//! - *Threshold.* A share of the gap ([`Options::tolerance`]); the tool takes what 500 kbit/s make of it.
//! - *Start.* The first descent begins at the highest rate, as each of the tool's does; the others at twice the last
//!   estimate, or at as many times twice as it takes to see congestion.
//!
//! # When it is wrong
//!
//! A stream that is too fast by a share of the link's *capacity* changes its gaps by that share, so a threshold of 1 % lets
//! pass what is 1 % of the capacity too much: a tenth of what is left at a load of 0.9. In the other direction, cross
//! traffic that fluctuates makes delays rise within a finite stream even at rates that the link has left. A burst longer
//! than a stream is taken for the stream's own doing. Played over an exact queue of 5, 20, 100 and 500 Mbit/s with packets of 40
//! to 1,500 octets, five minutes each, six times: median error, and that between which nine tenths lie.
//!
//! | load | packets that come independently | at even intervals | in long bursts |
//! |---|---|---|---|
//! | 0 | 1 % | | |
//! | 0.3 | -2 % (-3 to -1) | 1 % (1 to 1) | -10 % (-13 to -7) |
//! | 0.6 | -2 % (-3 to 1) | 2 % (2 to 2) | -23 % (-30 to -15) |
//! | 0.9 | 13 % (7 to 27) | 10 % (10 to 10) | -19 % (-48 to 7) |
//!
//! Each estimate takes 5 to 20 megabytes on a loaded link, a fifth of one on an idle link, so on a link of 5 Mbit/s half a
//! minute. A [`chirp`](crate::chirp) is far cheaper.
//!
//! # Riders
//!
//! As with [`pathload`](crate::pathload): [`Estimate::competing`] is to be subtracted.

mod descent;
mod round;
mod spacing;
#[cfg(test)]
mod tests;

pub use crate::spread::Spread;

use crate::riders::Competing;
use crate::train::{Estimator, Passage, Step, Train};
use descent::{Descent, End};
use round::Round;
use spacing::Spacing;
use stats::random::SplitMix64;
use std::time::Duration;
use units::Instant;

/// How it is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How long it is measured at most.
    pub duration: Duration,
    /// Packets of the shortest and of the longest stream.
    pub probes: [u32; 2],
    /// Packets of the first stream.
    pub first_probes: u32,
    /// Streams of a round at most.
    pub streams: u32,
    /// A change of the mean gap by more than this share is congestion (the paper's zeta).
    pub tolerance: f64,
    /// The shortest and the longest gap.
    pub gaps: [Duration; 2],
    /// Octets of the smallest and of the largest packet, IP header included.
    pub octets: [u32; 2],
    /// Between streams, on average; pauses have an exponential distribution, so that no periodic traffic hides.
    pub pause: Duration,
    /// Five estimates in a row agree when they lie within this share of their mean; 0 for the whole duration.
    pub agreement: f64,
    /// Weight of the newest estimate in the moving average.
    pub weight: f64,
    /// Of the pauses.
    pub seed: u64,
}

impl Default for Options {
    /// The tool's: 20 (its documentation's least) to 250 packets, 50 at first, 5 streams, packets of 200 to 1,500 octets,
    /// pauses of 50 ms, weight 0.3. Its gaps are 40 us to 1 ms; these reach farther both ways.
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(60),
            probes: [20, 250],
            first_probes: 50,
            streams: 5,
            tolerance: 0.01,
            gaps: [Duration::from_micros(20), Duration::from_millis(10)],
            octets: [200, 1_500],
            pause: Duration::from_millis(50),
            agreement: 0.1,
            weight: 0.3,
            seed: 1,
        }
    }
}

/// Estimates that must agree.
const AGREEING: usize = 5;
/// No stream is longer, whatever is asked for.
const MOST_PROBES: u32 = 10_000;

impl Options {
    /// The shortest gap, in seconds.
    fn least_gap(&self) -> f64 {
        self.gaps[0].as_secs_f64().max(1e-9)
    }

    fn most_gap(&self) -> f64 {
        self.gaps[1].as_secs_f64().max(self.least_gap())
    }

    /// The highest rate that a stream can have, in bit/s, and the lowest.
    fn most(&self) -> f64 {
        bits(self.octets[1]) / self.least_gap()
    }

    fn least(&self) -> f64 {
        bits(self.octets[0]).min(bits(self.octets[1])) / self.most_gap()
    }

    /// A stream of `rate` bit/s: of the largest packets, halved until the gap is not too long (the tool).
    fn stream(&self, rate: f64, probes: usize) -> Train {
        let [least, most] = self
            .probes
            .map(|probes| probes.clamp(2, MOST_PROBES) as usize);
        let probes = probes.clamp(least, most.max(least));
        let mut octets = self.octets[1].max(1);
        while bits(octets) / rate > self.most_gap() && octets > self.octets[0].max(1) {
            octets = (octets / 2).max(self.octets[0]).max(1);
        }
        let gap = (bits(octets) / rate).clamp(self.least_gap(), self.most_gap());
        Train::periodic(probes, octets, Duration::from_secs_f64(gap.min(60.0)))
    }
}

fn bits(octets: u32) -> f64 {
    f64::from(octets.max(1)) * 8.0
}

/// How sure an estimate is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// Five estimates in a row agreed.
    Conclusive,
    /// There are estimates, but no five in a row agreed while it was measured: the available bandwidth varies.
    Varying,
    /// It is at least the value: the fastest streams saw no congestion at last.
    AtLeast,
    /// It is at most the value, the lowest rate that can be sent.
    AtMost,
    /// Not even the slowest stream arrived.
    TooFewArrivals,
    /// There was no time for one estimate.
    Unfinished,
}

/// One estimate of many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// When it was known.
    pub at: Instant,
    /// The highest rate that saw no congestion, in bit/s.
    pub value_bps: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// See [`Outcome`].
    pub outcome: Outcome,
    /// The moving average of the estimates, between their tenth and their ninetieth percentile; none when there are none.
    pub available: Option<Spread>,
    /// The estimates.
    pub history: Vec<Moment>,
    /// Rates of riders that would have competed with the streams of the last round, one of which is to be subtracted from the figures.
    pub competing: Competing,
    /// Streams that were sent, and their octets.
    pub streams: u32,
    /// See `streams`.
    pub octets: u64,
}

/// The estimator.
#[derive(Clone, Debug)]
pub struct Yaz {
    options: Options,
    random: SplitMix64,
    descent: Descent,
    round: Round,
    /// Packets of the next stream.
    probes: usize,
    history: Vec<Moment>,
    average: Option<f64>,
    /// How the last descent ended.
    last: Option<End>,
    competing: Competing,
    end: Instant,
    ready: Instant,
    sent: Train,
    streams: u32,
    octets: u64,
    over: bool,
}

impl Yaz {
    /// Begins at `now`.
    pub fn new(options: Options, now: Instant) -> Self {
        Self {
            random: SplitMix64::new(options.seed),
            descent: Descent::new(&options),
            round: Round::default(),
            probes: options.first_probes as usize,
            history: Vec::new(),
            average: None,
            last: None,
            competing: Competing::default(),
            end: now + options.duration,
            ready: now,
            sent: Train::default(),
            streams: 0,
            octets: 0,
            over: false,
            options,
        }
    }

    /// A stream is over.
    fn enter(&mut self, passage: &Passage, now: Instant) {
        let spacing = Spacing::of(passage);
        self.round.enter(spacing, passage);
        if let Some(spacing) = spacing {
            self.probes = spacing.packets_for(self.options.tolerance);
        }
        let octets = self.sent.probes.first().map_or(0, |probe| probe.octets);
        let Some(verdict) = self.round.verdict(octets, &self.options) else {
            return;
        };
        self.competing = self.round.competing();
        self.round = self.round.next();
        if let Some(end) = self.descent.enter(verdict, &self.options) {
            self.conclude(end, now);
        }
    }

    /// A descent is over.
    fn conclude(&mut self, end: End, now: Instant) {
        self.last = Some(end);
        let Some(value_bps) = end.value() else {
            self.over = true;
            return;
        };
        let weight = if (0.0..1.0).contains(&self.options.weight) {
            self.options.weight
        } else {
            1.0
        };
        let average = self.average.unwrap_or(value_bps);
        self.average = Some(average + weight * (value_bps - average));
        self.history.push(Moment { at: now, value_bps });
        self.over = self.agree();
    }

    /// Whether the last estimates lie close enough together.
    fn agree(&self) -> bool {
        let last = self.history.iter().rev().take(AGREEING);
        let values = last.map(|moment| moment.value_bps);
        let [low, high, sum] = values.fold([f64::MAX, 0.0, 0.0], |[low, high, sum], value| {
            [value.min(low), value.max(high), sum + value]
        });
        let mean = sum / AGREEING as f64;
        self.history.len() >= AGREEING && high - low < self.options.agreement * mean
    }

    fn outcome(&self) -> Outcome {
        match self.last {
            None => Outcome::Unfinished,
            Some(End::Nothing) => Outcome::TooFewArrivals,
            Some(End::Highest(_)) => Outcome::AtLeast,
            Some(End::Lowest(_)) => Outcome::AtMost,
            Some(End::Found(_)) if self.agree() => Outcome::Conclusive,
            Some(End::Found(_)) => Outcome::Varying,
        }
    }

    fn estimate(&self) -> Estimate {
        let values = self.history.iter().map(|moment| moment.value_bps);
        let average = self.average;
        Estimate {
            outcome: self.outcome(),
            available: average.and_then(|average| Spread::of(average, values)),
            history: self.history.clone(),
            competing: self.competing,
            streams: self.streams,
            octets: self.octets,
        }
    }
}

impl Estimator for Yaz {
    type Estimate = Estimate;

    fn next(&mut self) -> Step<Estimate> {
        if self.over || self.ready >= self.end {
            return Step::Done(self.estimate());
        }
        self.sent = self.options.stream(self.descent.rate(), self.probes);
        Step::Train(self.sent.clone(), self.ready)
    }

    fn handle(&mut self, passage: &Passage, now: Instant) {
        self.streams = self.streams.saturating_add(1);
        self.octets = self.octets.saturating_add(self.sent.octets());
        let pause = self.random.exponential(self.options.pause.as_secs_f64());
        let pause = Duration::from_secs_f64(pause.min(60.0));
        // Time goes on even for a clock that does not.
        self.ready = now.max(self.ready) + pause + Duration::from_micros(1);
        self.enter(passage, now);
    }
}
