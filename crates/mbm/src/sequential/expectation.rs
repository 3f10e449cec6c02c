//! How a sequential test behaves at a loss rate: Wald's approximations (A. Wald, "Sequential Analysis", 1947, chapter 3).
//!
//! Let z be the logarithm of the likelihood ratio that one packet adds, and h the exponent other than zero for which the mean of
//! `e^(h z)` is 1. Then the test passes with probability `(A^h - 1)/(A^h - B^h)` with `A = (1-beta)/alpha` and
//! `B = beta/(1-alpha)`, and needs on average `(L ln B + (1-L) ln A) / mean(z)` packets.
//!
//! Both take it that the test ends *on* a line. It ends on the passing line, which packets approach in small steps; but a
//! loss jumps over the failing line. A jump is `ln(p1/p0)` high, 1.39 for the ratio of 4, where `ln A` is 2.94 for 5 %. So real tests fail a
//! good path less often than alpha (3.3 % instead of 5 %), pass a bad one hardly more often than beta, and near `p1` take up to a
//! fifth longer than the closed form says. [`Expectation::exact`] has no such error.

use super::{Hypotheses, Sprt, sprt::to_count};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a test behaves at one loss rate.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Expectation {
    /// The loss rate, as a fraction.
    pub p: f64,
    /// Probability that the test passes (the operating characteristic).
    pub pass: f64,
    /// Mean number of packets to the end (the average sample number).
    pub packets: f64,
}

/// Packets of a run length in the reckoning of [`Expectation::exact`].
const FINE: f64 = 2_000.0;
/// Probability that is left when that reckoning stops.
const REST: f64 = 1e-9;
/// Packets at which it stops in any case.
const MOST_STEPS: u64 = 10_000_000;

impl Expectation {
    /// Of `sprt` at loss rate `p`, in Wald's closed form. `None` unless 0 < `p` < 1.
    pub fn wald(sprt: &Sprt, p: f64) -> Option<Self> {
        if !(p > 0.0 && p < 1.0) {
            return None;
        }
        let Hypotheses {
            p0,
            p1,
            alpha,
            beta,
        } = *sprt.hypotheses();
        let (upper, lower) = (((1.0 - beta) / alpha).ln(), (beta / (1.0 - alpha)).ln());
        let (loss, good) = ((p1 / p0).ln(), (-p1).ln_1p() - (-p0).ln_1p());
        let mean = p * loss + (1.0 - p) * good;
        let h = exponent(p, loss, good);
        if h.abs() < 1e-9 || mean.abs() < 1e-12 * (p * loss) {
            // The limit h = 0: the walk has no drift, and ends by its variance.
            let pass = upper / (upper - lower);
            let variance = p * loss * loss + (1.0 - p) * good * good;
            let packets = -upper * lower / variance;
            return Some(Self { p, pass, packets });
        }
        let pass = (h * upper).exp_m1() / ((h * upper).exp() - (h * lower).exp());
        let packets = (pass * lower + (1.0 - pass) * upper) / mean;
        Some(Self { p, pass, packets })
    }

    /// Of `sprt` at loss rate `p`, by following the distribution of the marks packet by packet (L. A. Aroian's direct
    /// method, 1968). `None` unless 0 < `p` < 1.
    ///
    /// For run lengths above some thousands a step is several packets, of which at most one is marked; the error is below 1 %.
    pub fn exact(sprt: &Sprt, p: f64) -> Option<Self> {
        if !(p > 0.0 && p < 1.0) {
            return None;
        }
        let asked = *sprt.hypotheses();
        // Only the ratios of the rates matter when they are small.
        let scale = (1.0 / asked.p0 / FINE).max(1.0);
        if p * scale >= 1.0 {
            return Self::wald(sprt, p);
        }
        let scaled = Hypotheses {
            p0: asked.p0 * scale,
            p1: asked.p1 * scale,
            ..asked
        };
        let sprt = Sprt::new(scaled).ok()?;
        let (pass, steps) = follow(&sprt, p * scale);
        Some(Self {
            p,
            pass,
            packets: steps * scale,
        })
    }
}

/// The h other than zero with `p e^(h loss) + (1-p) e^(h good) = 1`, by bisection; `loss` > 0 > `good`.
fn exponent(p: f64, loss: f64, good: f64) -> f64 {
    let excess = |h: f64| p * (h * loss).exp_m1() + (1.0 - p) * (h * good).exp_m1();
    // The function is convex and zero at 0: the other root lies on the side to which it falls.
    let falls = p * loss + (1.0 - p) * good;
    if falls == 0.0 {
        return 0.0;
    }
    let sign = -falls.signum();
    let mut far = 1.0;
    while excess(sign * far) < 0.0 && far < 1e6 {
        far *= 2.0;
    }
    let mut near = 0.0;
    for _ in 0..200 {
        let middle = f64::midpoint(near, far);
        if excess(sign * middle) < 0.0 {
            near = middle;
        } else {
            far = middle;
        }
    }
    sign * f64::midpoint(near, far)
}

/// Probability of passing and mean number of packets, from the distribution of marks among those that go on.
fn follow(sprt: &Sprt, p: f64) -> (f64, f64) {
    // Shares of those that go on by their number of marks; below `first` nobody does.
    let (mut going, mut first) = (vec![1.0_f64], 0);
    let (mut pass, mut packets, mut n, mut rest) = (0.0, 0.0, 0_u64, 1.0);
    while rest > REST && n < MOST_STEPS {
        packets += rest;
        n += 1;
        one_packet(&mut going, first, p);
        let (pass_line, fail_line) = (sprt.pass_line(n), sprt.fail_line(n));
        rest = 0.0;
        for (m, share) in going.iter_mut().enumerate().skip(first) {
            if m as f64 <= pass_line {
                pass += *share;
                first = m + 1;
                *share = 0.0;
            } else if m as f64 >= fail_line {
                *share = 0.0;
            }
            rest += *share;
        }
        going.truncate(to_index(fail_line));
    }
    (pass, packets)
}

/// Each share from `first` on loses a packet with probability `p`, and moves up.
fn one_packet(going: &mut Vec<f64>, first: usize, p: f64) {
    going.push(0.0);
    let mut below = 0.0;
    for share in going.iter_mut().skip(first) {
        let here = *share;
        *share = here * (1.0 - p) + below * p;
        below = here;
    }
}

/// How many numbers of marks lie below `line`.
fn to_index(line: f64) -> usize {
    usize::try_from(to_count(line.ceil())).unwrap_or(usize::MAX)
}
