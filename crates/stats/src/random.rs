//! Chance that can be repeated: `SplitMix64` (G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014), ten lines that give the same numbers on every machine and in every version. Not for secrets.

/// A row of random numbers that its seed determines.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The row that `seed` begins.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number; all are equally likely.
    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 when `bound` is. The bias is below `bound` / 2^64.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the upper half of the product is below bound"
    )]
    pub const fn below(&mut self, bound: usize) -> usize {
        ((self.draw() as u128 * bound as u128) >> 64) as usize
    }

    /// A number from 0 up to but not 1, uniformly distributed, a multiple of 2^-53.
    pub const fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from the exponential distribution of this mean: the time to the next event of a Poisson process.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Brings `items` into a random order, all orders equally likely (D. E. Knuth's algorithm P, The Art of Computer
    /// Programming, section 3.4.2).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last + 1);
            items.swap(last, chosen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of Vigna's splitmix64.c with state 1234567.
    #[test]
    fn the_numbers_are_those_of_the_reference() {
        let mut random = SplitMix64::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([random.draw(), random.draw(), random.draw()], expected);
        assert!((0..1_000).all(|_| random.below(7) < 7));
    }

    #[test]
    fn an_exponential_distribution_has_its_mean_and_its_share_above_it() {
        let mut random = SplitMix64::new(1);
        let drawn: Vec<f64> = (0..100_000).map(|_| random.exponential(30.0)).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let above = drawn.iter().filter(|&&time| time > 30.0).count() as f64 / drawn.len() as f64;
        assert!((mean - 30.0).abs() < 0.5, "{mean}");
        assert!((above - (-1.0_f64).exp()).abs() < 0.01, "{above}");
        assert!(drawn.iter().all(|&time| time >= 0.0 && time.is_finite()));
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut items: Vec<u32> = (0..50).collect();
        SplitMix64::new(7).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert!(items.into_iter().eq(0..50));
    }
}
