//! Confidence intervals of a mean and of the difference of two, where there are too few observations told as such.
//!
//! The interval of a mean is Student's, that of a difference Welch's ([`stats::interval`]).

use stats::interval;

/// The confidence of every interval here.
pub(super) const CONFIDENCE: f64 = 0.95;

/// An estimate, and between what it lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// Both ends; none when there are too few observations to say.
    pub ends: Option<(f64, f64)>,
}

/// The mean of `values`; `None` without any.
pub(super) fn of_mean(values: &[f64]) -> Option<Interval> {
    let found = interval::mean(values, CONFIDENCE);
    Some(Interval {
        mean: mean(values)?,
        ends: found.map(|found| (found.low, found.high)),
    })
}

/// How much higher the mean of `values` is than that of `base`; `None` when either is empty.
pub(super) fn of_difference(values: &[f64], base: &[f64]) -> Option<Interval> {
    let found = interval::difference_of_means(base, values, CONFIDENCE);
    Some(Interval {
        mean: mean(values)? - mean(base)?,
        ends: found.map(|found| (found.low, found.high)),
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_the_first_less_the_second_and_one_value_has_no_interval() {
        let interval = of_difference(&[110.0, 112.0, 114.0], &[10.0, 11.0, 12.0]).unwrap();
        assert!((interval.mean - 101.0).abs() < 1e-9);
        let (low, high) = interval.ends.unwrap();
        assert!(low < 101.0 && high > 101.0);
        assert_eq!(of_mean(&[5.0]).unwrap().ends, None);
        assert_eq!(of_mean(&[5.0, 5.0]).unwrap().ends, Some((5.0, 5.0)));
        assert_eq!(of_mean(&[]), None);
        assert_eq!(of_difference(&[1.0], &[2.0, 3.0]).unwrap().ends, None);
        assert_eq!(of_difference(&[], &[2.0]), None);
    }
}
