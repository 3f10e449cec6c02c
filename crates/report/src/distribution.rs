//! Distributions in bounded space: quantiles for a curve, figures for a box, blocks for a comparison.
//!
//! All values are kept, as 32-bit floats (seven digits, more than any clock here gives), until there are
//! [`MOST_VALUES`] of them; from then on every second is let go, evenly over the run. Quantiles of a million values
//! spread over the whole run are those of all within any line's width; the smallest and the largest value are always
//! exact.

use crate::number::short;
use serde::{Deserialize, Serialize};
use stats::quantile;

/// The most values kept of one block of one distribution: with [`BLOCKS`] blocks 20 MB in the worst case.
const MOST_VALUES: usize = 1 << 18;

/// Into how many blocks of equal length a phase is cut, for the confidence intervals of [`crate::compare`].
pub(crate) const BLOCKS: usize = 20;

/// Quantiles of the body of a curve: one for each third of a per cent, finer than a pixel of a figure.
const BODY: usize = 300;

/// Order statistics of the upper tail that are kept as they are.
const TAIL: usize = 100;

/// Values of one quantity, thinned out when they are too many.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    kept: Vec<f32>,
    stride: u64,
    pub(crate) n: u64,
    min: f64,
    max: f64,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            stride: 1,
            n: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Values {
    pub(crate) fn push(&mut self, v: f64) {
        if !v.is_finite() {
            return;
        }
        self.min = self.min.min(v);
        self.max = self.max.max(v);
        if self.n.is_multiple_of(self.stride) {
            #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
            self.kept.push(v as f32);
        }
        self.n += 1;
        if self.kept.len() >= MOST_VALUES {
            let mut keep = false;
            self.kept.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride *= 2;
        }
    }

    /// The values that were kept, in ascending order, with the exact extremes.
    pub(crate) fn sorted(parts: &[&Self]) -> Vec<f64> {
        let kept = parts.iter().flat_map(|part| &part.kept);
        let mut sorted: Vec<f64> = kept.map(|&v| f64::from(v)).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let min = parts
            .iter()
            .map(|part| part.min)
            .fold(f64::INFINITY, f64::min);
        let max = parts
            .iter()
            .map(|part| part.max)
            .fold(f64::NEG_INFINITY, f64::max);
        if let (Some(first), true) = (sorted.first_mut(), min.is_finite()) {
            *first = min;
        }
        if let (Some(last), true) = (sorted.last_mut(), max.is_finite()) {
            *last = max;
        }
        sorted
    }
}

/// The values of one phase, in blocks of equal length in time.
#[derive(Clone, Debug)]
pub(crate) struct Blocks(Vec<Values>);

impl Default for Blocks {
    fn default() -> Self {
        Self(vec![Values::default(); BLOCKS])
    }
}

impl Blocks {
    /// Adds a value that was measured when `share` (0 to 1) of the phase was over.
    pub(crate) fn push(&mut self, share: f64, v: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float becomes the nearest number there is, and the last block takes what is above"
        )]
        let block = ((share * BLOCKS as f64) as usize).min(BLOCKS - 1);
        self.0[block].push(v);
    }

    pub(crate) fn n(&self) -> u64 {
        self.0.iter().map(|block| block.n).sum()
    }
}

/// All blocks of `parts` as one ascending list.
pub(crate) fn sorted(parts: &[&Blocks]) -> Vec<f64> {
    let blocks: Vec<&Values> = parts.iter().flat_map(|part| &part.0).collect();
    Values::sorted(&blocks)
}

/// The median of each block that has any values, over `parts` together.
pub(crate) fn block_medians(parts: &[&Blocks]) -> Vec<f64> {
    (0..BLOCKS)
        .filter_map(|block| {
            let of_block: Vec<&Values> = parts.iter().map(|part| &part.0[block]).collect();
            quantile(&Values::sorted(&of_block), 0.5)
        })
        .collect()
}

/// The mean of each block that has any values, of the values that were kept.
pub(crate) fn block_means(blocks: &Blocks) -> Vec<f64> {
    let mean = |kept: &[f32]| kept.iter().map(|&v| f64::from(v)).sum::<f64>() / kept.len() as f64;
    let blocks = blocks.0.iter().filter(|block| !block.kept.is_empty());
    blocks.map(|block| mean(&block.kept)).collect()
}

/// The figures of a box plot, and those of a [`stats::Distribution`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    pub(crate) n: u64,
    pub(crate) min: f64,
    pub(crate) p5: f64,
    pub(crate) p25: f64,
    pub(crate) p50: f64,
    pub(crate) p75: f64,
    pub(crate) p90: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    pub(crate) mean: f64,
}

impl Figures {
    /// The figures of `n` values of which `sorted` were kept; `None` without any.
    pub(crate) fn of(sorted: &[f64], n: u64) -> Option<Self> {
        let at = |q| quantile(sorted, q).map(short);
        Some(Self {
            n,
            min: at(0.0)?,
            p5: at(0.05)?,
            p25: at(0.25)?,
            p50: at(0.5)?,
            p75: at(0.75)?,
            p90: at(0.9)?,
            p95: at(0.95)?,
            p99: at(0.99)?,
            max: at(1.0)?,
            mean: short(sorted.iter().sum::<f64>() / sorted.len() as f64),
        })
    }

    /// The figures of blocks.
    pub(crate) fn of_blocks(blocks: &Blocks) -> Option<Self> {
        Self::of(&sorted(&[blocks]), blocks.n())
    }
}

/// A distribution function as a curve: `v` in ascending order, `p` the share of values at or below it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Curve {
    pub(crate) v: Vec<f64>,
    pub(crate) p: Vec<f64>,
}

impl Curve {
    /// The curve of ascending values: all of them when they are few, else quantiles and the exact tail.
    pub(crate) fn of(sorted: &[f64]) -> Self {
        let n = sorted.len();
        let mut curve = Self::default();
        let mut point = |index: usize| {
            curve.v.push(short(sorted[index]));
            curve.p.push(short((index + 1) as f64 / n as f64));
        };
        if n <= BODY + TAIL {
            (0..n).for_each(&mut point);
            return curve;
        }
        let body = n - TAIL;
        (0..BODY).for_each(|i| point(i * (body - 1) / (BODY - 1)));
        (body..n).for_each(point);
        curve
    }

    /// The same for a tail of many decades, whose rarest values matter as much as its body: above 90 % points are evenly spread
    /// over the logarithm of the share that is above them.
    pub(crate) fn with_tail(sorted: &[f64]) -> Self {
        let n = sorted.len();
        if n <= BODY + TAIL {
            return Self::of(sorted);
        }
        let tenth = n / 10;
        let body = (0..BODY).map(|i| i * (n - tenth) / BODY);
        let decades = (tenth as f64).log10();
        let steps = BODY / 2;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float becomes the nearest number there is, and the clamp keeps it within"
        )]
        let tail = (0..=steps).map(|i| {
            let above = 10_f64.powf(decades * (1.0 - i as f64 / steps as f64));
            n - (above as usize).clamp(1, n)
        });
        let mut places: Vec<usize> = body.chain(tail).collect();
        places.dedup();
        Self {
            v: places.iter().map(|&place| short(sorted[place])).collect(),
            p: places
                .iter()
                .map(|&place| ((place + 1) as f64 / n as f64 * 1e9).round() / 1e9)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_values_keep_their_quantiles_and_exact_extremes() {
        let mut values = Values::default();
        for i in 0..1_000_000_u64 {
            values.push(((i * 7_919) % 1_000_000) as f64);
        }
        let sorted = Values::sorted(&[&values]);
        assert!(sorted.len() < MOST_VALUES);
        let figures = Figures::of(&sorted, values.n).unwrap();
        assert_eq!(
            (figures.n, figures.min, figures.max),
            (1_000_000, 0.0, 1_000_000.0)
        );
        assert!((figures.p50 - 500_000.0).abs() < 1_000.0, "{}", figures.p50);
        assert!((figures.p99 - 990_000.0).abs() < 1_000.0, "{}", figures.p99);
    }

    #[test]
    fn a_curve_is_short_and_ends_in_the_exact_tail() {
        let sorted: Vec<f64> = (1..=100_000_u32).map(f64::from).collect();
        let curve = Curve::of(&sorted);
        assert_eq!(curve.v.len(), BODY + TAIL);
        assert!(curve.v.is_sorted() && curve.p.is_sorted());
        assert_eq!(curve.v.first(), Some(&1.0));
        assert_eq!(curve.v.last(), Some(&100_000.0));
        assert_eq!(curve.p.last(), Some(&1.0));
        assert_eq!(curve.v.get(BODY), Some(&short(99_901.0)));
    }

    #[test]
    fn a_curve_with_a_tail_has_points_in_every_decade() {
        let sorted: Vec<f64> = (1..=1_000_000_u32).map(f64::from).collect();
        let curve = Curve::with_tail(&sorted);
        assert!(curve.v.len() <= BODY + BODY / 2 + 1);
        assert!(curve.v.is_sorted() && curve.p.is_sorted());
        assert_eq!((curve.v[0], *curve.v.last().unwrap()), (1.0, 1e6));
        for decade in 1..6 {
            let (low, high) = (10_f64.powi(-decade - 1), 10_f64.powi(-decade));
            let within = curve
                .p
                .iter()
                .filter(|&&p| (low..high).contains(&(1.0 - p)));
            // The last one has but ten values.
            let least = if decade == 5 { 8 } else { 20 };
            assert!(within.count() >= least, "between {low} and {high}");
        }
        // Each point is a value and the exact share up to it.
        for (v, p) in curve.v.iter().zip(&curve.p) {
            assert!((v / 1e6 / p - 1.0).abs() < 1e-4, "{v} {p}");
        }
    }

    #[test]
    fn blocks_are_stretches_of_time() {
        let mut blocks = Blocks::default();
        for i in 0..1_000_u32 {
            let share = f64::from(i) / 1_000.0;
            blocks.push(share, (share * 20.0).floor());
        }
        let medians: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(block_medians(&[&blocks]), medians);
        assert_eq!(Figures::of_blocks(&blocks).unwrap().n, 1_000);
    }

    #[test]
    fn nothing_has_no_figures() {
        assert_eq!(Figures::of_blocks(&Blocks::default()), None);
        assert_eq!(Curve::of(&[]), Curve::default());
        assert!(block_medians(&[]).is_empty());
    }
}
