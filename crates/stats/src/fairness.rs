//! How evenly a resource is shared.

/// Jain's fairness index of the shares: 1 when all are equal, 1/n when one has everything
/// (Jain, Chiu and Hawe, DEC-TR-301, 1984). `None` for no shares or when all are zero.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    let index = sum * sum / (shares.len() as f64 * squares);
    index.is_finite().then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_a_monopoly_is_not() {
        assert_eq!(jain(&[2.0; 4]), Some(1.0));
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
