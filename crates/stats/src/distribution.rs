//! Quantiles, and the eight figures by which a record tells a distribution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A distribution in eight figures. All but `n` are in the unit that the field's name ends in.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Distribution {
    /// Number of samples.
    pub n: u64,
    /// Smallest sample.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest sample.
    pub max: f64,
}

impl Distribution {
    /// Describes `samples`, in any order; samples that are not finite are left out. `None` when none remain.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = samples.into_iter().filter(|x| x.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Self {
            n: sorted.len() as u64,
            min,
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            p50: quantile(&sorted, 0.50)?,
            p90: quantile(&sorted, 0.90)?,
            p95: quantile(&sorted, 0.95)?,
            p99: quantile(&sorted, 0.99)?,
            max,
        })
    }
}

/// The `q` quantile (0 to 1) of samples in ascending order (Hyndman and Fan 1996, definition 7).
/// `None` when there are none or `q` is out of range.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let position = q * sorted.len().checked_sub(1)? as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last index"
    )]
    let below = position.floor() as usize;
    let low = *sorted.get(below)?;
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    Some(low + (high - low) * (position - position.floor()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `numpy.percentile(x, [50, 90, 95, 99])` of numpy 2.4 for x = [3, 1, 4, 1, 5, 9, 2, 6].
    #[test]
    fn quantiles_are_those_of_numpy() {
        let d = Distribution::of([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]).unwrap();
        let expected = [3.5, 6.9, 7.95, 8.79];
        for (figure, expected) in [d.p50, d.p90, d.p95, d.p99].into_iter().zip(expected) {
            assert!(
                (figure - expected).abs() < 1e-12,
                "{figure} is not {expected}"
            );
        }
        assert_eq!((d.n, d.min, d.max), (8, 1.0, 9.0));
        assert!((d.mean - 3.875).abs() < 1e-12);
    }

    #[test]
    fn nothing_has_no_distribution() {
        assert_eq!(Distribution::of([]), None);
        assert_eq!(Distribution::of([f64::NAN]), None);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
    }

    proptest! {
        #[test]
        fn figures_are_in_order(samples in proptest::collection::vec(-1e9_f64..1e9, 1..100)) {
            let d = Distribution::of(samples).unwrap();
            let figures = [d.min, d.p50, d.p90, d.p95, d.p99, d.max];
            prop_assert!(figures.is_sorted(), "{figures:?}");
            prop_assert!(d.min <= d.mean && d.mean <= d.max + 1e-6);
        }
    }
}
