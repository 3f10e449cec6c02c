//! Samples in bounded memory.

use record::Distribution;

/// Samples that are kept before every second one is let go.
const MOST: usize = 1 << 17;

/// All samples of a short row of them; of a long one every second, fourth, eighth ... one, evenly over its length.
#[derive(Clone, Debug)]
pub struct Thinned {
    kept: Vec<f64>,
    /// One of so many is kept.
    every: u64,
    seen: u64,
}

impl Default for Thinned {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            every: 1,
            seen: 0,
        }
    }
}

impl Thinned {
    /// Takes the next sample; of a long row not all are kept.
    pub fn add(&mut self, sample: f64) {
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(sample);
        }
        self.seen += 1;
        if self.kept.len() == MOST {
            let mut index = 0_u64;
            self.kept.retain(|_| {
                index += 1;
                !index.is_multiple_of(2)
            });
            self.every *= 2;
        }
    }

    /// The distribution of the samples that are kept; none without any.
    pub fn distribution(&self) -> Option<Distribution> {
        Distribution::of(self.kept.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_row_is_thinned_evenly_and_stays_bounded() {
        let mut thinned = Thinned::default();
        (0..1_000_000).for_each(|sample| thinned.add(f64::from(sample)));
        assert!(thinned.kept.len() < MOST);
        let distribution = thinned.distribution().unwrap();
        assert!((distribution.p50 / 500_000.0 - 1.0).abs() < 0.01);
        assert!((distribution.max / 1_000_000.0 - 1.0).abs() < 0.01);
    }
}
