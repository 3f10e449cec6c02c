//! Arrivals in clumps.

/// A gap below this share of the mean gap is within a clump.
const SHORT: f64 = 0.25;
/// A gap above this many times the mean gap is between two.
const LONG: f64 = 1.5;
/// Share of the gaps that must be one or the other.
const CLEAR: f64 = 0.9;
/// Whole clumps, at least.
const LEAST_CLUMPS: usize = 4;
/// Packets of a clump, at least: pairs are what cross traffic makes by chance, and no great loss.
const LEAST_PACKETS: f64 = 3.0;
/// Clumps whose size and period are within half of the median, as a share.
const REGULAR: f64 = 0.8;

/// Clumps of about one size, about as far from each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clumps {
    /// Packets of one, the median.
    pub(super) packets: f64,
    /// From one to the next, the median, in seconds.
    pub(super) period_s: f64,
    /// The first packets of the first and of the last whole one's successor.
    pub(super) first: usize,
    /// See `first`.
    pub(super) last: usize,
}

impl Clumps {
    /// Of times of arrival in order, in seconds; none when they do not come in regular clumps.
    pub(super) fn of(times_s: &[f64]) -> Option<Self> {
        let gaps: Vec<f64> = times_s
            .iter()
            .zip(times_s.iter().skip(1))
            .map(|(a, b)| b - a)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let long = |gap: f64| gap > LONG * mean;
        let clear = gaps
            .iter()
            .filter(|gap| **gap < SHORT * mean || long(**gap));
        let is_clear = mean > 0.0 && clear.count() as f64 >= CLEAR * gaps.len() as f64;
        // The packet after a long gap begins a clump; what comes before the first of them is not whole.
        let begins = gaps.iter().enumerate().filter(|(_, gap)| long(**gap));
        let begins: Vec<usize> = begins.map(|(place, _)| place + 1).collect();
        if !is_clear || begins.len() <= LEAST_CLUMPS {
            return None;
        }
        let pairs = begins.iter().zip(begins.iter().skip(1));
        let sizes = pairs.clone().map(|(a, b)| (b - a) as f64);
        let periods = pairs.filter_map(|(a, b)| Some(times_s.get(*b)? - times_s.get(*a)?));
        let packets = regular(sizes.collect()).filter(|packets| *packets >= LEAST_PACKETS)?;
        Some(Self {
            packets,
            period_s: regular(periods.collect())?,
            first: *begins.first()?,
            last: *begins.last()?,
        })
    }
}

/// The median, if most are near to it.
fn regular(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let median = stats::quantile(&values, 0.5)?;
    let near = values
        .iter()
        .filter(|value| (**value - median).abs() <= median / 2.0);
    (near.count() as f64 >= REGULAR * values.len() as f64).then_some(median)
}
