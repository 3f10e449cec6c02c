//! Amounts over time in bounded space: sums over bins of equal width, for several columns at once.
//!
//! A row says that so many octets arrived between two instants. They are spread evenly over the bins that the time
//! covers, so the sum over all bins is exact and rows that end a little early or late leave no notches.

use crate::number::short;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Columns of sums on one time axis. Bins double in width when there would be too many.
#[derive(Clone, Debug)]
pub(crate) struct Grid<K> {
    width_ns: u64,
    most_bins: usize,
    columns: BTreeMap<K, Vec<f64>>,
}

/// One column, per bin.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Steps {
    /// Width of a bin; the first begins at 0.
    pub(crate) bin_s: f64,
    /// Value of each bin.
    pub(crate) v: Vec<f64>,
}

/// A count in each bin that has any.
#[derive(Default, Serialize)]
pub(crate) struct Counts {
    /// When each of these bins begins, in seconds.
    t_s: Vec<f64>,
    n: Vec<u64>,
}

impl<K: Ord + Clone> Grid<K> {
    pub(crate) fn new(width_ns: u64, most_bins: usize) -> Self {
        Self {
            width_ns: width_ns.max(1),
            most_bins: most_bins.max(2),
            columns: BTreeMap::new(),
        }
    }

    /// Spreads `amount` over the time from `from_ns` to `to_ns`.
    pub(crate) fn add(&mut self, column: &K, (from_ns, to_ns): (u64, u64), amount: f64) {
        while to_ns / self.width_ns >= self.most_bins as u64 {
            self.widen();
        }
        let width = self.width_ns;
        let bins = self.columns.entry(column.clone()).or_default();
        let (first, last) = (index(from_ns.min(to_ns) / width), index(to_ns / width));
        if bins.len() <= last {
            bins.resize(last + 1, 0.0);
        }
        let length = to_ns.saturating_sub(from_ns);
        if length == 0 {
            bins[last] += amount;
            return;
        }
        for (at, bin) in bins.iter_mut().enumerate().take(last + 1).skip(first) {
            let start = (at as u64).saturating_mul(width);
            let end = start.saturating_add(width);
            let covered = end.min(to_ns).saturating_sub(start.max(from_ns));
            *bin += amount * (covered as f64 / length as f64);
        }
    }

    fn widen(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        for bins in self.columns.values_mut() {
            *bins = bins.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }

    pub(crate) fn width_s(&self) -> f64 {
        self.width_ns as f64 / 1e9
    }

    pub(crate) fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// Every column, with its sums times `factor` per second of a bin.
    pub(crate) fn per_second(&self, factor: f64) -> impl Iterator<Item = (&K, Steps)> {
        self.columns.iter().map(move |(key, bins)| {
            let scale = factor / self.width_s();
            let v = bins.iter().map(|sum| short(sum * scale)).collect();
            (
                key,
                Steps {
                    bin_s: self.width_s(),
                    v,
                },
            )
        })
    }

    /// A column of ones that were added, as counts.
    pub(crate) fn counts(&self, column: &K) -> Counts {
        let mut counts = Counts::default();
        let bins = self.columns.get(column).into_iter().flatten();
        for (at, &n) in bins.enumerate().filter(|(_, n)| **n > 0.0) {
            counts.t_s.push(short(at as f64 * self.width_s()));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a sum of ones"
            )]
            counts.n.push(n as u64);
        }
        counts
    }

    /// The sums of every column.
    pub(crate) fn sums(&self) -> impl Iterator<Item = (&K, &[f64])> {
        self.columns
            .iter()
            .map(|(key, bins)| (key, bins.as_slice()))
    }
}

/// A bin's number as an index: [`Grid::add`] has made it small.
fn index(bin: u64) -> usize {
    usize::try_from(bin).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_all_there_however_bins_lie() {
        let mut grid = Grid::new(100, 8);
        grid.add(&"a", (50, 250), 200.0);
        grid.add(&"b", (700, 700), 5.0);
        assert_eq!(grid.sums().next(), Some((&"a", &[50.0, 100.0, 50.0][..])));
        grid.add(&"a", (3_150, 3_199), 7.0);
        assert_eq!(grid.width_ns(), 400);
        let sums: Vec<f64> = grid.sums().map(|(_, bins)| bins.iter().sum()).collect();
        assert_eq!(sums, [207.0, 5.0]);
    }

    #[test]
    fn absurd_times_cost_no_memory() {
        let mut grid = Grid::new(1, 10);
        grid.add(&0, (0, u64::MAX), 1.0);
        grid.add(&0, (u64::MAX, 3), 1.0);
        assert!(grid.sums().all(|(_, bins)| bins.len() <= 10));
    }
}
