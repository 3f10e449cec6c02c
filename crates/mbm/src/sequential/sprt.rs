//! Wald's sequential probability ratio test of a Bernoulli probability.
//!
//! After n packets with m marks the logarithm of the likelihood ratio of `p1` to `p0` is
//! `m ln(p1/p0) + (n - m) ln((1-p1)/(1-p0))`. Its two thresholds become parallel lines in the plane of n and m
//! (RFC 8337 section 7.2): pass when `m <= s n - h1`, fail when `m >= s n + h2`, with
//! `k = ln(p1 (1-p0) / (p0 (1-p1)))`, `h1 = ln((1-alpha)/beta)/k`, `h2 = ln((1-beta)/alpha)/k`, `s = ln((1-p0)/(1-p1))/k`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What is asked: two loss rates and two error probabilities.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Hypotheses {
    /// A loss rate that is good, as a fraction.
    pub p0: f64,
    /// A loss rate that is bad.
    pub p1: f64,
    /// Probability of failing at `p0`, at most.
    pub alpha: f64,
    /// Probability of passing at `p1`, at most.
    pub beta: f64,
}

/// Hypotheses that cannot be told apart.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum HypothesesError {
    /// The loss rates are not in order.
    #[error(
        "loss rates must be 0 < p0 < p1 < 1, not {p0} and {p1}: a longer run length lowers both"
    )]
    Rates {
        /// The good one.
        p0: f64,
        /// The bad one.
        p1: f64,
    },
    /// The errors are not those of a test.
    #[error(
        "alpha and beta are above 0 and together below 1, not {alpha} and {beta}: 0.05 each is usual"
    )]
    Errors {
        /// Probability of failing a good path.
        alpha: f64,
        /// Probability of passing a bad one.
        beta: f64,
    },
}

impl Hypotheses {
    /// For a run length of `packets`: `p0 = 1/R` and `p1 = 4/R`.
    pub fn for_run_length(packets: u64, alpha: f64, beta: f64) -> Self {
        let p0 = 1.0 / packets as f64;
        Self {
            p0,
            p1: super::RATIO * p0,
            alpha,
            beta,
        }
    }
}

/// What the packets so far say.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The loss rate is low enough: H0 is accepted.
    Accept,
    /// The loss rate is too high: H1 is accepted.
    Reject,
    /// Not enough packets to tell.
    Continue,
}

/// The two lines of the test in the plane of packets and marks, for a plot: of `n` packets up to `marks_per_packet n - below`
/// pass, and from `marks_per_packet n + above` on fail.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Lines {
    /// By how many marks both lines rise with each packet.
    pub marks_per_packet: f64,
    /// How many marks the passing line is below zero before the first packet.
    pub below: f64,
    /// How many marks the failing line is above it.
    pub above: f64,
}

/// The test. A value: it remembers nothing, the counts are the caller's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    hypotheses: Hypotheses,
    /// Distance of the passing line below the middle one, in marks.
    h1: f64,
    /// Distance of the failing line above it.
    h2: f64,
    /// Marks per packet along the lines.
    slope: f64,
}

impl Sprt {
    /// The test of `hypotheses`.
    ///
    /// # Errors
    /// [`HypothesesError`] when the loss rates or the errors are not in order.
    pub fn new(hypotheses: Hypotheses) -> Result<Self, HypothesesError> {
        let Hypotheses {
            p0,
            p1,
            alpha,
            beta,
        } = hypotheses;
        if !(p0 > 0.0 && p0 < p1 && p1 < 1.0) {
            return Err(HypothesesError::Rates { p0, p1 });
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err(HypothesesError::Errors { alpha, beta });
        }
        let good = (-p0).ln_1p() - (-p1).ln_1p();
        let k = (p1 / p0).ln() + good;
        let sprt = Self {
            hypotheses,
            h1: ((1.0 - alpha) / beta).ln() / k,
            h2: ((1.0 - beta) / alpha).ln() / k,
            slope: good / k,
        };
        // Rates so close, or so small, that the lines cannot be reckoned.
        let is_usable = [sprt.h1, sprt.h2, sprt.slope, 1.0 / sprt.slope]
            .iter()
            .all(|x| x.is_finite() && *x > 0.0);
        if is_usable {
            Ok(sprt)
        } else {
            Err(HypothesesError::Rates { p0, p1 })
        }
    }

    /// What is asked.
    pub const fn hypotheses(&self) -> &Hypotheses {
        &self.hypotheses
    }

    /// Its lines, for a plot.
    pub const fn lines(&self) -> Lines {
        Lines {
            marks_per_packet: self.slope,
            below: self.h1,
            above: self.h2,
        }
    }

    /// At most so many marks among `n` packets pass; negative while no number does.
    pub fn pass_line(&self, n: u64) -> f64 {
        self.slope.mul_add(n as f64, -self.h1)
    }

    /// So many marks among `n` packets fail.
    pub fn fail_line(&self, n: u64) -> f64 {
        self.slope.mul_add(n as f64, self.h2)
    }

    /// What `m` marks among `n` packets say.
    pub fn decide(&self, n: u64, m: u64) -> Decision {
        let marks = m as f64;
        if marks <= self.pass_line(n) {
            Decision::Accept
        } else if marks >= self.fail_line(n) {
            Decision::Reject
        } else {
            Decision::Continue
        }
    }

    /// The fewest packets, with `m` marks among them, that pass: what is missing for a verdict when nothing more is lost.
    pub fn packets_to_pass(&self, m: u64) -> u64 {
        let packets = ((m as f64 + self.h1) / self.slope).ceil().max(0.0);
        // The quotient may be off by one in the last bit.
        let packets = to_count(packets);
        if self.decide(packets, m) == Decision::Accept {
            packets
        } else {
            packets.saturating_add(1)
        }
    }

    /// The fewest marks among `n` packets that fail.
    pub fn marks_to_fail(&self, n: u64) -> u64 {
        to_count(self.fail_line(n).ceil())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative; saturates far above any count"
)]
pub(super) fn to_count(x: f64) -> u64 {
    x.max(0.0) as u64
}
