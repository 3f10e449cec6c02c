//! Burst provisioning ("PowerBoost"): a path that carries more for some seconds than it sustains.
//!
//! RRUL, *Test Requirements*: the test must run long enough to defeat such optimisations, and discard the data from that
//! interval. A change point is looked for in each direction's total throughput, what pages took included (or the first page
//! would look like the end of an allowance); the loaded time begins behind the last one.

use super::view::View;
use stats::change_point::{Least, Step, step_down};
use std::collections::BTreeMap;
use std::ops::Range;

/// Width of a bin of the throughput series.
const BIN_NS: u64 = 100_000_000;
/// After the end of the allowance TCP and the queues need this long to settle again.
const SETTLE_NS: u64 = 1_000_000_000;
/// Less loaded time than this is no measurement: then nothing is discarded, and the settling time must do.
const LEAST_NS: u64 = 3_000_000_000;

impl View<'_> {
    /// Moves the start of the loaded time behind the end of a burst allowance.
    pub(super) fn discard_boost(&mut self) {
        let ends = ["down", "up"].map(|direction| Some(self.boost(direction)?.0));
        let Some(end) = ends.into_iter().flatten().max() else {
            return;
        };
        let start = end + SETTLE_NS;
        if start > self.loaded.start && start + LEAST_NS <= self.loaded.end {
            self.discarded = Some(self.loaded.start..start);
            self.loaded.start = start;
        }
    }

    /// Throughput before and after the end of the allowance in Mbit/s, if one was discarded: of the direction in which it
    /// made more of a difference.
    pub(super) fn boost_rates(&self) -> Option<[f64; 2]> {
        self.discarded.as_ref()?;
        let steps = ["down", "up"].map(|direction| self.boost(direction));
        let rates = steps
            .into_iter()
            .flatten()
            .map(|(_, step)| [step.before, step.after]);
        rates.max_by(|a, b| (a[0] - a[1]).total_cmp(&(b[0] - b[1])))
    }

    /// When the allowance of `direction` ends, and the rates around it.
    fn boost(&self, direction: &str) -> Option<(u64, Step)> {
        let (start, end) = (self.load_start(), self.loaded.end);
        let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
        for row in self.all_bins(direction, true) {
            let middle = row.t_ns.saturating_sub(row.bin_ns / 2);
            if (start..end).contains(&middle) {
                let bytes = bins.entry((middle - start) / BIN_NS).or_default();
                *bytes += row.delivered_bytes.unwrap_or_default();
            }
        }
        let last = *bins.keys().next_back()?;
        if direction == "down" {
            self.add_pages(start..end, &mut bins);
        }
        let mbps = |bin| bins.get(&bin).copied().unwrap_or_default() as f64 * 8e3 / BIN_NS as f64;
        let series: Vec<f64> = (0..last).map(mbps).collect();
        let step = step_down(&series, Least::default())?;
        Some((start + step.at as u64 * BIN_NS, step))
    }

    /// Adds what pages took within `when`: an object's octets evenly over the time in which they came.
    fn add_pages(&self, when: Range<u64>, bins: &mut BTreeMap<u64, u64>) {
        for object in &self.tables.objects {
            let (Some(total), Some(receive)) = (object.total_ns, object.receive_ns) else {
                continue;
            };
            let last = object.t_ns + total;
            let first = last.saturating_sub(receive);
            if first < when.start || last >= when.end {
                continue;
            }
            let (first, last) = ((first - when.start) / BIN_NS, (last - when.start) / BIN_NS);
            let share = object.bytes / (last - first + 1);
            for bin in first..=last {
                *bins.entry(bin).or_default() += share;
            }
        }
    }

    fn load_start(&self) -> u64 {
        super::view::nanos(self.plan.load_start())
    }
}
