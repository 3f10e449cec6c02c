//! Amounts by time: a series of bins of equal width, and how much it varies.
//!
//! How variable traffic looks depends on the width of the bins that it is counted in, so a figure of variability says the width
//! with it. A series that is counted finely once ([`Binned`]) is added up to any coarser width afterwards.

use crate::interval::Moments;

/// The most bins of a series: 64 MB.
pub const MOST_BINS: usize = 1 << 23;

/// Sums by bin of equal width over one stretch of time. Bins to which nothing was added hold 0.
#[derive(Clone, Debug)]
pub struct Binned {
    from_ns: u64,
    width_ns: u64,
    sums: Vec<f64>,
}

impl Binned {
    /// Whole bins of `width_ns` from `from_ns` on that end by `to_ns`. `None` when there is none, or more than [`MOST_BINS`].
    pub fn new(from_ns: u64, to_ns: u64, width_ns: u64) -> Option<Self> {
        let bins = to_ns.checked_sub(from_ns)?.checked_div(width_ns)?;
        let bins = usize::try_from(bins).ok()?;
        (1..=MOST_BINS).contains(&bins).then(|| Self {
            from_ns,
            width_ns,
            sums: vec![0.0; bins],
        })
    }

    /// Adds `amount` to the bin of `t_ns`; what is outside of all bins is left out.
    pub fn add(&mut self, t_ns: u64, amount: f64) {
        let bin = t_ns
            .checked_sub(self.from_ns)
            .and_then(|since| usize::try_from(since / self.width_ns).ok());
        if let Some(sum) = bin.and_then(|bin| self.sums.get_mut(bin)) {
            *sum += amount;
        }
    }

    /// The sum of each bin.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The sums of bins `times` as wide. What is left at the end, less than such a bin, is left out.
    pub fn coarser(&self, times: usize) -> Vec<f64> {
        let whole = self.sums.chunks_exact(times.max(1));
        whole.map(|bins| bins.iter().sum()).collect()
    }
}

/// The coefficient of variation of `values`: their standard deviation (divisor n - 1) over their mean. `None` for fewer than two
/// finite values, or a mean that is not above 0.
pub fn variation(values: &[f64]) -> Option<f64> {
    let moments = Moments::of(values)?;
    (moments.mean > 0.0).then(|| moments.sd / moments.mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn bins_hold_what_falls_into_them() {
        let mut series = Binned::new(1_000, 2_090, 100).unwrap();
        for (t_ns, amount) in [
            (999, 50.0),
            (1_000, 1.0),
            (1_999, 2.0),
            (1_900, 3.0),
            (2_000, 70.0),
            (u64::MAX, 9.0),
        ] {
            series.add(t_ns, amount);
        }
        let mut expected = [0.0; 10];
        (expected[0], expected[9]) = (1.0, 5.0);
        assert_eq!(series.sums(), expected);
        assert_eq!(series.coarser(4), [1.0, 0.0]);
        assert_eq!(series.coarser(0).len(), 10);
    }

    #[test]
    fn a_series_without_bins_or_with_too_many_is_none() {
        assert!(Binned::new(5, 4, 1).is_none() && Binned::new(0, 9, 10).is_none());
        assert!(Binned::new(0, 9, 0).is_none() && Binned::new(0, u64::MAX, 1).is_none());
    }

    #[test]
    fn counts_of_a_poisson_process_vary_by_the_root_of_their_mean() {
        let mut series = Binned::new(0, 10_000_000_000, 100_000).unwrap();
        let mut random = SplitMix64::new(11);
        let mut t_s = 0.0;
        while t_s < 10.0 {
            let t = core::time::Duration::from_secs_f64(t_s);
            series.add(t.as_nanos().try_into().unwrap(), 1.0);
            t_s += random.exponential(1e-4);
        }
        // 1 and 100 arrivals a bin.
        for (times, expected, within) in [(1, 1.0, 0.02), (100, 0.1, 0.01)] {
            let found = variation(&series.coarser(times)).unwrap();
            assert!((found - expected).abs() < within, "{times}: {found}");
        }
        assert_eq!(
            variation(&[2.0, 4.0, 4.0, 6.0]),
            Some((8.0_f64 / 3.0).sqrt() / 4.0)
        );
        assert!(variation(&[0.0, 0.0]).is_none() && variation(&[1.0]).is_none());
    }
}
