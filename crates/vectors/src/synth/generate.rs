//! Vectors, one after the other.

use super::course::Course;
use super::fit::{LossShare, Window};
use super::marginal::Curve;
use super::{Copula, Fit};
use crate::chance::{self, Purpose};
use crate::describe::Measure;
use crate::{Body, Loss, Side, Transport, Turn, Vector};
use core::time::Duration;
use stats::random::SplitMix64;

/// Vectors of a fit, in the order of their starts. The same seed gives the same vectors.
///
/// A connection says nothing before its first ADU is due, and closes when all is said.
#[derive(Clone, Debug)]
pub struct Synthesis {
    curves: Curves,
    /// The span in which connections start.
    pub(super) window: Duration,
    windows: [Vec<(f64, u32)>; 2],
    /// Shares of ends, summed up, and their losses.
    losses: [Vec<(f64, Loss)>; 2],
    concurrent_share: f64,
    copula: Option<Copula>,
    /// How the rate of starts changes. What follows is by its even clock.
    course: Course,
    /// Mean time between starts, in seconds.
    gap: f64,
    /// Starts that are yet to come, when their number is known.
    left: Option<u64>,
    starts: SplitMix64,
    at: f64,
    span: f64,
    seed: u64,
    index: u64,
}

/// A connection whose start is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) index: u64,
    pub(super) at: Duration,
}

/// The distributions of a fit.
#[derive(Clone, Debug)]
struct Curves {
    epochs: Curve,
    request: Curve,
    response: Curve,
    intra: Curve,
    inter: Curve,
    adus: Curve,
    adu: Curve,
    quiet: Curve,
    rtt: Curve,
}

/// Where the shares come from by which distributions are asked.
struct Draw<'a> {
    random: SplitMix64,
    copula: Option<&'a Copula>,
    /// What the connection is like, if there is a copula.
    nature: [f64; Copula::SIZE],
}

impl Synthesis {
    /// Vectors that start within `span`, `share` times as many as the fit says; none when that is no number above 0.
    pub fn new(fit: &Fit, span: Duration, share: f64, seed: u64) -> Self {
        let curve = |measure| fit.curve(measure);
        let rate = fit.starts_per_second * share;
        let rated = rate.is_finite() && rate > 0.0;
        let course = Course::new(&fit.course);
        let even_span = course.even(span.as_secs_f64());
        let losses = |losses: &[LossShare]| {
            let mut sum = 0.0;
            let add = |one: &LossShare| {
                sum += one.share;
                (sum, Loss::from_millionths(millionths(one.loss)))
            };
            losses.iter().map(add).collect()
        };
        let cumulative = |windows: &[Window]| {
            let mut sum = 0.0;
            let add = |window: &Window| {
                sum += window.share;
                (sum, window.octets)
            };
            windows.iter().map(add).collect()
        };
        Self {
            curves: Curves {
                epochs: curve(Measure::Epochs),
                request: curve(Measure::RequestBytes),
                response: curve(Measure::ResponseBytes),
                intra: curve(Measure::IntraEpochMs),
                inter: curve(Measure::InterEpochMs),
                adus: curve(Measure::ConcurrentAdus),
                adu: curve(Measure::ConcurrentAduBytes),
                quiet: curve(Measure::ConcurrentQuietMs),
                rtt: curve(Measure::MinRttMs),
            },
            window: span,
            windows: [
                cumulative(&fit.windows.initiator),
                cumulative(&fit.windows.acceptor),
            ],
            losses: [losses(&fit.losses.initiator), losses(&fit.losses.acceptor)],
            concurrent_share: fit.concurrent_share,
            copula: None,
            course,
            gap: if rated { 1.0 / rate } else { f64::INFINITY },
            left: None,
            starts: chance::of(Purpose::Starts, seed, 0),
            at: 0.0,
            span: even_span,
            seed,
            index: 0,
        }
    }

    /// Ties the quantities of sequential connections to each other as they were in another set.
    #[must_use]
    pub fn with(self, copula: Copula) -> Self {
        Self {
            copula: Some(copula),
            ..self
        }
    }

    /// With exactly so many connections, whatever the fit's rate: each may start at any moment of the span, which is a
    /// Poisson process of which the number is known.
    #[must_use]
    pub fn exactly(self, connections: u64) -> Self {
        Self {
            left: Some(connections),
            ..self
        }
    }

    /// The next connection's start.
    pub(super) fn next_start(&mut self) -> Option<Start> {
        match &mut self.left {
            Some(0) => return None,
            // The least of so many moments of what is left of the span.
            Some(left) => {
                let among = (1.0 - self.starts.unit()).powf(1.0 / *left as f64);
                *left -= 1;
                self.at += (self.span - self.at) * (1.0 - among);
            }
            None => self.at += self.starts.exponential(self.gap),
        }
        // Without a rate the next start is never, or not a number.
        let within = self.at >= 0.0 && (self.at < self.span || self.left.is_some());
        let at = within.then(|| self.course.when(self.at))?;
        let at = Duration::try_from_secs_f64(at).ok()?;
        let index = self.index;
        self.index += 1;
        Some(Start { index, at })
    }

    /// Connections that start in a second at the beginning, and before it.
    pub(super) fn first_rate(&self) -> f64 {
        self.course.first() / self.gap
    }

    /// The random numbers of a connection that started before the beginning, of its age.
    pub(super) const fn age(&self, index: u64) -> SplitMix64 {
        chance::of(Purpose::Ages, self.seed, index)
    }

    /// A connection that started before the beginning.
    pub(super) fn earlier(&self, index: u64, until: Duration) -> Vector {
        self.vector(Purpose::Earlier, index, Duration::ZERO, until)
    }

    /// A connection that starts then.
    pub(super) fn later(&self, start: Start, until: Duration) -> Vector {
        self.vector(Purpose::Synthesis, start.index, start.at, until)
    }

    /// A connection, of which what it says later than `until` after its start may be missing.
    fn vector(&self, purpose: Purpose, index: u64, start: Duration, until: Duration) -> Vector {
        let mut draw = Draw::new(self, purpose, index);
        // A row of their own: what is drawn for the body may end early.
        let mut ends = SplitMix64::new(draw.random.clone().draw());
        let windows = [0, 1].map(|end| window(&self.windows[end], ends.unit()));
        let loss = [0, 1].map(|end| loss(&self.losses[end], ends.unit()));
        let concurrent = draw.random.unit() < self.concurrent_share;
        let rtt = self.curves.rtt.exceeded_by(draw.once(Copula::RTT));
        let body = if concurrent {
            self.curves.concurrent(&mut draw, until)
        } else {
            self.curves.sequential(&mut draw, until)
        };
        Vector {
            transport: Transport::Tcp,
            start,
            ids: [0, index],
            windows,
            min_rtt: Some(millis(rtt)),
            loss,
            mss: None,
            body,
        }
    }
}

impl Iterator for Synthesis {
    type Item = Vector;

    fn next(&mut self) -> Option<Vector> {
        let start = self.next_start()?;
        Some(self.later(start, Duration::MAX))
    }
}

impl Curves {
    fn sequential(&self, draw: &mut Draw<'_>, until: Duration) -> Body {
        let epochs = count(self.epochs.exceeded_by(draw.once(Copula::EPOCHS)));
        let mut turns = Vec::new();
        let mut wait = Duration::ZERO;
        let mut clock = Duration::ZERO;
        for _ in 0..epochs {
            turns.push(Turn {
                side: Side::Initiator,
                bytes: octets(self.request.exceeded_by(draw.again(Copula::REQUEST))),
                wait,
            });
            let response = Turn {
                side: Side::Acceptor,
                bytes: octets(self.response.exceeded_by(draw.again(Copula::RESPONSE))),
                wait: millis(self.intra.exceeded_by(draw.again(Copula::INTRA))),
            };
            turns.push(response);
            clock = clock.saturating_add(wait).saturating_add(response.wait);
            if clock > until {
                break;
            }
            wait = millis(self.inter.exceeded_by(draw.again(Copula::INTER)));
        }
        Body::Sequential {
            turns,
            tail: Some(Duration::ZERO),
        }
    }

    /// Both ends begin at once; each ADU after the first two is of either end.
    fn concurrent(&self, draw: &mut Draw<'_>, until: Duration) -> Body {
        let adus = count(self.adus.exceeded_by(draw.share())).max(2);
        let mut clocks = [Duration::ZERO; 2];
        let mut turns = Vec::new();
        for place in 0..adus {
            let first = place < 2;
            let end = if first { place } else { draw.random.below(2) };
            let wait = if first {
                Duration::ZERO
            } else {
                millis(self.quiet.exceeded_by(draw.share()))
            };
            clocks[end] = clocks[end].saturating_add(wait);
            let turn = Turn {
                side: Side::BOTH[end],
                bytes: octets(self.adu.exceeded_by(draw.share())),
                wait,
            };
            turns.push((clocks[end], turn));
            if clocks.iter().all(|&clock| clock > until) {
                break;
            }
        }
        turns.sort_by_key(|&(begin, _)| begin);
        Body::Concurrent {
            turns: turns.into_iter().map(|(_, turn)| turn).collect(),
            tails: [Some(Duration::ZERO); 2],
        }
    }
}

impl<'a> Draw<'a> {
    fn new(of: &'a Synthesis, purpose: Purpose, index: u64) -> Self {
        let mut random = chance::of(purpose, of.seed, index);
        let copula = of.copula.as_ref();
        let nature = copula.map(|copula| copula.nature(&mut random));
        Self {
            random,
            copula,
            nature: nature.unwrap_or_default(),
        }
    }

    /// The share of values that are larger than the one to draw, above 0.
    fn share(&mut self) -> f64 {
        1.0 - self.random.unit()
    }

    /// The same for a quantity that a connection has once.
    fn once(&mut self, quantity: usize) -> f64 {
        match self.copula {
            Some(_) => Copula::share(self.nature[quantity]),
            None => self.share(),
        }
    }

    /// The same for one that each of its epochs has.
    fn again(&mut self, quantity: usize) -> f64 {
        match self.copula {
            Some(copula) => copula.epoch(&self.nature, quantity, &mut self.random),
            None => self.share(),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating; a fit has no value below zero, and no count above half a million"
)]
fn count(value: f64) -> usize {
    (value as usize).max(1)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating; a fit has no value below zero"
)]
fn octets(value: f64) -> u64 {
    (value.round() as u64).max(1)
}

/// Rounded to microseconds, as files have it.
fn millis(value: f64) -> Duration {
    Duration::from_micros(octets(value * 1e3))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share, from 0 to 1"
)]
fn millionths(share: f64) -> u32 {
    (share * 1e6).round() as u32
}

fn loss(cumulative: &[(f64, Loss)], share: f64) -> Loss {
    let found = cumulative.iter().find(|&&(sum, _)| share < sum);
    found.map_or(Loss::NONE, |&(_, loss)| loss)
}

fn window(cumulative: &[(f64, u32)], share: f64) -> u32 {
    let found = cumulative.iter().find(|&&(sum, _)| share < sum);
    found
        .or_else(|| cumulative.last())
        .map_or(0, |&(_, octets)| octets)
}
