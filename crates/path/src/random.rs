//! Reproducible chance.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Scatters `value` over all 64 bits, so that neighbouring values have nothing in common (the
/// finaliser of `SplitMix64`: Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn scatter(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The seed of the element at `position` in a path with `seed`.
pub(crate) fn seed_at(seed: u64, position: usize) -> u64 {
    scatter(scatter(seed) ^ position as u64)
}

/// A number in [0, 1) that depends on `value` and `seed` alone.
pub(crate) fn unit_hash(value: u64, seed: u64) -> f64 {
    const STEPS: f64 = (1_u64 << 53) as f64;
    (scatter(value ^ scatter(seed)) >> 11) as f64 / STEPS
}

/// A source of chance that can be repeated.
#[derive(Clone, Debug)]
pub(crate) struct Dice(pub(crate) Pcg64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// A number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0.random()
    }

    /// True with `probability`: never at 0, always at 1.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}
