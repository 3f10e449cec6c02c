//! Fewer connections.

use super::ScaleError;
use crate::chance::{self, Purpose};

/// Keeps each connection with the same probability, whatever the others do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thinning {
    keep: f64,
    seed: u64,
}

impl Thinning {
    /// Keeps a share `keep` of the connections, from 0 to 1.
    ///
    /// # Errors
    ///
    /// When it is not such a share.
    pub fn new(keep: f64, seed: u64) -> Result<Self, ScaleError> {
        if !(0.0..=1.0).contains(&keep) {
            return Err(ScaleError::Share);
        }
        Ok(Self { keep, seed })
    }

    /// Whether the vector at place `index` of its set is kept. Under one seed, what a smaller share keeps a larger one
    /// keeps too.
    pub fn keeps(&self, index: u64) -> bool {
        chance::of(Purpose::Thin, self.seed, index).unit() < self.keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_kept_and_a_smaller_one_is_part_of_it() {
        let [tenth, half] = [0.1, 0.5].map(|keep| Thinning::new(keep, 9).unwrap());
        let kept = |of: Thinning| (0..10_000).filter(|&index| of.keeps(index)).count();
        assert!((900..1_100).contains(&kept(tenth)), "{}", kept(tenth));
        assert!((4_800..5_200).contains(&kept(half)), "{}", kept(half));
        assert!((0..10_000).all(|index| !tenth.keeps(index) || half.keeps(index)));
    }

    #[test]
    fn all_or_nothing() {
        let [none, all] = [0.0, 1.0].map(|keep| Thinning::new(keep, 0).unwrap());
        assert!((0..1_000).all(|index| all.keeps(index) && !none.keeps(index)));
        for keep in [-0.1, 1.1, f64::NAN] {
            assert_eq!(Thinning::new(keep, 0), Err(ScaleError::Share));
        }
    }
}
