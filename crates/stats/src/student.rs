//! Student's t distribution, by way of the regularised incomplete beta function.
//!
//! `P(T <= t) = 1 - I(v/2, 1/2; x) / 2` with `x = v / (v + t^2)` for t >= 0 (Abramowitz and Stegun 26.7.1). I comes from
//! its continued fraction (26.5.8; evaluated as Lentz does), the gamma function from Lanczos's series, and a quantile
//! from bisection, which needs no starting value and cannot miss.

/// Terms of the continued fraction, at most; it has converged long before.
const MOST_TERMS: u32 = 10_000;

/// The probability that T with `freedom` degrees of freedom is at most `t`. NaN for `freedom` not above zero.
pub(crate) fn cdf(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
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

fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast below the mean only; I(a, b; x) = 1 - I(b, a; 1 - x).
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let log_front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    log_front.exp() / (a * fraction(x, a, b))
}

/// The continued fraction 1 + d1/(1 + d2/(1 + ..)) of the incomplete beta function.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let mut value = 1.0;
    let (mut upper, mut lower) = (1.0, 0.0);
    for term in 1..MOST_TERMS {
        let m = f64::from(term / 2);
        let numerator = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        lower = 1.0 / (1.0 + numerator * lower);
        upper = 1.0 + numerator / upper;
        value *= upper * lower;
        if (upper * lower - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// ln of the gamma function for `x` > 0: Lanczos's series with g = 7 and nine terms (Godfrey's coefficients).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (core::f64::consts::PI / (core::f64::consts::PI * x).sin()).ln()
            - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let series: f64 = (1..)
        .zip(TERMS)
        .map(|(i, term)| term / (x + f64::from(i)))
        .sum();
    let t = x + 7.5;
    0.5 * (2.0 * core::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t
        + (0.999_999_999_999_809_9 + series).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    /// `scipy.special.gammaln` of scipy 1.17.
    #[test]
    fn the_gamma_function_is_that_of_scipy() {
        let points = [
            (0.5, 0.572_364_942_924_7),
            (1.0, 0.0),
            (2.5, 0.284_682_870_472_919_2),
            (10.0, 12.801_827_480_081_469),
            (100.5, 361.435_540_467_777_57),
        ];
        for (x, expected) in points {
            assert!(close(ln_gamma(x), expected), "{x}: {}", ln_gamma(x));
        }
    }

    /// `scipy.stats.t.cdf` and `.ppf` of scipy 1.17.
    #[test]
    fn the_distribution_is_that_of_scipy() {
        let points = [
            (0.5, 1.0, 0.647_583_617_650_433_3),
            (2.0, 3.7, 0.939_091_399_047_383),
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
