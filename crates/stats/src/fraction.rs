//! Continued fractions, by Lentz's method as Thompson and Barnett put it.

/// The most terms; it has converged long before.
const MOST_TERMS: usize = 10_000;

/// b0 + a1/(b1 + a2/(b2 + ..)) for pairs (a, b) from `terms`, as far as they change it; `whole` is b0, and not zero.
pub(crate) fn continued(whole: f64, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut value = whole;
    let (mut upper, mut lower) = (whole, 0.0);
    for (numerator, partial) in terms.take(MOST_TERMS) {
        lower = 1.0 / (partial + numerator * lower);
        upper = partial + numerator / upper;
        value *= upper * lower;
        if (upper * lower - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_golden_ratio_is_all_ones() {
        let ratio = continued(1.0, std::iter::repeat((1.0, 1.0)));
        assert!((ratio - f64::midpoint(1.0, 5_f64.sqrt())).abs() < 1e-14);
        assert!((continued(3.0, [(1.0, 7.0)].into_iter()) - 22.0 / 7.0).abs() < 1e-14);
    }
}
