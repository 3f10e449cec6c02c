//! The gamma function and its kin: its logarithm, the first two derivatives of that, and the tail of a chi-square variable.

use crate::fraction::continued;

/// Terms of a series, at most; it has converged long before.
const MOST_TERMS: u32 = 10_000;
/// From here on the asymptotic series below are right to 14 digits.
const ASYMPTOTIC: f64 = 12.0;

/// ln of the gamma function for `x` > 0: Lanczos's series with g = 7 and nine terms (Godfrey's coefficients).
pub(crate) fn ln_gamma(x: f64) -> f64 {
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

/// The digamma function, the derivative of [`ln_gamma`], for `x` > 0: Abramowitz and Stegun 6.3.18, after moving up by 6.3.5.
pub(crate) fn digamma(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        return digamma(x + 1.0) - 1.0 / x;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0
            - square
                * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))));
    x.ln() - 0.5 / x - series
}

/// The trigamma function, the derivative of [`digamma`], for `x` > 0: Abramowitz and Stegun 6.4.12 and 6.4.6. It is Hurwitz's
/// zeta function of 2 and `x`.
pub(crate) fn trigamma(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        return trigamma(x + 1.0) + 1.0 / (x * x);
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 6.0
            - square
                * (1.0 / 30.0
                    - square * (1.0 / 42.0 - square * (1.0 / 30.0 - square * 5.0 / 66.0))));
    (1.0 + 0.5 / x + series) / x
}

/// The probability that a chi-square variable of `freedom` degrees of freedom exceeds `x`: the upper incomplete gamma function
/// of half of both, regularised (Abramowitz and Stegun 26.4.19).
pub(crate) fn chi_square_tail(x: f64, freedom: f64) -> f64 {
    let (a, x) = (freedom / 2.0, x / 2.0);
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        1.0 - front * lower_series(x, a)
    } else {
        front * upper_fraction(x, a)
    }
}

/// The sum of x^n / (a (a + 1) .. (a + n)), which converges fast below a (6.5.29).
fn lower_series(x: f64, a: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for n in 1..MOST_TERMS {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < sum * 1e-16 {
            break;
        }
    }
    sum
}

/// The continued fraction 1/(x + 1 - a - 1 (1 - a)/(x + 3 - a - ..)), which converges fast above a (6.5.31).
fn upper_fraction(x: f64, a: f64) -> f64 {
    let terms = (1_u32..).map(f64::from);
    let terms = terms.map(|n| (-n * (n - a), x + 1.0 - a + 2.0 * n));
    continued(x + 1.0 - a, terms).recip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(found: f64, expected: f64) {
        let off = (found - expected).abs();
        assert!(
            off <= 1e-9 * expected.abs().max(1e-6),
            "{found} is not {expected}"
        );
    }

    /// `scipy.special.gammaln` of scipy 1.17.
    #[test]
    fn the_gamma_function_is_that_of_scipy() {
        let points = [
            (0.5, 0.572_364_942_924_7),
            (2.5, 0.284_682_870_472_919_2),
            (10.0, 12.801_827_480_081_469),
            (100.5, 361.435_540_467_777_57),
        ];
        for (x, expected) in points {
            assert_close(ln_gamma(x), expected);
        }
        assert!(ln_gamma(1.0).abs() < 1e-13);
    }

    /// `scipy.special.digamma` and `polygamma(1, x)` of scipy 1.17.
    #[test]
    fn its_derivatives_are_those_of_scipy() {
        let points = [
            (0.5, -1.963_510_026_021_423_5, 4.934_802_200_544_68),
            (1.0, -0.577_215_664_901_532_9, 1.644_934_066_848_226_6),
            (4.0, 1.256_117_668_431_800_3, 0.283_822_955_737_115_25),
            (13.5, 2.565_195_651_274_912, 0.076_885_224_601_578_36),
            (2_048.0, 7.624_374_825_666_184, 0.000_488_400_478_692_103_5),
        ];
        for (x, first, second) in points {
            assert_close(digamma(x), first);
            assert_close(trigamma(x), second);
        }
    }

    /// `scipy.stats.chi2.sf` of scipy 1.17.
    #[test]
    fn the_tail_of_chi_square_is_that_of_scipy() {
        let points = [
            (0.3, 1.0, 0.583_882_420_770_365),
            (2.0, 1.0, 0.157_299_207_050_281_05),
            (3.5, 4.0, 0.477_878_344_488_724),
            (40.0, 11.0, 3.577_512_452_765_525e-5),
            (9.0, 30.0, 0.999_926_339_476_403_6),
            (120.0, 17.0, 1.542_166_224_489_535e-17),
        ];
        for (x, freedom, expected) in points {
            assert_close(chi_square_tail(x, freedom), expected);
        }
        assert!((chi_square_tail(0.0, 3.0) - 1.0).abs() < 1e-15);
    }
}
