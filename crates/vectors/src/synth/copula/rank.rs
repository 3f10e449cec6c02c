//! Spearman's correlation of ranks.

/// The correlation of the ranks of pairs, from -1 to 1; equal values share the mean of their ranks. Zero when all values of
/// one kind are equal.
pub(super) fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let one = ranks(pairs.iter().map(|pair| pair.0));
    let other = ranks(pairs.iter().map(|pair| pair.1));
    // The mean of all ranks, with or without ties.
    let mean = f64::midpoint(pairs.len() as f64, 1.0);
    let product = |one: &[f64], other: &[f64]| -> f64 {
        let pairs = one.iter().zip(other);
        pairs.map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let scale = (product(&one, &one) * product(&other, &other)).sqrt();
    if scale > 0.0 {
        (product(&one, &other) / scale).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<(f64, usize)> = values.zip(0..).collect();
    sorted.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let mut ranks = vec![0.0; sorted.len()];
    let mut below = 0;
    for equal in sorted.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq()) {
        let rank = below as f64 + f64::midpoint(equal.len() as f64, 1.0);
        for &(_, place) in equal {
            ranks[place] = rank;
        }
        below += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks 1, 2.5, 2.5, 5, 6, 4 and 6, 3, 4.5, 1, 2, 4.5: products of their distances from 3.5 add up to -13.75, squares to
    /// 17 each.
    #[test]
    fn the_correlation_is_that_of_ranks() {
        let one = [1.0, 2.0, 2.0, 5.0, 7.0, 3.0];
        let other = [10.0, 8.0, 9.0, 2.0, 4.0, 9.0];
        let pairs: Vec<_> = one.into_iter().zip(other).collect();
        assert!(
            (spearman(&pairs) + 13.75 / 17.0).abs() < 1e-12,
            "{}",
            spearman(&pairs)
        );
        let rising: Vec<_> = (0..9)
            .map(|at| (f64::from(at), f64::from(at).exp()))
            .collect();
        assert!((spearman(&rising) - 1.0).abs() < 1e-12);
        assert!(spearman(&[(1.0, 2.0), (1.0, 3.0)]).abs() < 1e-12);
        assert!(spearman(&[]).abs() < 1e-12);
    }
}
