//! How sure a share is: `k` of `n` packets were lost, and what can the loss rate be?
//!
//! - [`exact`]: Clopper and Pearson (1934). Never covers less than it promises, whatever the rate; a little wide.
//! - [`wilson`]: Wilson's score interval (1927). Covers on average what it promises; narrower, better for a plot.
//!
//! Both take the events as independent and `n` as chosen beforehand. Losses in bursts, or a test that stops when it has seen
//! enough, make the real uncertainty larger.

use crate::beta;
use crate::interval::Interval;
use core::f64::consts::SQRT_2;

/// The share `k`/`n` with its exact (Clopper-Pearson) interval at confidence `level` (0.95), as fractions. `None` when `n` is
/// zero, `k` exceeds `n`, or `level` is not between 0 and 1.
pub fn exact(k: u64, n: u64, level: f64) -> Option<Interval> {
    let tail = tail(k, n, level)?;
    let (hits, misses) = (k as f64, (n - k) as f64);
    let low = if k == 0 {
        0.0
    } else {
        beta::quantile(tail, hits, misses + 1.0)?
    };
    let high = if k == n {
        1.0
    } else {
        beta::quantile(1.0 - tail, hits + 1.0, misses)?
    };
    Some(Interval {
        estimate: hits / n as f64,
        low,
        high,
    })
}

/// The share `k`/`n` with Wilson's interval at confidence `level`, as fractions. `None` as for [`exact`].
pub fn wilson(k: u64, n: u64, level: f64) -> Option<Interval> {
    let z = normal_quantile(1.0 - tail(k, n, level)?)?;
    let (n, share) = (n as f64, k as f64 / n as f64);
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    Some(Interval {
        estimate: share,
        low: (centre - half).max(0.0),
        high: (centre + half).min(1.0),
    })
}

/// Probability outside of the interval on each side.
fn tail(k: u64, n: u64, level: f64) -> Option<f64> {
    (n > 0 && k <= n && level > 0.0 && level < 1.0).then_some((1.0 - level) / 2.0)
}

/// The z that a standard normal variable stays below with probability `p`. `None` unless 0 < `p` < 1.
pub fn normal_quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

/// The probability that a standard normal variable is at most `z`.
///
/// The square of such a variable is a gamma variable of shape 1/2; its distribution comes from a series near zero and from
/// the continued fraction of Abramowitz and Stegun 26.2.14 in the tails.
pub fn normal_cdf(z: f64) -> f64 {
    let x = z.abs();
    let upper = if x < 3.0 {
        0.5 - centre_mass(x)
    } else {
        tail_mass(x)
    };
    if z < 0.0 { upper } else { 1.0 - upper }
}

/// Probability between 0 and `x`, by the series of Abramowitz and Stegun 26.2.11.
fn centre_mass(x: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term > 1e-17 * sum {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    density(x) * sum
}

/// Probability above `x`, by the continued fraction 1/(x + 1/(x + 2/(x + ..))).
fn tail_mass(x: f64) -> f64 {
    let fraction = (1..=200).rev().fold(x, |below, k| x + f64::from(k) / below);
    density(x) / fraction
}

fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() * core::f64::consts::FRAC_2_SQRT_PI / (2.0 * SQRT_2)
}

#[cfg(test)]
mod tests;
