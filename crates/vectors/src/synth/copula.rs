//! Which value goes with which: a Gaussian copula.
//!
//! A copula says how quantities hang together, and nothing of their distributions. The Gaussian one does it by normal
//! variables: draw a vector of them with given correlations, take of each the share of normal variables below it, and
//! look that share up in the quantity's own distribution. What a monotonic change of scale leaves alone, ranks, is then all
//! that there is; so correlations of ranks (Spearman's) are measured, of which `2 sin(pi r / 6)` is the correlation of the
//! normal variables.
//!
//! A connection has a *nature*: one normal variable each for its number of epochs and its round-trip time, and for what its
//! requests, responses and waits are like. A value of an epoch is its connection's nature in one part and chance in the
//! other; how large the part is, `within`, is the correlation of the first with the second value of the same connection.
//! Ties between quantities of epochs are measured at the first epoch of each connection, which is weaker than the tie of
//! natures by the parts of both, and put right by that.
//!
//! With ties, a distribution that is measured over epochs is no longer exactly that of the fit: if connections of many epochs
//! have small requests, small requests become more.

mod rank;

use crate::chance::{self, Purpose};
use crate::describe::Measure;
use crate::{Epoch, Vector};
use core::borrow::Borrow;
use rank::spearman;
use stats::proportion::normal_cdf;
use stats::random::SplitMix64;

/// Connections that are kept to measure ties.
const SAMPLE: usize = 1 << 16;
/// Fewer pairs say nothing.
const FEW: usize = 30;
/// A correlation of `n` pairs that have none is smaller than this by the root of `n` in 997 of 1,000 cases.
const CHANCE: f64 = 3.0;
/// Where natures are a smaller part of values than this, a tie of natures cannot be told from chance.
const LEAST_PART: f64 = 0.1;

/// Ties of the quantities of sequential connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Copula {
    /// Lower triangle; times its transpose it is the correlations of natures.
    factor: [[f64; Self::SIZE]; Self::SIZE],
    /// The correlation of two values of one connection; 1 for what a connection has once.
    within: [f64; Self::SIZE],
}

/// A sequential connection: the first value of each quantity, and the second of what epochs have.
type Row = [[Option<f64>; Copula::SIZE]; 2];

impl Copula {
    /// Number of quantities.
    pub const SIZE: usize = 6;
    /// What they are, in the order of their places.
    pub const MEASURES: [Measure; Self::SIZE] = [
        Measure::Epochs,
        Measure::MinRttMs,
        Measure::RequestBytes,
        Measure::ResponseBytes,
        Measure::IntraEpochMs,
        Measure::InterEpochMs,
    ];
    /// Place of the number of epochs; so the others.
    pub const EPOCHS: usize = 0;
    /// Round-trip time.
    pub const RTT: usize = 1;
    /// Size of a request.
    pub const REQUEST: usize = 2;
    /// Size of a response.
    pub const RESPONSE: usize = 3;
    /// Wait within an epoch.
    pub const INTRA: usize = 4;
    /// Wait between epochs.
    pub const INTER: usize = 5;

    /// Measures the ties in a set, from at most 65,536 of its sequential connections, which `seed` draws. What too few have
    /// is not tied.
    pub fn measure(set: impl IntoIterator<Item = impl Borrow<Vector>>, seed: u64) -> Self {
        let rows = sample(set, seed);
        let mut within = [1.0; Self::SIZE];
        for (quantity, part) in within.iter_mut().enumerate().skip(Self::REQUEST) {
            *part = normal(&rows, [(0, quantity), (1, quantity)]).clamp(0.0, 1.0);
        }
        let mut ties = [[0.0; Self::SIZE]; Self::SIZE];
        for one in 0..Self::SIZE {
            ties[one][one] = 1.0;
            for other in 0..one {
                let parts = f64::sqrt(within[one] * within[other]);
                let measured = normal(&rows, [(0, one), (0, other)]);
                let tie = if parts > LEAST_PART {
                    measured / parts
                } else {
                    0.0
                };
                ties[one][other] = tie.clamp(-0.99, 0.99);
            }
        }
        Self {
            factor: factor(ties),
            within,
        }
    }

    /// The correlation of two natures.
    pub fn tie(&self, one: usize, other: usize) -> f64 {
        let products = self.factor[one].iter().zip(&self.factor[other]);
        products.map(|(x, y)| x * y).sum()
    }

    /// How far the values of one connection agree, from 0 to 1.
    pub const fn within(&self, quantity: usize) -> f64 {
        self.within[quantity]
    }

    /// Draws what a connection is like.
    pub(super) fn nature(&self, random: &mut SplitMix64) -> [f64; Self::SIZE] {
        let drawn: [f64; Self::SIZE] = core::array::from_fn(|_| standard(random));
        let mix = |row: &[f64; Self::SIZE]| row.iter().zip(&drawn).map(|(x, y)| x * y).sum();
        self.factor.each_ref().map(mix)
    }

    /// The share above a value of one epoch of a connection of this nature.
    pub(super) fn epoch(
        &self,
        nature: &[f64; Self::SIZE],
        quantity: usize,
        random: &mut SplitMix64,
    ) -> f64 {
        let part = self.within[quantity];
        let chance = standard(random);
        Self::share(part.sqrt() * nature[quantity] + (1.0 - part).sqrt() * chance)
    }

    /// The share of normal variables above one, above 0.
    pub(super) fn share(variable: f64) -> f64 {
        normal_cdf(-variable).max(f64::MIN_POSITIVE)
    }
}

/// A normal variable (G. E. P. Box and M. E. Muller, 1958).
fn standard(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (core::f64::consts::TAU * random.unit()).cos()
}

/// Rows of sequential connections, each with the same chance (J. S. Vitter, "Random sampling with a reservoir", 1985,
/// algorithm R).
fn sample(set: impl IntoIterator<Item = impl Borrow<Vector>>, seed: u64) -> Vec<Row> {
    let mut random = chance::of(Purpose::Ties, seed, 0);
    let mut rows: Vec<Row> = Vec::new();
    let set = set.into_iter();
    let sequential = set.filter(|vector| vector.borrow().body.is_sequential());
    for (seen, vector) in sequential.enumerate() {
        if rows.len() < SAMPLE {
            rows.push(row(vector.borrow()));
        } else if let Some(kept) = rows.get_mut(random.below(seen + 1)) {
            *kept = row(vector.borrow());
        }
    }
    rows
}

fn row(vector: &Vector) -> Row {
    let mut epochs = vector.body.epochs();
    let first = epochs.next();
    let second = epochs.next();
    let number = (vector.body.epochs().count()) as f64;
    let mut row = [first, second].map(|epoch| epoch.map_or([None; Copula::SIZE], of_epoch));
    row[0][Copula::EPOCHS] = Some(number);
    row[0][Copula::RTT] = vector.min_rtt.map(|rtt| rtt.as_secs_f64());
    row
}

fn of_epoch(epoch: Epoch) -> [Option<f64>; Copula::SIZE] {
    let size = |bytes: u64| (bytes > 0).then_some(bytes as f64);
    let answered = epoch.a > 0 && epoch.b > 0;
    let mut values = [None; Copula::SIZE];
    values[Copula::REQUEST] = size(epoch.a);
    values[Copula::RESPONSE] = size(epoch.b);
    values[Copula::INTRA] = answered.then_some(epoch.ta.as_secs_f64());
    values[Copula::INTER] = epoch.tb.map(|wait| wait.as_secs_f64());
    values
}

/// The correlation of normal variables that have the rank correlation of two columns; none of too few,
/// or where chance could have made it.
fn normal(rows: &[Row], columns: [(usize, usize); 2]) -> f64 {
    let [one, other] = columns;
    let pair = |row: &Row| Some((row[one.0][one.1]?, row[other.0][other.1]?));
    let pairs: Vec<_> = rows.iter().filter_map(pair).collect();
    let correlation = spearman(&pairs);
    if pairs.len() < FEW || correlation.abs() < CHANCE / (pairs.len() as f64).sqrt() {
        return 0.0;
    }
    2.0 * (core::f64::consts::PI * correlation / 6.0).sin()
}

/// Cholesky's factor of the correlations in the lower triangle. Correlations that were measured pair by pair need not be
/// possible together; then all are drawn towards none until they are.
fn factor(mut ties: [[f64; Copula::SIZE]; Copula::SIZE]) -> [[f64; Copula::SIZE]; Copula::SIZE] {
    loop {
        if let Some(factor) = cholesky(&ties) {
            return factor;
        }
        for (one, row) in ties.iter_mut().enumerate() {
            for tie in &mut row[..one] {
                *tie *= 0.95;
            }
        }
    }
}

fn cholesky(
    ties: &[[f64; Copula::SIZE]; Copula::SIZE],
) -> Option<[[f64; Copula::SIZE]; Copula::SIZE]> {
    let mut factor = [[0.0; Copula::SIZE]; Copula::SIZE];
    for one in 0..Copula::SIZE {
        for other in 0..=one {
            let products = factor[one][..other].iter().zip(&factor[other][..other]);
            let rest: f64 = ties[one][other] - products.map(|(x, y)| x * y).sum::<f64>();
            factor[one][other] = if one == other {
                (rest > 1e-9).then(|| rest.sqrt())?
            } else {
                rest / factor[other][other]
            };
        }
    }
    Some(factor)
}
