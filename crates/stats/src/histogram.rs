//! Counts in buckets that grow by a constant factor: any figure within 9 %, whatever its magnitude, in a few hundred numbers.
//!
//! The buckets are those of OpenTelemetry's exponential histograms of scale 3 and of Prometheus' native histograms of schema 3: eight to a
//! doubling, with a bound at each power of two. Histograms of many runs add up, which quantiles do not.

use std::collections::BTreeMap;

/// Buckets to a doubling are two to the power of this.
pub const SCALE: i32 = 3;
/// The same, as a number.
const TO_A_DOUBLING: i32 = 1 << SCALE;
/// What is beyond these is counted at them, so that no figure makes the histogram long.
const RANGE: (f64, f64) = (1e-9, 1e9);

/// How often figures were how large.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// By number; the others are empty.
    buckets: BTreeMap<i32, u64>,
    zeros: u64,
    sum: f64,
}

impl Histogram {
    /// Counts `value`. One that is not above zero counts as zero, and one that is no number not at all.
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        if value <= 0.0 {
            self.zeros += 1;
            return;
        }
        let value = value.clamp(RANGE.0, RANGE.1);
        self.sum += value;
        // From -240 to 239: see the range.
        #[expect(clippy::cast_possible_truncation, reason = "a small number")]
        let number = (value.log2() * f64::from(TO_A_DOUBLING)).ceil() as i32 - 1;
        *self.buckets.entry(number).or_default() += 1;
    }

    /// How many figures were counted.
    pub fn count(&self) -> u64 {
        self.zeros + self.buckets.values().sum::<u64>()
    }

    /// Their sum.
    pub const fn sum(&self) -> f64 {
        self.sum
    }

    /// How many were zero.
    pub const fn zeros(&self) -> u64 {
        self.zeros
    }

    /// The buckets that are not empty, in ascending order, with their counts. Bucket n has what is above 2^(n/8) and at most 2^((n + 1)/8).
    pub fn buckets(&self) -> impl Iterator<Item = (i32, u64)> {
        self.buckets.iter().map(|(number, count)| (*number, *count))
    }

    /// How many figures were at most two to the power of `exponent`.
    pub fn at_most(&self, exponent: i32) -> u64 {
        let below = exponent.saturating_mul(TO_A_DOUBLING);
        let within = self.buckets.range(..below).map(|(_, count)| count);
        self.zeros + within.sum::<u64>()
    }
}

impl Extend<f64> for Histogram {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        for value in values {
            self.add(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[f64]) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.extend(values.iter().copied());
        histogram
    }

    #[test]
    fn a_bucket_has_its_upper_bound_and_not_its_lower() {
        let histogram = of(&[1.0, 1.000_001, 2.0, 0.5]);
        let buckets: Vec<_> = histogram.buckets().collect();
        assert_eq!(buckets, [(-9, 1), (-1, 1), (0, 1), (7, 1)]);
        assert_eq!(
            [-2, -1, 0, 1].map(|exponent| histogram.at_most(exponent)),
            [0, 1, 2, 4]
        );
    }

    #[test]
    fn what_is_no_figure_is_not_counted_and_what_is_far_out_costs_nothing() {
        let histogram = of(&[f64::NAN, 0.0, -1.0, f64::INFINITY, f64::MIN_POSITIVE, 1e300]);
        assert_eq!((histogram.count(), histogram.zeros()), (5, 2));
        assert_eq!(histogram.buckets().count(), 2);
        assert!(histogram.sum().is_finite());
    }

    proptest! {
        #[test]
        fn each_figure_is_within_the_bounds_of_its_bucket(value in 1e-6..1e6_f64) {
            let histogram = of(&[value]);
            let (number, count) = histogram.buckets().next().unwrap();
            let bound = |number: i32| (f64::from(number) / f64::from(TO_A_DOUBLING)).exp2();
            prop_assert_eq!(count, 1);
            prop_assert!(bound(number) <= value * (1.0 + 1e-12) && value <= bound(number + 1) * (1.0 + 1e-12));
        }
    }
}
