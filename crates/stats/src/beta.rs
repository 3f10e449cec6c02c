//! The beta distribution: the regularised incomplete beta function and its inverse.
//!
//! I comes from its continued fraction (Abramowitz and Stegun 26.5.8; evaluated as Lentz does), and a quantile from bisection on the logarithm, because the quantiles that matter here (loss rates) span many
//! decades.

use crate::fraction::continued;
use crate::gamma::ln_gamma;

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
    let numerator = |term: u32| {
        let m = f64::from(term / 2);
        if term.is_multiple_of(2) {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        }
    };
    continued(1.0, (1..).map(|term| (numerator(term), 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
