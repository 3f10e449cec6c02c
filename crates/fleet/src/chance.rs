//! Chance that is the same on every host: whole numbers alone, since logarithms differ between C libraries in their last digit.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::time::Duration;

/// A source of chance that follows from a seed and from what it is for.
pub(crate) struct Dice(Pcg64);

impl Dice {
    pub(crate) fn new(seed: u64, purpose: &[&str], number: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        hasher.update(&number.to_le_bytes());
        for part in purpose {
            hasher.update(part.as_bytes());
            // No name has this octet: where one ends, it ends.
            hasher.update(&[0]);
        }
        let hash = hasher.finalize();
        let octets = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        Self(Pcg64::seed_from_u64(u64::from_le_bytes(octets)))
    }

    /// A number below `limit`, all as likely (Lemire, ACM TOMACS 29(1), 2019, without the rejection: the bias is below 2^-40).
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(limit);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A time from one event of a Poisson process to the next, exponential with this mean: von Neumann's comparison of uniform numbers
    /// (Knuth, The Art of Computer Programming 3.4.1, exercise 22). `None` beyond 2^64 nanoseconds.
    pub(crate) fn exponential(&mut self, mean: Duration) -> Option<Duration> {
        let mut whole = 0_u64;
        loop {
            let first = self.0.next_u64();
            let (mut last, mut length) = (first, 1_u32);
            loop {
                let next = self.0.next_u64();
                if next >= last {
                    break;
                }
                (last, length) = (next, length + 1);
            }
            // A falling run of odd length takes the fraction that began it.
            if length % 2 == 1 {
                let mean = mean.as_nanos();
                let fraction = (u128::from(first) * (mean & u128::from(u64::MAX))) >> 64;
                let ns = u128::from(whole) * mean + fraction;
                return u64::try_from(ns).ok().map(Duration::from_nanos);
            }
            whole += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_events_are_exponential() {
        let mut dice = Dice::new(1, &["test"], 0);
        let mean = Duration::from_secs(10);
        let times: Vec<f64> = (0..40_000)
            .map(|_| dice.exponential(mean).unwrap().as_secs_f64() / 10.0)
            .collect();
        let n = times.len() as f64;
        assert!((times.iter().sum::<f64>() / n - 1.0).abs() < 0.02);
        for at in [0.1_f64, 0.5, 1.0, 2.0, 4.0] {
            let beyond = times.iter().filter(|time| **time > at).count() as f64 / n;
            assert!((beyond - (-at).exp()).abs() < 0.01, "{at}: {beyond}");
        }
    }

    #[test]
    fn another_purpose_is_another_chance_and_the_same_is_the_same() {
        let draw = |purpose: &[&str]| Dice::new(1, purpose, 0).below(u64::MAX);
        assert_eq!(draw(&["a", "b"]), draw(&["a", "b"]));
        assert_ne!(draw(&["a", "b"]), draw(&["ab"]));
        assert_ne!(draw(&["a", "b"]), draw(&["b", "a"]));
    }
}
