//! Independent loss.

use super::LossProcess;
use crate::random::Dice;

/// Loses each packet with the same probability, whatever happened to the others.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    probability: f64,
    dice: Dice,
}

impl Bernoulli {
    /// Loss with `probability` (0 to 1).
    pub fn new(probability: f64, seed: u64) -> Self {
        Self {
            probability,
            dice: Dice::new(seed),
        }
    }
}

impl LossProcess for Bernoulli {
    fn loses(&mut self) -> bool {
        self.dice.chance(self.probability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_losses_is_within_four_sigma_of_the_binomial_mean() {
        for (seed, probability) in [(1, 0.001), (2, 0.01), (3, 0.3), (4, 0.9)] {
            let mut process = Bernoulli::new(probability, seed);
            let trials = 200_000;
            let lost = (0..trials).filter(|_| process.loses()).count() as f64;
            let mean = f64::from(trials) * probability;
            let sigma = (mean * (1.0 - probability)).sqrt();
            assert!(
                (lost - mean).abs() < 4.0 * sigma,
                "seed {seed}: {lost} of {mean}"
            );
        }
    }

    #[test]
    fn the_ends_of_the_range_are_exact() {
        let (mut never, mut always) = (Bernoulli::new(0.0, 9), Bernoulli::new(1.0, 9));
        assert!((0..10_000).all(|_| !never.loses() && always.loses()));
    }
}
