//! How sure a mean, a median, or a difference between two sets of runs is.
//!
//! A figure from a few repeated runs is an estimate; its confidence interval says which true values are compatible with
//! them. What is compared must be *independent*: whole runs, not the samples within one, which follow each other. Only
//! [`mean_in_time`] is for those.
//!
//! - [`mean`]: Student's t interval. Right for normal values; good for means of anything from about ten runs.
//! - [`mean_in_time`]: the same for values that follow each other at even times, such as rates by the second of one run, of which
//!   neighbours are alike: it counts only as many as are independent.
//! - [`difference_of_means`]: Welch's (1947) t with the Welch-Satterthwaite degrees of freedom: the two sets may have
//!   different variances and sizes.
//! - [`median`]: order statistics (Conover, "Practical Nonparametric Statistics", section 3.2). Exact for any distribution.
//! - [`difference_of_medians`]: percentile bootstrap (Efron 1979) with a given seed, so a record gives the same interval
//!   each time. For long tails, such as page load times.
//!
//! A difference whose interval leaves zero out is one that these runs show ([`Interval::excludes`]).

use crate::random::SplitMix64;
use crate::{quantile, student};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Resamples of the bootstrap. The ends of the interval, the 50th values from each end, vary by a few per cent of its
/// width from seed to seed.
pub const RESAMPLES: usize = 2_000;

/// An estimate and the confidence interval around it, in the unit of the samples.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Interval {
    /// The estimate itself.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies outside of the interval: for a difference, `excludes(0.0)`.
    pub fn excludes(&self, value: f64) -> bool {
        value < self.low || value > self.high
    }

    fn around(estimate: f64, half: f64) -> Option<Self> {
        let interval = Self {
            estimate,
            low: estimate - half,
            high: estimate + half,
        };
        (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
    }
}

/// Number, mean and standard deviation of a set of samples.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Moments {
    /// Number of samples.
    pub n: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the population as the samples show it (divisor n - 1).
    pub sd: f64,
}

impl Moments {
    /// Of `samples`, of which those that are not finite are left out. `None` for fewer than two.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let finite = finite(samples);
        let n = finite.len();
        if n < 2 {
            return None;
        }
        let mean = finite.iter().sum::<f64>() / n as f64;
        let squares: f64 = finite.iter().map(|x| (x - mean).powi(2)).sum();
        let sd = (squares / (n - 1) as f64).sqrt();
        (mean.is_finite() && sd.is_finite()).then_some(Self {
            n: n as u64,
            mean,
            sd,
        })
    }

    /// Square of the standard error of the mean.
    fn squared_error(&self) -> f64 {
        self.sd * self.sd / self.n as f64
    }
}

/// The mean of `samples` with its interval at confidence `level` (0.95). `None` for fewer than two finite samples.
pub fn mean(samples: &[f64], level: f64) -> Option<Interval> {
    let moments = Moments::of(samples)?;
    let t = student::quantile(f64::midpoint(1.0, level), (moments.n - 1) as f64)?;
    Interval::around(moments.mean, t * moments.squared_error().sqrt())
}

/// The mean of `values` that follow each other at even times, with its interval at confidence `level`, and the number of independent
/// values among them.
///
/// Of n values of which neighbours correlate by r, the mean is as uncertain as one of n (1 - r) / (1 + r) independent ones, if what is
/// farther apart correlates by powers of r (Bayley and Hammersley, "The 'effective' number of independent observations in an
/// autocorrelated time series", 1946). Neighbours that differ more than by chance (r < 0) are taken as independent. `None` for fewer
/// than three values, and where not even two are independent.
pub fn mean_in_time(values: &[f64], level: f64) -> Option<(Interval, f64)> {
    let moments = Moments::of(values).filter(|moments| moments.n > 2)?;
    let r = neighbours(values, &moments).clamp(0.0, 1.0);
    let independent = moments.n as f64 * (1.0 - r) / (1.0 + r);
    if independent < 2.0 {
        return None;
    }
    let t = student::quantile(f64::midpoint(1.0, level), independent - 1.0)?;
    let interval = Interval::around(moments.mean, t * moments.sd / independent.sqrt())?;
    Some((interval, independent))
}

/// Correlation of each value with the next (Box and Jenkins' r1); 0 of values that are all alike.
fn neighbours(values: &[f64], moments: &Moments) -> f64 {
    let off = |x: f64| x - moments.mean;
    let squares: f64 = values.iter().map(|x| off(*x).powi(2)).sum();
    let products: f64 = values.windows(2).map(|w| off(w[0]) * off(w[1])).sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

/// Mean of `b` less mean of `a`, with its interval at confidence `level`. `None` when either has fewer than two finite
/// samples.
pub fn difference_of_means(a: &[f64], b: &[f64], level: f64) -> Option<Interval> {
    let (a, b) = (Moments::of(a)?, Moments::of(b)?);
    let (error_a, error_b) = (a.squared_error(), b.squared_error());
    let error = error_a + error_b;
    if error <= 0.0 {
        return Interval::around(b.mean - a.mean, 0.0);
    }
    // As parts of the whole, so that no square overflows.
    let (part_a, part_b) = (error_a / error, error_b / error);
    let freedom = 1.0 / (part_a * part_a / (a.n - 1) as f64 + part_b * part_b / (b.n - 1) as f64);
    let t = student::quantile(f64::midpoint(1.0, level), freedom)?;
    Interval::around(b.mean - a.mean, t * error.sqrt())
}

/// The median of `samples` with the narrowest pair of order statistics that covers it with confidence `level` or more.
/// `None` when there are too few: 6 are needed for 0.95.
pub fn median(samples: &[f64], level: f64) -> Option<Interval> {
    let sorted = finite(samples);
    let n = sorted.len();
    let tail = (1.0 - level) / 2.0;
    // Probability of exactly k of n samples below the median: binomial(n, 1/2), by logarithms for large n.
    let mut log_term = -(n as f64) * core::f64::consts::LN_2;
    let mut below = 0.0;
    let mut k = 0;
    while k < n / 2 && below + log_term.exp() <= tail {
        below += log_term.exp();
        log_term += ((n - k) as f64 / (k + 1) as f64).ln();
        k += 1;
    }
    let estimate = quantile(&sorted, 0.5)?;
    (k > 0).then(|| Interval {
        estimate,
        low: sorted[k - 1],
        high: sorted[n - k],
    })
}

/// Median of `b` less median of `a`, with its bootstrap interval at confidence `level`: the same for the same `seed`.
/// `None` when either has fewer than two finite samples, or `level` is not between 0 and 1.
pub fn difference_of_medians(a: &[f64], b: &[f64], level: f64, seed: u64) -> Option<Interval> {
    let (a, b) = (finite(a), finite(b));
    if a.len() < 2 || b.len() < 2 || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let mut random = SplitMix64::new(seed);
    let mut scratch = Vec::new();
    let mut differences = (0..RESAMPLES)
        .map(|_| {
            let of_a = resampled_median(&a, &mut random, &mut scratch)?;
            Some(resampled_median(&b, &mut random, &mut scratch)? - of_a)
        })
        .collect::<Option<Vec<f64>>>()?;
    differences.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        estimate: quantile(&b, 0.5)? - quantile(&a, 0.5)?,
        low: quantile(&differences, (1.0 - level) / 2.0)?,
        high: quantile(&differences, f64::midpoint(1.0, level))?,
    })
}

/// The median of as many values of `sorted` as there are, drawn with replacement.
fn resampled_median(
    sorted: &[f64],
    random: &mut SplitMix64,
    scratch: &mut Vec<f64>,
) -> Option<f64> {
    scratch.clear();
    scratch.extend(sorted.iter().map(|_| sorted[random.below(sorted.len())]));
    scratch.sort_unstable_by(f64::total_cmp);
    quantile(scratch, 0.5)
}

/// The finite ones of `samples` in ascending order.
fn finite(samples: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = samples.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests;
