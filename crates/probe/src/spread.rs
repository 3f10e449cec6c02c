//! One figure of many estimates, and how far they lie apart.

/// An available bandwidth that was estimated again and again. All in bit/s of packets with their IP headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The figure; the estimator says which it is.
    pub value_bps: f64,
    /// A tenth of the estimates lie below this.
    pub low_bps: f64,
    /// A tenth of the estimates lie above this.
    pub high_bps: f64,
}

impl Spread {
    /// Of `estimates`, in any order, of which `value_bps` is the figure; none when there are none.
    pub(crate) fn of(value_bps: f64, estimates: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = estimates.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Self {
            value_bps,
            low_bps: stats::quantile(&sorted, 0.1)?,
            high_bps: stats::quantile(&sorted, 0.9)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_lies_on_either_side() {
        let spread = Spread::of(7.0, (0..=10).map(f64::from)).unwrap();
        assert_eq!((spread.low_bps, spread.high_bps), (1.0, 9.0));
        assert_eq!(Spread::of(7.0, []), None);
    }
}
