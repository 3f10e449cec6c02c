//! The beta distribution: the regularised incomplete beta function and its inverse.
//!
//! I comes from its continued fraction (Abramowitz and Stegun 26.5.8; evaluated as Lentz does), the gamma function from
//! Lanczos's series, and a quantile from bisection on the logarithm, because the quantiles that matter here (loss rates) span many
//! decades.

/// Terms of the continued fraction, at most; it has converged long before.
const MOST_TERMS: u32 = 10_000;
/// Halvings of a bracket of 700 natural units: to the last bit of an `f64`.
const HALVINGS: u32 = 64;

/// The x below which a beta variable of parameters `a` and `b` stays with probability `p`. `None` unless 0 < `p` < 1 and both
/// parameters are above zero.
pub(crate) fn quantile(p: f64, a: f64, b: f64) -> Option<f64> {
    let is_parameter = |x: f64| x > 0.0 && x.is_finite();
    if !(p > 0.0 && p < 1.0 && is_parameter(a) && is_parameter(b)) {
        return None;
    }
    // In logarithms from e^-700 to 1.
    let (mut low, mut high) = (-700.0_f64, 0.0_f64);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if incomplete_beta(middle.exp(), a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high).exp())
}

/// The regularised incomplete beta function I(a, b; x): the probability that a beta variable stays below `x`.
pub(crate) fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
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

    #[test]
    fn outside_of_the_domain_there_is_no_quantile() {
        for (p, a, b) in [
            (0.0, 1.0, 1.0),
            (1.0, 1.0, 1.0),
            (0.5, 0.0, 1.0),
            (0.5, 1.0, f64::NAN),
        ] {
            assert_eq!(quantile(p, a, b), None, "{p} {a} {b}");
        }
    }
}
