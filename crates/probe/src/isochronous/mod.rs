//! What a steady stream of small packets meets: a call that nobody makes.
//!
//! # The idea
//!
//! One packet every 20 ms is what a telephone sends, and too little to change what it measures. The receiver either counts
//! it (one-way) or sends it back at once (*echoed*). Either gives delay variation, loss, runs of loss and reordering;
//! echoes also give the round trip, which needs no clocks, and with them the delay of each way.
//!
//! | figure | definition |
//! |---|---|
//! | round trip | there and back, without what the receiver took; the median with the order statistics that hold it with 95 % |
//! | one-way delay | by two clocks of which [`ClockLine`] takes out offset and skew; the offset takes both ways for equally long, and is wrong by at most [`ClockLine::uncertainty_ns`] |
//! | loss | share of the probes that did not arrive, or did not come back; exact interval |
//! | jitter | J, the variation smoothed over 16 packets: RFC 3550 section 6.4.1 |
//! | IPDV | delay less that of the probe sent before: RFC 3393, percentiles as in RFC 5481 section 4.1 |
//! | PDV | delay less the least delay: RFC 5481 section 4.2 |
//! | reordering, runs of loss | as for a call: [`Call`] |
//!
//! # Trains
//!
//! The stream is cut into trains of at most a second, so that there is something to show meanwhile. The next one goes on
//! in the same rhythm: one interval after the last probe, or as many whole intervals as it takes until all is known of the
//! train before. Where the pause is longer, its neighbours are still neighbours to IPDV and J.
//!
//! # When it is wrong
//!
//! - An echo that is lost leaves no trace of its probe: of echoed trains nobody knows on which way it was lost.
//! - Without echoes the skew of the clocks stays in: 50 ppm look like 0.5 ms of PDV after 10 s.
//! - The interval of the loss takes losses as independent; [`crate::call::Runs::burst_ratio`] tells whether they were.
//! - What happens in step with the interval (a slot of a radio link, a periodic queue) is sampled at one phase only.

#[cfg(test)]
mod tests;
mod way;

pub use way::Way;

use crate::call::{Call, Datagram, JITTER_BUFFER_MS, Terms};
use crate::clock::{ClockLine, RoundTrip};
use crate::train::{Arrival, Estimator, Passage, Step, Train};
use stats::Distribution;
use stats::interval::{self, Interval};
use std::time::Duration;
use units::Instant;

/// Confidence of all intervals.
pub const LEVEL: f64 = 0.95;
/// The longest train.
const MOST: Duration = Duration::from_secs(1);

/// What is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// Between two probes; not below 10 us nor above a second.
    pub interval: Duration,
    /// Octets of a probe, IP header included.
    pub octets: u32,
    /// From the first probe to one interval after the last.
    pub duration: Duration,
    /// Whether the receiver sends them back.
    pub echo: bool,
    /// Variation beyond which a packet is of no use to a call.
    pub late_after: Duration,
}

impl Default for Options {
    /// Ten seconds of a call by G.711: 160 octets of sound each 20 ms, and 40 of the headers of RTP, UDP and IPv4; echoed.
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(20),
            octets: 200,
            duration: Duration::from_secs(10),
            echo: true,
            late_after: Duration::from_secs_f64(JITTER_BUFFER_MS / 1e3),
        }
    }
}

impl Options {
    fn held(mut self) -> Self {
        self.interval = self.interval.clamp(Duration::from_micros(10), MOST);
        self
    }

    /// Probes that fit into a time; one at least.
    fn probes_in(&self, time: Duration) -> u32 {
        let probes = time.as_nanos() / self.interval.as_nanos().max(1);
        u32::try_from(probes).unwrap_or(u32::MAX).max(1)
    }

    fn train(&self, probes: u32) -> Train {
        let train = Train::periodic(probes as usize, self.octets, self.interval);
        if self.echo { train.echoed() } else { train }
    }
}

/// How sure an estimate is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// The figures hold.
    Conclusive,
    /// Nothing arrived, or nothing came back.
    Nothing,
    /// The sender did not keep the interval in half of the trains or more: delays and losses stand, variation may be its own.
    Untimed,
}

/// Time there and back, in milliseconds, without the time at the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    /// The distribution.
    pub ms: Distribution,
    /// The median and the order statistics around it; `None` for fewer than six.
    pub median_ms: Option<Interval>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// See [`Outcome`].
    pub outcome: Outcome,
    /// Share of the probes that were lost; `None` when none was sent.
    pub loss: Option<Interval>,
    /// What a call would have suffered: by the delay there, of echoed trains by the round trip.
    pub call: Option<Call>,
    /// Round trips, of echoed trains.
    pub round_trips: Option<RoundTrips>,
    /// The line by which the clocks differ, of echoed trains.
    pub clock: Option<ClockLine>,
    /// The way there.
    pub there: Option<Way>,
    /// The way back, of echoed trains.
    pub back: Option<Way>,
    /// Trains that were sent, and their octets.
    pub trains: u32,
    /// See `trains`.
    pub octets: u64,
}

/// The estimator.
#[derive(Clone, Debug)]
pub struct Isochronous {
    options: Options,
    /// Probes that are left to be sent, and those of the train that was asked for.
    left: u32,
    asked: u32,
    ready: Instant,
    /// All probes that were sent, in order.
    probes: Vec<Option<Arrival>>,
    trains: u32,
    untimed: u32,
    octets: u64,
}

impl Isochronous {
    /// Begins at `now`.
    pub fn new(options: Options, now: Instant) -> Self {
        let options = options.held();
        Self {
            left: options.probes_in(options.duration),
            asked: 0,
            ready: now,
            probes: Vec::new(),
            trains: 0,
            untimed: 0,
            octets: 0,
            options,
        }
    }

    /// The probes as datagrams, with a delay of one's choice. A lost one counts as sent with the one before.
    fn datagrams(&self, delay: impl Fn(&Arrival) -> Option<i64>) -> Vec<Datagram> {
        let mut sent_ns = 0;
        let datagrams = (0..).zip(&self.probes).map(|(seq, probe)| {
            sent_ns = probe.map_or(sent_ns, |arrival| arrival.sent_ns);
            let delay_ns = probe.as_ref().and_then(&delay);
            Datagram {
                seq,
                sent_ns,
                delay_ns,
            }
        });
        datagrams.collect()
    }

    fn call(&self) -> Option<Call> {
        let terms = Terms {
            interval: self.options.interval,
            late_after: self.options.late_after,
            least_ns: None,
        };
        let datagrams = if self.options.echo {
            self.datagrams(Arrival::round_trip_ns)
        } else {
            self.datagrams(|arrival| Some(arrival.delay_ns()))
        };
        Call::of(&datagrams, &terms)
    }

    fn round_trips(&self) -> Option<RoundTrips> {
        let arrivals = self.probes.iter().flatten();
        let ns = arrivals.filter_map(Arrival::round_trip_ns);
        let ms: Vec<f64> = ns.map(|ns| ns as f64 / 1e6).collect();
        Some(RoundTrips {
            ms: Distribution::of(ms.iter().copied())?,
            median_ms: interval::median(&ms, LEVEL),
        })
    }

    fn estimate(&self) -> Estimate {
        let epoch = self
            .probes
            .iter()
            .flatten()
            .map(|probe| probe.sent_ns)
            .min();
        let epoch = epoch.unwrap_or(0);
        let clock = ClockLine::fit(&round_trips_of(&self.probes, epoch));
        let call = self.call();
        let outcome = if call.as_ref().is_none_or(|call| call.least_ns.is_none()) {
            Outcome::Nothing
        } else if self.untimed * 2 >= self.trains.max(1) {
            Outcome::Untimed
        } else {
            Outcome::Conclusive
        };
        Estimate {
            outcome,
            loss: call.as_ref().and_then(loss),
            round_trips: self.round_trips(),
            there: way::there(&self.probes, clock.as_ref(), epoch),
            back: way::back(&self.probes, clock.as_ref(), epoch),
            call,
            clock,
            trains: self.trains,
            octets: self.octets,
        }
    }

    /// The first moment in the rhythm of the train that began at `ready`, not before `now`.
    fn next_beat(&self, now: Instant) -> Instant {
        let interval = self.options.interval;
        let after = self.ready + interval.saturating_mul(self.asked);
        let late = now
            .since(after)
            .as_nanos()
            .div_ceil(interval.as_nanos().max(1));
        let late = u64::try_from(late).unwrap_or(u64::MAX);
        let ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        after + Duration::from_nanos(late.saturating_mul(ns))
    }
}

fn loss(call: &Call) -> Option<Interval> {
    stats::proportion::exact(call.lost, call.sent, LEVEL)
}

/// Round trips, with their times from `epoch` on.
fn round_trips_of(probes: &[Option<Arrival>], epoch: u64) -> Vec<RoundTrip> {
    let round_trip = |arrival: &Arrival| {
        Some(RoundTrip {
            t_ns: arrival.sent_ns.saturating_sub(epoch),
            up_ns: arrival.delay_ns(),
            down_ns: arrival.back_ns()?,
        })
    };
    probes.iter().flatten().filter_map(round_trip).collect()
}

impl Estimator for Isochronous {
    type Estimate = Estimate;

    fn next(&mut self) -> Step<Estimate> {
        if self.left == 0 {
            return Step::Done(self.estimate());
        }
        self.asked = self.left.min(self.options.probes_in(MOST));
        Step::Train(self.options.train(self.asked), self.ready)
    }

    fn handle(&mut self, passage: &Passage, now: Instant) {
        let sent = passage.sent.min(self.asked);
        let mut probes: Vec<Option<Arrival>> = vec![None; sent as usize];
        for arrival in &passage.arrivals {
            let place = usize::try_from(arrival.number).unwrap_or(usize::MAX);
            if let Some(probe) = probes.get_mut(place) {
                *probe = Some(*arrival);
            }
        }
        self.probes.append(&mut probes);
        self.left = self.left.saturating_sub(self.asked);
        self.trains = self.trains.saturating_add(1);
        let octets = u64::from(sent).saturating_mul(u64::from(self.options.octets));
        self.octets = self.octets.saturating_add(octets);
        let planned = self
            .options
            .interval
            .saturating_mul(self.asked.saturating_sub(1));
        let untimed = passage.lasted.abs_diff(planned) > self.options.interval || sent < self.asked;
        self.untimed = self.untimed.saturating_add(u32::from(untimed));
        self.ready = self.next_beat(now);
    }
}
