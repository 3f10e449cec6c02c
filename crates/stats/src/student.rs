//! Student's t distribution, by way of the regularised incomplete beta function.
//!
//! `P(|T| <= t) = I(1/2, v/2; x)` with `x = t^2 / (v + t^2)` (Abramowitz and Stegun 26.7.1), and the tail beyond it is
//! `I(v/2, 1/2; 1 - x)`. I comes from [`beta`](crate::beta), and a quantile from bisection, which needs no starting value and
//! cannot miss.

use crate::beta::incomplete_beta;

/// The probability that T with `freedom` degrees of freedom is at most `t`. NaN for `freedom` not above zero.
pub(crate) fn cdf(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    // The middle by what is within t, the tails by what is beyond: the other way each would be a small difference of large numbers.
    if square < 1.0 {
        let within = 0.5 * incomplete_beta(square / (freedom + square), 0.5, freedom / 2.0);
        return if t < 0.0 { 0.5 - within } else { 0.5 + within };
    }
    let tail = 0.5 * incomplete_beta(freedom / (freedom + square), freedom / 2.0, 0.5);
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// The t that T with `freedom` degrees of freedom stays below with probability `p`, which is at least one half;
/// `None` outside of the function's domain.
pub(crate) fn quantile(p: f64, freedom: f64) -> Option<f64> {
    if !(0.5..1.0).contains(&p) || freedom.is_nan() || freedom <= 0.0 {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while cdf(high, freedom) < p {
        (low, high) = (high, 2.0 * high);
        if high > 1e150 {
            return None;
        }
    }
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if cdf(middle, freedom) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    /// `scipy.stats.t.cdf` and `.ppf` of scipy 1.17.
    #[test]
    fn the_distribution_is_that_of_scipy() {
        let points = [
            (0.5, 1.0, 0.647_583_617_650_433_3),
            (2.0, 3.7, 0.939_091_399_047_383),
            (4.9e-5, 6_259.0, 0.500_019_547_390_944_9),
            (-3e-9, 1e4, 0.499_999_998_803_203_06),
            (-1.3, 12.0, 0.109_008_585_541_757_06),
            (6.0, 40.0, 0.999_999_763_677_243_4),
        ];
        for (t, freedom, expected) in points {
            assert!(close(cdf(t, freedom), expected), "{t} {freedom}");
        }
        let points = [
            (0.975, 1.0, 12.706_204_736_174_694),
            (0.975, 4.0, 2.776_445_105_197_793_4),
            (0.975, 29.5, 2.043_724_966_772_122),
            (0.975, 1_000.0, 1.962_339_080_826_408_3),
            (0.995, 2.0, 9.924_843_200_918_287),
            (0.995, 9.0, 3.249_835_541_592_126),
        ];
        for (p, freedom, expected) in points {
            assert!(
                close(quantile(p, freedom).unwrap(), expected),
                "{p} {freedom}"
            );
        }
    }

    #[test]
    fn outside_of_the_domain_there_is_no_quantile() {
        for (p, freedom) in [
            (0.4, 3.0),
            (1.0, 3.0),
            (f64::NAN, 3.0),
            (0.9, 0.0),
            (0.9, f64::NAN),
        ] {
            assert_eq!(quantile(p, freedom), None, "{p} {freedom}");
        }
    }

    proptest! {
        #[test]
        fn the_quantile_inverts_the_distribution(p in 0.5_f64..0.9999, freedom in 0.5_f64..1e4) {
            let t = quantile(p, freedom).unwrap();
            prop_assert!((cdf(t, freedom) - p).abs() < 1e-9, "{t}");
        }
    }
}
