//! A distribution through printed quantiles.
//!
//! Between two quantiles lies a piece of a Pareto distribution: the logarithm of the value grows in proportion to that of the
//! share above it, a straight line in D's plots of the tail. With `u` the share above a value, a piece that begins at
//! `(u0, x0)` is
//!
//! ```text
//! x(u) = x0 (u0 / u)^k        k = ln(x1 / x0) / ln(u0 / u1)
//! ```
//!
//! and the integral of a power of it is known, so means and deviations are exact. The last piece has no second end. Its
//! exponent is the one at which the mean is the printed one; no value is larger than `most`.
//!
//! A time that is printed was seen in a capture, which has those only that begin and end within it: of times `w` the part
//! `1 - w / capture`. So of all times more are long than of those that are seen. What is seen of a piece is its share less its
//! mean as a part of the capture; its share of all times is made so large that what is seen of it is what is printed, and the
//! tail so heavy that the mean of what is seen is.

use super::statement::Statistic;
use serde::Deserialize;

/// The steepest tail that is tried. At 1 the mean of an unbounded tail is infinite.
const STEEPEST: f64 = 8.0;
/// Rounds in which the shares of pieces settle: their shape depends on their shares, and what is seen of them on their shape.
const ROUNDS: u32 = 16;

/// A distribution as it is written in a file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Marginal {
    /// No value is smaller.
    pub least: f64,
    /// No value is larger.
    pub most: f64,
    /// Whether values are whole numbers of things. Then a knot's value is the first that a share `1 - p` reaches.
    #[serde(default)]
    pub whole: bool,
    /// Exponent of the tail; if none, it is made to fit the mean.
    pub tail: Option<f64>,
    /// The printed mean.
    pub mean: Cited,
    /// Quantiles, ascending.
    pub knots: Vec<Knot>,
    /// What else is printed, to be compared and not fitted.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// A number and where it stands.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Cited {
    /// The number.
    pub value: f64,
    /// The section that prints it, or `derived`, or `assumed`.
    pub from: String,
}

/// A quantile.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Knot {
    /// The share of values below, between 0 and 1.
    pub p: f64,
    /// The value.
    pub value: f64,
    /// The section that prints it, or `assumed`.
    pub from: String,
}

/// A figure that the fit does not use.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Which.
    pub statistic: Statistic,
    /// What is printed.
    pub value: f64,
    /// The section that prints it.
    pub from: String,
}

/// A distribution that can be drawn from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pieces: Vec<Piece>,
    most: f64,
    whole: bool,
    /// In which values are seen, if they are times.
    capture: Option<f64>,
}

/// From share `u0` above down to `u1`; the last down to zero.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    u0: f64,
    u1: f64,
    x0: f64,
    k: f64,
}

impl Marginal {
    /// Whether its numbers can be a distribution.
    pub(super) fn is_sound(&self) -> bool {
        let finite = |value: f64| value.is_finite() && value > 0.0;
        let shares = self.knots.iter().map(|knot| knot.p);
        let values = self.knots.iter().map(|knot| knot.value);
        let ends = [self.least, self.most];
        let all = values.clone().chain(ends).chain([self.mean.value]);
        let chain = [self.least].into_iter().chain(values).chain([self.most]);
        !self.knots.is_empty()
            && all.into_iter().all(finite)
            && chain.is_sorted()
            && shares.clone().all(|p| p > 0.0 && p < 1.0)
            && shares.is_sorted_by(|one, other| one < other)
            && self.tail.is_none_or(|k| (0.0..=STEEPEST).contains(&k))
    }

    /// The distribution, with its tail fitted, of what was seen in a `capture` of this length, if it is a time.
    pub(super) fn curve(&self, capture: Option<f64>) -> Curve {
        let with = |tail| Curve::new(self, tail, capture);
        if let Some(tail) = self.tail {
            return with(tail);
        }
        let (mut low, mut high) = (0.0, STEEPEST);
        for _ in 0..45 {
            let middle = f64::midpoint(low, high);
            if with(middle).seen_mean() < self.mean.value {
                low = middle;
            } else {
                high = middle;
            }
        }
        with(f64::midpoint(low, high))
    }
}

impl Curve {
    fn new(marginal: &Marginal, tail: f64, capture: Option<f64>) -> Self {
        let (mut u0, mut x0) = (1.0, marginal.least);
        let mut pieces = Vec::with_capacity(marginal.knots.len() + 1);
        for knot in &marginal.knots {
            let u1 = 1.0 - knot.p;
            let k = (knot.value / x0).ln() / (u0 / u1).ln();
            pieces.push(Piece { u0, u1, x0, k });
            (u0, x0) = (u1, knot.value);
        }
        pieces.push(Piece {
            u0,
            u1: 0.0,
            x0,
            k: tail,
        });
        let mut curve = Self {
            pieces,
            most: marginal.most,
            whole: marginal.whole,
            capture,
        };
        if let Some(capture) = capture {
            let seen: Vec<f64> = curve.pieces.iter().map(Piece::share).collect();
            for _ in 0..ROUNDS {
                curve.settle(&seen, capture);
            }
        }
        curve
    }

    /// Gives each piece the share of all of which a capture sees what it is `seen` of.
    fn settle(&mut self, seen: &[f64], capture: f64) {
        let part = |piece: &Piece| piece.seen(capture, self.most) / piece.share();
        let all = self.pieces.iter().zip(seen);
        let shares: Vec<f64> = all
            .map(|(piece, seen)| seen / part(piece).max(f64::EPSILON))
            .collect();
        let sum: f64 = shares.iter().sum();
        let mut above = shares.iter().sum::<f64>();
        let ends: Vec<f64> = self.pieces.iter().skip(1).map(|piece| piece.x0).collect();
        for (place, (piece, share)) in self.pieces.iter_mut().zip(shares).enumerate() {
            piece.u0 = above / sum;
            above -= share;
            if let Some(end) = ends.get(place) {
                piece.u1 = above / sum;
                piece.k = (end / piece.x0).ln() / (piece.u0 / piece.u1).ln();
            }
        }
    }

    /// The value that a share `u` of all exceeds, `u` from 0 to 1.
    pub(super) fn exceeded_by(&self, u: f64) -> f64 {
        let piece = self.pieces.iter().find(|piece| u > piece.u1);
        let value = piece.map_or(self.most, |piece| piece.x0 * (piece.u0 / u).powf(piece.k));
        let value = value.min(self.most);
        if self.whole { value.floor() } else { value }
    }

    /// The share of values that are at least `value`.
    pub(super) fn share_from(&self, value: f64) -> f64 {
        let value = if self.whole { value.ceil() } else { value };
        if value > self.most {
            return 0.0;
        }
        let piece = self.pieces.iter().rev().find(|piece| value > piece.x0);
        piece.map_or(1.0, |piece| {
            let share = piece.u0 * (piece.x0 / value).powf(1.0 / piece.k);
            share.max(piece.u1)
        })
    }

    /// The mean.
    pub(super) fn mean(&self) -> f64 {
        self.moment(1)
    }

    /// The mean of what is seen.
    pub(super) fn seen_mean(&self) -> f64 {
        self.seen_moment(1)
    }

    /// The standard deviation of what is seen.
    pub(super) fn seen_deviation(&self) -> f64 {
        let mean = self.seen_mean();
        (self.seen_moment(2) - mean * mean).max(0.0).sqrt()
    }

    fn seen_moment(&self, power: i32) -> f64 {
        let moment = self.moment(power);
        self.capture.map_or(moment, |capture| {
            (moment - self.moment(power + 1) / capture) / (1.0 - self.mean() / capture)
        })
    }

    /// The share of values that are at least `value`, of those that are seen.
    pub(super) fn seen_share_from(&self, value: f64) -> f64 {
        let Some(capture) = self.capture else {
            return self.share_from(value);
        };
        let above = |piece: &Piece, value: f64| {
            let u0 = self.share_from(value).clamp(piece.u1, piece.u0);
            let rest = Piece {
                u0,
                x0: value.max(piece.x0),
                ..*piece
            };
            rest.seen(capture, self.most)
        };
        let sum = |value: f64| -> f64 { self.pieces.iter().map(|piece| above(piece, value)).sum() };
        sum(value) / sum(0.0)
    }

    /// The value that a share `u` exceeds, of those that are seen.
    pub(super) fn seen_exceeded_by(&self, u: f64) -> f64 {
        if self.capture.is_none() {
            return self.exceeded_by(u);
        }
        let (mut low, mut high) = (0.0, self.most);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if self.seen_share_from(middle) > u {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// The mean of a power of the values. Of whole numbers it is a sum over them: each `n` adds what its power is more
    /// than that of `n - 1`, for the share of values that reach it.
    fn moment(&self, power: i32) -> f64 {
        if !self.whole {
            let pieces = self.pieces.iter();
            return pieces.map(|piece| piece.moment(power, self.most)).sum();
        }
        let mut sum = 0.0;
        let mut n = 1.0;
        while n <= self.most {
            sum += (f64::powi(n, power) - f64::powi(n - 1.0, power)) * self.share_from(n);
            n += 1.0;
        }
        sum
    }
}

impl Piece {
    /// Its share of all.
    const fn share(&self) -> f64 {
        self.u0 - self.u1
    }

    /// The share of all that is of it and seen in a capture.
    fn seen(&self, capture: f64, most: f64) -> f64 {
        self.share() - self.moment(1, most) / capture
    }

    /// The integral of the power of x over u, where x is `most` as soon as it would be more.
    fn moment(&self, power: i32, most: f64) -> f64 {
        let full = if self.k > 0.0 {
            self.u0 * (self.x0 / most).powf(1.0 / self.k)
        } else {
            0.0
        };
        let (from, capped) = if full > self.u1 {
            (full, full - self.u1)
        } else {
            (self.u1, 0.0)
        };
        // (1 - r^s) / s, which is -ln r at s = 0, and 1 / s at r = 0 for s > 0.
        let s = 1.0 - f64::from(power) * self.k;
        let ln_r = (from / self.u0).ln();
        let integral = if s.abs() < 1e-12 {
            -ln_r
        } else {
            -(s * ln_r).exp_m1() / s
        };
        self.x0.powi(power) * self.u0 * integral + most.powi(power) * capped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pareto(tail: Option<f64>, most: f64, mean: f64, whole: bool) -> Marginal {
        let knot = Knot {
            p: 0.5,
            value: 200.0,
            from: "assumed".into(),
        };
        Marginal {
            least: 100.0,
            most,
            whole,
            tail,
            mean: Cited {
                value: mean,
                from: "assumed".into(),
            },
            knots: vec![knot],
            checks: Vec::new(),
        }
    }

    /// One Pareto distribution of k = 1 in two pieces: x = 100 / u up to 10,000, whose mean is 100 (1 + ln 100).
    #[test]
    fn a_pareto_distribution_has_its_moments() {
        let curve = pareto(Some(1.0), 1e4, 1.0, false).curve(None);
        let mean = 100.0 * (1.0 + 100.0_f64.ln());
        assert!((curve.mean() - mean).abs() < 1e-6, "{}", curve.mean());
        // E[x^2] = 100^2 (1 / 0.01 - 1) + 10,000^2 x 0.01
        let square: f64 = 1e4 * 99.0 + 1e6;
        let deviation = (square - mean * mean).sqrt();
        assert!((curve.seen_deviation() - deviation).abs() < 1e-6);
        for u in [0.9, 0.5, 0.25, 0.02] {
            assert!((curve.exceeded_by(u) - 100.0 / u).abs() < 1e-9);
            assert!((curve.share_from(100.0 / u) - u).abs() < 1e-12);
        }
        let ends = [0.0, 0.001, 1.0].map(|u| curve.exceeded_by(u));
        assert!(
            ends.iter()
                .zip([1e4, 1e4, 100.0])
                .all(|(x, y)| (x - y).abs() < 1e-9)
        );
    }

    #[test]
    fn the_tail_fits_the_mean() {
        for (mean, whole) in [(300.0, false), (300.0, true), (5_000.0, false)] {
            let curve = pareto(None, 1e5, mean, whole).curve(None);
            assert!((curve.mean() / mean - 1.0).abs() < 1e-9, "{}", curve.mean());
        }
    }

    /// Of times up to 10,000 in a capture of as much, what is seen has the mean and the quantiles that were asked for; of all,
    /// more are long.
    #[test]
    fn what_a_capture_sees_is_what_is_printed() {
        for mean in [300.0, 500.0, 700.0] {
            let curve = pareto(None, 1e4, mean, false).curve(Some(1e4));
            assert!((curve.seen_mean() / mean - 1.0).abs() < 1e-9, "{mean}");
            assert!((curve.seen_share_from(200.0) - 0.5).abs() < 1e-9);
            assert!((curve.seen_exceeded_by(0.5) / 200.0 - 1.0).abs() < 1e-9);
            assert!(curve.share_from(200.0) > 0.5 && curve.mean() > mean);
            // The same by drawing: a time w is seen with the chance 1 - w / 10,000.
            let n = 200_000;
            let values = (0..n).map(|at| curve.exceeded_by((f64::from(at) + 0.5) / f64::from(n)));
            let (mut seen, mut sum, mut long) = (0.0, 0.0, 0.0);
            for value in values {
                let part = 1.0 - value / 1e4;
                seen += part;
                sum += part * value;
                long += if value >= 200.0 { part } else { 0.0 };
            }
            assert!((sum / seen / mean - 1.0).abs() < 1e-3, "{}", sum / seen);
            assert!((long / seen - 0.5).abs() < 1e-3, "{}", long / seen);
        }
    }

    #[test]
    fn moments_are_those_of_the_values() {
        for whole in [false, true] {
            let curve = pareto(Some(0.4), 1e6, 1.0, whole).curve(None);
            let n = 1_000_000;
            let values = (0..n).map(|at| curve.exceeded_by((f64::from(at) + 0.5) / f64::from(n)));
            let mean = values.sum::<f64>() / f64::from(n);
            assert!(
                (curve.mean() / mean - 1.0).abs() < 1e-3,
                "{mean} {}",
                curve.mean()
            );
        }
    }

    #[test]
    fn what_is_no_distribution_is_seen() {
        let sound = || pareto(None, 1e5, 300.0, false);
        assert!(sound().is_sound());
        let mut unsound = [sound(), sound(), sound(), sound()];
        unsound[0].least = 0.0;
        unsound[1].most = 150.0;
        unsound[2].knots[0].p = 1.0;
        unsound[3].knots.clear();
        assert!(unsound.iter().all(|marginal| !marginal.is_sound()));
    }
}
