//! Available bandwidth by streams that load the path themselves (*pathload*).
//!
//! # The idea
//!
//! A stream of equal packets with equal gaps has a rate. While that is below what the narrowest link has left, each packet waits as
//! long as the one before; above it a queue builds up, and the one-way delays rise from the first packet to the last. So
//! whether delays rise tells on which side of the available bandwidth a rate lies, and a search finds the edge.
//! Only differences of delays count: the two clocks need not agree.
//!
//! # What one answer takes
//!
//! - A **stream** ([`Trend`]): 100 packets, each of whose delays is compared with all later ones. What is neither a rise nor none says
//!   nothing. Of at least 60,000 octets: at a rate that is a twentieth too high the queue then grows by 3,000 octets, two packets of
//!   others. Of less, one packet of theirs is as high as the rise, and hides it.
//! - A **fleet**: 12 streams of one rate, with pauses in which queues empty again. Seven tenths of them must agree; else the rate
//!   is *grey*: what is available went from below it to above it, or back, while the fleet lasted. A fleet that loses many
//!   packets is above it.
//! - A **search**: it begins at the rate at which a train arrives that left at once (about what a greedy sender would get), goes up by
//!   doubling while fleets are below, then halves between the bounds, on both sides of a grey region.
//!
//! Jain and Dovrolis, "End-to-end available bandwidth: measurement methodology, dynamics, and relation with TCP throughput",
//! IEEE/ACM Transactions on Networking 11(4), 2003, and their tool, version 1.3, whose fleets, search and pauses these are. Between two streams the tool waits a round
//! trip and nine times as long as a stream lasts ([`Pause::Slow`]), so that a tenth of the rate is the most that it takes from the
//! path on average; [`Pause::Fast`] waits a round trip only (Papageorgiou 2008, section 5.1.3: *pSLOW*, *pFAST*).
//!
//! # Riders
//!
//! Packets of applications that travel inside probes do not compete with them, so a train finds more than is left beside
//! these applications: [`Estimate::competing`] has by how much, from the streams of the last fleet ([`riders`](crate::riders)).
//!
//! # Streams that packets of applications make
//!
//! With [`Streams::SemiElastic`] a stream has 40 probes, and up to 100 while there are packets to ride on them (Papageorgiou 2008, section
//! 8.3). With [`Streams::Elastic`] it has none without a packet: what an application sends in bursts is sent at the rate that is asked about,
//! and nothing is sent for the sake of the measurement. Streams are then as long as bursts are; those of fewer than
//! [`SHORTEST`] probes say nothing and are not counted. Where bursts are too small, or slower than the rate, all are too short: then the search
//! ends with what it knows ([`Outcome::Starved`]).

mod fleet;
mod search;
#[cfg(test)]
mod tests;
mod trend;

pub use trend::Trend;

use crate::riders::Competing;
use crate::train::{Estimator, Extent, Passage, Step, Train};
use fleet::Fleet;
use search::Search;
use std::time::Duration;
use units::{Instant, Rate};

/// How long is waited between two streams.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Pause {
    /// Nine times as long as a stream lasts: on average a tenth of the rate is sent.
    #[default]
    Slow,
    /// No longer than the answer takes.
    Fast,
}

/// Whose packets the streams are.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Streams {
    /// The estimator's: all probes leave.
    #[default]
    Inelastic,
    /// At least so many probes leave, and more while there are packets to carry.
    SemiElastic(u32),
    /// Only probes that carry leave; it is sought for no longer than this.
    Elastic(Duration),
}

impl Streams {
    const fn extent(self) -> Extent {
        match self {
            Self::Inelastic => Extent::Whole,
            Self::SemiElastic(least) => Extent::AtLeast(least),
            Self::Elastic(_) => Extent::AtLeast(0),
        }
    }
}

/// The fewest probes of a stream that says anything.
pub const SHORTEST: u32 = 5;
/// Elastic streams in a row that may be shorter.
const MOST_SHORT: u32 = 100;

/// How it is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Packets of a stream.
    pub probes: usize,
    /// Whose packets they are.
    pub made_of: Streams,
    /// Streams of a fleet.
    pub streams: usize,
    /// Between streams.
    pub pause: Pause,
    /// The gap while packets are neither the smallest nor the largest: the longer a stream, the more it sees.
    pub gap: Duration,
    /// The shortest gap that the sender keeps; with the largest packet it bounds the rate.
    pub least_gap: Duration,
    /// Octets of the smallest and of the largest packet, IP header included.
    pub octets: [u32; 2],
    /// The rate of the first fleet; none for that at which a train of the largest packets arrives that left at once.
    pub first: Option<Rate>,
    /// No stream is faster than this.
    pub most: Rate,
    /// How exactly: width of what remains unknown, as a share of the rate.
    pub resolution: f64,
    /// Whether two more fleets, at both ends of what was found, must not contradict it; the streams of each are spread over this time, as what
    /// comes and goes in seconds says one thing for as long as a burst lasts.
    pub confirms: Option<Duration>,
    /// Fleets after which is told what is known.
    pub most_fleets: u32,
}

impl Default for Options {
    /// The tool's own; but the smallest packets are three times as long (see the [module](self)), and the largest have gaps down to 20 us, which hosts
    /// of 2003 could not keep.
    fn default() -> Self {
        Self {
            probes: 100,
            made_of: Streams::Inelastic,
            streams: 12,
            pause: Pause::Slow,
            gap: Duration::from_micros(100),
            least_gap: Duration::from_micros(20),
            octets: [600, 1_500],
            first: None,
            most: MOST,
            resolution: 0.05,
            confirms: Some(Duration::from_secs(5)),
            most_fleets: 60,
        }
    }
}

/// Where the search begins when not even a train arrives.
const FIRST: Rate = bps(1_000_000);
/// A range in which it varied that is wider than this share of its middle is no single figure.
const VARIES: f64 = 0.2;
/// Packets of the train that comes before the search.
const OPENING: usize = 48;
const MOST: Rate = bps(10_000_000_000);

const fn bps(bits: u64) -> Rate {
    match Rate::from_bps(bits) {
        Some(rate) => rate,
        None => unreachable!(),
    }
}

impl Options {
    /// The highest rate that a stream can have, in bit/s.
    fn fastest(&self) -> f64 {
        let kept = bits(self.octets[1]) / self.least_gap.as_secs_f64().max(1e-9);
        kept.min(self.most.as_bps() as f64)
    }

    /// The least time between streams that ask a bound once more. Packets that make streams come when they come.
    fn apart(&self) -> Duration {
        let over = match self.made_of {
            Streams::Elastic(_) => Duration::ZERO,
            _ => self.confirms.unwrap_or_default(),
        };
        over / u32::try_from(self.streams.max(1)).unwrap_or(u32::MAX)
    }

    /// What comes before the search. Riders would be lost with it; where it is made of them, they were to leave at once anyway.
    fn opening(&self) -> Train {
        let mut train = Train::periodic(OPENING, self.octets[1], Duration::ZERO);
        if let Streams::Elastic(_) = self.made_of {
            return train.of(Extent::AtLeast(0));
        }
        train
            .probes
            .iter_mut()
            .for_each(|probe| probe.may_carry = false);
        train
    }

    /// A stream of `rate` bit/s.
    fn stream(&self, rate: f64) -> Train {
        let [least, most] = self.octets;
        let octets = rate * self.gap.as_secs_f64() / 8.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and what is beyond the bounds is held at them"
        )]
        let octets = (octets.round() as u32).clamp(least, most.max(least));
        let gap = Duration::from_secs_f64((bits(octets) / rate).min(1.0));
        Train::periodic(self.probes, octets, gap).of(self.made_of.extent())
    }
}

/// The rate at which packets of `octets` arrived, in bit/s; none when that cannot be told.
fn arrival_rate(passage: &Passage, octets: u32) -> Option<f64> {
    let span = passage.span().as_secs_f64();
    let packets = passage.arrivals.len().saturating_sub(1);
    (span > 0.0).then(|| packets as f64 * bits(octets) / span)
}

fn bits(octets: u32) -> f64 {
    f64::from(octets) * 8.0
}

/// What a fleet says of its rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Verdict {
    Above,
    Below,
    Grey,
}

/// How sure an estimate is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// The available bandwidth lies within the range.
    Conclusive,
    /// It varied within the range while it was measured, by more than a tenth of its middle either way.
    Grey,
    /// It is at least the range's lower end, the highest rate that could be sent.
    AtLeast,
    /// Fleets contradicted each other until there were too many: the range is what was not excluded.
    Unfinished,
    /// Applications sent too little, or too slowly, for streams: the range is what was not excluded.
    Starved,
    /// The sender did not keep its gaps; nothing is known.
    Untimed,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// See [`Outcome`].
    pub outcome: Outcome,
    /// The available bandwidth is at least this; 0 for next to nothing. In bit/s of packets with their IP headers.
    pub low_bps: f64,
    /// And at most this; infinite where streams starved before any was too fast.
    pub high_bps: f64,
    /// The range in which it was seen to vary.
    pub grey_bps: Option<[f64; 2]>,
    /// Rates of riders that would have competed with the last fleet, one of which is to be subtracted from the bounds. Zero of
    /// elastic streams, which are the riders: the bounds have them in.
    pub competing: Competing,
    /// Streams that were sent, and their octets.
    pub streams: u32,
    /// See `streams`.
    pub octets: u64,
}

/// The estimator.
#[derive(Clone, Debug)]
pub struct Pathload {
    options: Options,
    /// None before the first train.
    search: Option<Search>,
    fleet: Fleet,
    fleets: u32,
    ready: Instant,
    sent: Train,
    streams: u32,
    octets: u64,
    /// Streams in a row that were too short.
    short: u32,
    began: Instant,
    done: Option<Estimate>,
}

impl Pathload {
    /// Begins at `now`.
    pub fn new(options: Options, now: Instant) -> Self {
        let first = options.first.map(|first| first.as_bps() as f64);
        Self {
            search: first.map(|first| Search::new(first, options.fastest())),
            fleet: Fleet::new(options.streams),
            fleets: 0,
            ready: now,
            sent: Train::default(),
            streams: 0,
            octets: 0,
            short: 0,
            began: now,
            done: None,
            options,
        }
    }

    /// The first train is over: the search begins at its rate.
    fn opened(&mut self, passage: &Passage) {
        let octets = self.options.octets[1];
        let first = arrival_rate(passage, octets).unwrap_or(FIRST.as_bps() as f64);
        self.search = Some(Search::new(first, self.options.fastest()));
    }

    /// Whether a stream that packets were to make says nothing, and if there have been too many of those, the end.
    fn starves(&mut self, passage: &Passage, now: Instant) -> bool {
        let Streams::Elastic(time) = self.options.made_of else {
            return false;
        };
        let is_short = passage.sent < SHORTEST;
        self.short = if is_short { self.short + 1 } else { 0 };
        self.ready = now;
        let is_over = now.since(self.began) >= time || self.short >= MOST_SHORT;
        if is_over {
            let range = self.search.map(|search| search.known_so_far());
            self.conclude(Outcome::Starved, range.unwrap_or(search::UNKNOWN));
        }
        is_over || is_short
    }

    fn conclude(&mut self, outcome: Outcome, range: search::Range) {
        self.done = Some(Estimate {
            outcome,
            low_bps: range.low,
            high_bps: range.high,
            grey_bps: range.grey,
            competing: match self.options.made_of {
                Streams::Elastic(_) => Competing::default(),
                _ => self.fleet.competing(),
            },
            streams: self.streams,
            octets: self.octets,
        });
    }

    /// A fleet is over.
    fn judged(&mut self, verdict: Verdict) {
        self.fleets += 1;
        let Some(search) = &mut self.search else {
            return;
        };
        let resolution = self.options.resolution;
        search.enter(verdict);
        if let Some(range) = search.advance(resolution, self.options.confirms.is_some()) {
            let middle = f64::midpoint(range.low, range.high);
            let outcome = match range.grey {
                _ if range.low >= range.high => Outcome::AtLeast,
                Some(_) if range.high - range.low > VARIES * middle => Outcome::Grey,
                _ => Outcome::Conclusive,
            };
            self.conclude(outcome, range);
        } else if self.fleets >= self.options.most_fleets {
            let range = search.known();
            self.conclude(Outcome::Unfinished, range);
        } else {
            self.fleet = self.fleet.next();
        }
    }
}

impl Estimator for Pathload {
    type Estimate = Estimate;

    fn next(&mut self) -> Step<Estimate> {
        if let Some(estimate) = self.done {
            return Step::Done(estimate);
        }
        self.sent = match &self.search {
            Some(search) => self.options.stream(search.rate()),
            None => self.options.opening(),
        };
        Step::Train(self.sent.clone(), self.ready)
    }

    fn handle(&mut self, passage: &Passage, now: Instant) {
        self.streams += 1;
        self.octets = self.octets.saturating_add(passage.octets);
        if self.starves(passage, now) {
            return;
        }
        let planned = self.sent.duration_of(passage.sent.max(1) as usize);
        let Some(search) = &self.search else {
            self.ready = match self.options.pause {
                Pause::Slow => now + passage.span() * 9,
                Pause::Fast => now,
            };
            return self.opened(passage);
        };
        let known = search.known();
        self.ready = match self.options.pause {
            Pause::Slow => now + planned * 9,
            Pause::Fast => now,
        };
        if self.fleet.enter(passage, &self.sent).is_err() {
            self.conclude(Outcome::Untimed, known);
        } else if let Some(verdict) = self.fleet.verdict() {
            self.judged(verdict);
        }
        if self.search.is_some_and(|search| search.is_asking()) {
            self.ready = self.ready.max(now + self.options.apart());
        }
    }
}
