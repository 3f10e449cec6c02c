//! Do two sets of samples come from one distribution? The test of Kolmogorov and Smirnov.
//!
//! The statistic `d` is the largest vertical distance between the two distribution functions. It depends on the order of
//! the samples alone, not on their scale, so it suits throughputs that span decades. The probability that chance alone
//! gives a distance as large is Kolmogorov's series with the correction for small sets of M. A. Stephens, "Use of the
//! Kolmogorov-Smirnov, Cramer-von Mises and related statistics without extensive tables" (Journal of the Royal
//! Statistical Society B 32, 1970); good from about four samples each. Ties make it cautious.
//!
//! A large `p` does not prove that the distributions are one; [`critical`] says which distance could have been seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Terms of the series; they vanish long before the last.
const TERMS: i32 = 100;
/// Below it the series converges too slowly, and the probability is 1 to nine digits.
const LEAST_LAMBDA: f64 = 0.2;

/// How far two sets of samples are apart.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct KolmogorovSmirnov {
    /// Largest distance between the two distribution functions, 0 to 1.
    pub d: f64,
    /// Probability of a distance at least as large between two sets from one distribution.
    pub p: f64,
}

/// Compares two sets of samples, in any order; samples that are not finite are left out. `None` when none remain of one.
pub fn two_sample(
    one: impl IntoIterator<Item = f64>,
    other: impl IntoIterator<Item = f64>,
) -> Option<KolmogorovSmirnov> {
    let (one, other) = (sorted(one), sorted(other));
    let n = effective(one.len(), other.len())?;
    let d = distance(&one, &other);
    let lambda = (n.sqrt() + 0.12 + 0.11 / n.sqrt()) * d;
    Some(KolmogorovSmirnov {
        d,
        p: exceedance(lambda),
    })
}

/// The distance that sets of `one` and `other` samples from one distribution exceed in 5 of 100 cases; `None` when one is
/// empty.
pub fn critical(one: usize, other: usize) -> Option<f64> {
    let n = effective(one, other)?;
    // Kolmogorov's distribution exceeds 1.3581 with probability 0.05.
    Some(1.3581 / (n.sqrt() + 0.12 + 0.11 / n.sqrt()))
}

/// The size that counts: half the harmonic mean of the two.
fn effective(one: usize, other: usize) -> Option<f64> {
    let (one, other) = (one as f64, other as f64);
    (one > 0.0 && other > 0.0).then(|| one * other / (one + other))
}

fn sorted(samples: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = samples.into_iter().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The largest difference of the two step functions, looked at after each step of either.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    let share = |set: &[f64], value: f64| {
        set.partition_point(|&sample| sample <= value) as f64 / set.len() as f64
    };
    let steps = one.iter().chain(other);
    steps
        .map(|&value| (share(one, value) - share(other, value)).abs())
        .fold(0.0, f64::max)
}

/// Kolmogorov's series: the probability of more than `lambda`.
fn exceedance(lambda: f64) -> f64 {
    if lambda < LEAST_LAMBDA {
        return 1.0;
    }
    let term = |k: i32| {
        let k = f64::from(k);
        (-2.0 * k * k * lambda * lambda).exp()
    };
    let sum: f64 = (1..TERMS)
        .map(|k| if k % 2 == 1 { term(k) } else { -term(k) })
        .sum();
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use proptest::prelude::*;

    #[test]
    fn the_distance_is_that_of_a_worked_example() {
        // Distribution functions 1/4, 1/2, 3/4, 1 at 1, 2, 3, 4 and 1/3, 2/3, 1 at 2.5, 3.5, 4.5: 1/2 apart at 2.
        let test = two_sample([4.0, 1.0, 3.0, 2.0], [3.5, 2.5, f64::NAN, 4.5]).unwrap();
        assert!((test.d - 0.5).abs() < 1e-12, "{test:?}");
        assert!(two_sample([], [1.0]).is_none());
    }

    #[test]
    fn the_series_has_the_values_of_kolmogorovs_table() {
        // Probabilities of 1.2238, 1.3581 and 1.6276 in any table: 10, 5 and 1 %.
        for (lambda, p) in [(1.2238, 0.10), (1.3581, 0.05), (1.6276, 0.01)] {
            assert!((exceedance(lambda) - p).abs() < 5e-5, "{lambda}");
        }
        let near = exceedance(LEAST_LAMBDA);
        assert!((near - 1.0).abs() < 1e-6, "{near}");
    }

    #[test]
    fn sets_from_one_distribution_are_told_apart_in_one_case_of_twenty() {
        let mut random = SplitMix64::new(3);
        let mut set =
            |mean: f64| -> Vec<f64> { (0..100).map(|_| random.exponential(mean)).collect() };
        let same = (0..2_000).filter(|_| two_sample(set(1.0), set(1.0)).unwrap().p < 0.05);
        let share = same.count() as f64 / 2_000.0;
        assert!((0.03..0.07).contains(&share), "{share}");
        let told = (0..100).filter(|_| two_sample(set(1.0), set(2.0)).unwrap().p < 0.05);
        assert!(told.count() > 90);
    }

    proptest! {
        #[test]
        fn the_test_is_symmetric_and_knows_equal_sets(
            one in prop::collection::vec(-1e3..1e3_f64, 1..40),
            other in prop::collection::vec(-1e3..1e3_f64, 1..40),
        ) {
            let test = two_sample(one.clone(), other.clone()).unwrap();
            prop_assert_eq!(test, two_sample(other, one.clone()).unwrap());
            prop_assert!((0.0..=1.0).contains(&test.d) && (0.0..=1.0).contains(&test.p));
            let same = two_sample(one.clone(), one).unwrap();
            prop_assert_eq!((same.d, same.p), (0.0, 1.0));
        }
    }
}
