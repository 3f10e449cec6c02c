//! A distribution of millions of whole numbers in a few hundred kilobytes.
//!
//! A trace of an hour has tens of millions of waits; to sort them all would take gigabytes. A [`Sketch`] counts them in
//! cells that grow with the value (`hdrhistogram`, the layout of G. Tene's `HdrHistogram`): 1,024 to each power of two. So
//! a quantile is wrong by at most one part in a thousand of its value ([`Sketch::RELATIVE_ERROR`]) wherever it lies,
//! which values up to 2,047 and the figures `mean`, `deviation`, `min` and `max` are not at all. Two sketches added are the
//! sketch of both sets, so parts of a trace can be described by themselves.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Significant decimal digits of a cell.
const DIGITS: u8 = 3;
/// The last value with a cell of its own: an exbibyte, or 36,000 years of microseconds. What is larger is counted there.
const LAST: u64 = 1 << 60;
/// A curve has a point where the share of the values up to it has grown by this since the last point ...
const STEP: f64 = 1.0 / 128.0;
/// ... or the share of the values above it has shrunk by this: sixteen points to a power of ten.
const SHRINK: f64 = 0.866;

/// How many values there were of each size.
#[derive(Clone, Debug)]
pub struct Sketch {
    cells: Histogram<u64>,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
}

/// A point of a distribution function and of its complement.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The value, in the unit of its quantity.
    pub value: f64,
    /// Share of the values that are at most this: the CDF.
    pub at_most: f64,
    /// Share of the values that are larger: the CCDF, counted and not subtracted, so that it is right far out.
    pub above: f64,
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            cells: Histogram::new(DIGITS).expect("three digits are allowed"),
            sum: 0,
            squares: 0,
            min: u64::MAX,
            max: 0,
        }
    }
}

impl Extend<u64> for Sketch {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, values: I) {
        for value in values {
            self.record(value);
        }
    }
}

impl FromIterator<u64> for Sketch {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut sketch = Self::default();
        sketch.extend(values);
        sketch
    }
}

impl Sketch {
    /// The most that a quantile differs from the value at its rank, as a part of it.
    pub const RELATIVE_ERROR: f64 = 0.001;

    /// Adds a value.
    pub fn record(&mut self, value: u64) {
        let recorded = self.cells.record(value.min(LAST));
        debug_assert!(recorded.is_ok(), "the histogram grows as far as LAST");
        let wide = u128::from(value);
        self.sum = self.sum.saturating_add(wide);
        self.squares = self.squares.saturating_add(wide * wide);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds all values of another sketch.
    pub fn merge(&mut self, other: &Self) {
        let added = self.cells.add(&other.cells);
        debug_assert!(added.is_ok(), "the histogram grows as far as LAST");
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.cells.len()
    }

    /// Their sum, exactly.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Their arithmetic mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// Their standard deviation.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let variance = self.squares as f64 / self.count() as f64 - mean * mean;
        Some(variance.max(0.0).sqrt())
    }

    /// The smallest.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min)
    }

    /// The largest.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The smallest value that a share `q` of all does not exceed. `None` without values, or when `q` is not from 0 to 1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = q * self.count() as f64;
        let mut below = 0.0;
        let mut cells = self.cells().peekable();
        while let Some((value, count)) = cells.next() {
            below += count;
            if below >= rank || cells.peek().is_none() {
                // The middle of a cell may lie beyond all that is in it.
                return Some(value.clamp(self.min as f64, self.max as f64));
            }
        }
        None
    }

    /// Share of the values that are at least `value`.
    pub fn share_from(&self, value: u64) -> Option<f64> {
        let from = self.cells.lowest_equivalent(value.min(LAST)) as f64;
        let cells = self.cells().filter(|&(value, _)| value >= from);
        // The sum of no floats is -0.
        let values = cells.fold(0.0, |sum, (_, count)| sum + count);
        (self.count() > 0).then(|| values / self.count() as f64)
    }

    /// The means of `bins` parts of equal size of the values between the quantiles `low` and `high`: the quantile function,
    /// averaged. No bins when there are no values.
    pub fn bin_means(&self, low: f64, high: f64, bins: u16) -> Vec<f64> {
        if self.count() == 0 {
            return Vec::new();
        }
        let all = self.count() as f64;
        let size = (high - low) * all / f64::from(bins);
        let edge = |bin: u16| low * all + size * f64::from(bin);
        let mut cells = self.cells();
        let mut rest = (0.0, 0.0);
        take(&mut cells, &mut rest, edge(0));
        let mean = |_| take(&mut cells, &mut rest, size) / size;
        (0..bins).map(mean).collect()
    }

    /// Points of the distribution, in the order of their values: at most 128, and 16 more for each power of ten of the
    /// number of values. They are close enough both for a linear axis of shares and for a logarithmic one of the tail.
    pub fn curve(&self, unit: f64) -> Vec<Point> {
        let all = self.count() as f64;
        let mut points: Vec<Point> = Vec::new();
        let (mut up_to, mut last_up_to, mut last_above) = (0.0, 0.0, 1.0);
        for (value, count) in self.cells() {
            up_to += count;
            let (at_most, above) = (up_to / all, (all - up_to) / all);
            let moved = at_most - last_up_to >= STEP || above <= last_above * SHRINK;
            if moved || points.is_empty() {
                let value = value / unit;
                points.push(Point {
                    value,
                    at_most,
                    above,
                });
                (last_up_to, last_above) = (at_most, above);
            }
        }
        points
    }

    /// The largest vertical distance between the distribution functions of two sketches, from 0 to 1: the statistic of
    /// Kolmogorov and Smirnov ([`stats::ks`]), for values that are told apart when they lie in different cells.
    pub fn distance(&self, other: &Self) -> Option<f64> {
        let (ours, theirs) = (self.count() as f64, other.count() as f64);
        let mut cells: Vec<(f64, f64)> = self.cells().map(|(v, n)| (v, n / ours)).collect();
        cells.extend(other.cells().map(|(v, n)| (v, -n / theirs)));
        cells.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let (mut difference, mut largest) = (0.0_f64, 0.0_f64);
        for cell in cells.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq()) {
            difference += cell.iter().map(|&(_, share)| share).sum::<f64>();
            largest = largest.max(difference.abs());
        }
        (ours > 0.0 && theirs > 0.0).then(|| largest.min(1.0))
    }

    /// The cells that are not empty, in order: the value in their middle, and how many values they hold.
    fn cells(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.cells.iter_recorded().map(|cell| {
            let value = self.cells.median_equivalent(cell.value_iterated_to());
            (value as f64, cell.count_at_value() as f64)
        })
    }
}

/// Takes `size` values off the cells, and returns their sum. `rest` is what is left of the cell that was begun.
fn take(cells: &mut impl Iterator<Item = (f64, f64)>, rest: &mut (f64, f64), size: f64) -> f64 {
    let (mut wanted, mut sum) = (size, 0.0);
    while wanted > 0.0 {
        if rest.1 <= 0.0 {
            let Some(next) = cells.next() else {
                // Only what was lost in rounding is missing at the end.
                return sum + wanted * rest.0;
            };
            *rest = next;
        }
        let taken = rest.1.min(wanted);
        sum += taken * rest.0;
        rest.1 -= taken;
        wanted -= taken;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_quantile_lies_beyond_the_extremes() {
        // The middle of the cell of 3,450 is 3,451.
        let mut sketch = Sketch::default();
        sketch.extend([3_450, 3_450]);
        assert_eq!(
            [0.0, 0.5, 1.0].map(|q| sketch.quantile(q)),
            [Some(3_450.0); 3]
        );
    }

    #[test]
    fn small_values_are_exact() {
        let sketch: Sketch = (1..=1_000).collect();
        assert_eq!(sketch.count(), 1_000);
        assert_eq!((sketch.min(), sketch.max()), (Some(1), Some(1_000)));
        assert_eq!(sketch.mean(), Some(500.5));
        assert!((sketch.deviation().unwrap() - 288.675).abs() < 0.001);
        for (q, expected) in [(0.0, 1.0), (0.5, 500.0), (0.9, 900.0), (1.0, 1_000.0)] {
            assert_eq!(sketch.quantile(q), Some(expected));
        }
        assert_eq!(sketch.share_from(901), Some(0.1));
        assert!(sketch.share_from(1_001).unwrap().is_sign_positive());
        assert_eq!(sketch.bin_means(0.0, 1.0, 2), [250.5, 750.5]);
        assert_eq!(sketch.bin_means(0.01, 0.99, 1), [500.5]);
    }

    #[test]
    fn nothing_has_no_figures() {
        let sketch = Sketch::default();
        assert_eq!(sketch.quantile(0.5), None);
        assert_eq!((sketch.mean(), sketch.max()), (None, None));
        assert_eq!(sketch.distance(&Sketch::default()), None);
        assert!(sketch.bin_means(0.01, 0.99, 30).is_empty());
        assert!(sketch.curve(1.0).is_empty());
        assert_eq!([1].into_iter().collect::<Sketch>().quantile(1.1), None);
    }

    #[test]
    fn a_value_of_any_size_is_counted() {
        let sketch: Sketch = [0, u64::MAX, u64::MAX].into_iter().collect();
        assert_eq!(sketch.max(), Some(u64::MAX));
        assert_eq!(sketch.quantile(0.3), Some(0.0));
        assert!(sketch.quantile(0.5).unwrap() > 1e18);
    }

    #[test]
    fn a_curve_is_short_and_reaches_the_end_of_the_tail() {
        let sketch: Sketch = (1..1_000_000).map(|rank| 100_000_000 / rank).collect();
        let curve = sketch.curve(1_000.0);
        assert!(
            (100..128 + 6 * 16).contains(&curve.len()),
            "{}",
            curve.len()
        );
        let last = curve.last().unwrap();
        assert_eq!((last.at_most, last.above), (1.0, 0.0));
        assert!((last.value / 100_000.0 - 1.0).abs() < Sketch::RELATIVE_ERROR);
        let next = curve[curve.len() - 2];
        assert!(next.above < 2e-6);
        let rising =
            |pair: &[Point]| pair[0].value < pair[1].value && pair[0].above > pair[1].above;
        assert!(curve.windows(2).all(rising));
    }

    proptest! {
        #[test]
        fn figures_are_those_of_the_sorted_values(
            mut values in prop::collection::vec(0..1_000_000_000_u64, 1..200),
            q in 0.0..=1.0_f64,
        ) {
            let sketch: Sketch = values.iter().copied().collect();
            values.sort_unstable();
            let rank = q * values.len() as f64;
            let exact = (1..).zip(&values).find(|&(place, _)| f64::from(place) >= rank);
            let (exact, found) = (*exact.unwrap().1 as f64, sketch.quantile(q).unwrap());
            prop_assert!((found - exact).abs() <= Sketch::RELATIVE_ERROR * exact, "{} {}", found, exact);
        }

        #[test]
        fn parts_added_are_the_whole(values in prop::collection::vec(any::<u64>(), 0..50), at in 0..50_usize) {
            let at = at.min(values.len());
            let mut parts: Sketch = values[..at].iter().copied().collect();
            parts.merge(&values[at..].iter().copied().collect());
            let whole: Sketch = values.into_iter().collect();
            prop_assert_eq!(parts.curve(1.0), whole.curve(1.0));
            prop_assert_eq!(parts.mean(), whole.mean());
            prop_assert_eq!(parts.deviation(), whole.deviation());
            prop_assert_eq!((parts.min(), parts.max()), (whole.min(), whole.max()));
        }

        #[test]
        fn the_distance_is_that_of_the_samples(
            one in prop::collection::vec(0..2_000_u64, 1..60),
            other in prop::collection::vec(0..2_000_u64, 1..60),
        ) {
            let sketches = [&one, &other].map(|set| set.iter().copied().collect::<Sketch>());
            let samples = |set: Vec<u64>| set.into_iter().map(|value| value as f64);
            let exact = stats::ks::two_sample(samples(one), samples(other)).unwrap().d;
            let d = sketches[0].distance(&sketches[1]).unwrap();
            prop_assert!((d - exact).abs() < 1e-9, "{} {}", d, exact);
        }

        #[test]
        fn the_mean_of_the_bins_is_the_mean(values in prop::collection::vec(0..2_000_u64, 1..60), bins in 1..40_u16) {
            let sketch: Sketch = values.into_iter().collect();
            let means = sketch.bin_means(0.0, 1.0, bins);
            let mean = means.iter().sum::<f64>() / f64::from(bins);
            prop_assert!(means.is_sorted_by(|one, other| *one <= other + 1e-6));
            prop_assert!((mean - sketch.mean().unwrap()).abs() < 1e-6);
        }
    }
}
