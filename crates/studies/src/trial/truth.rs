//! What was available on the bottleneck while somebody estimated it.
//!
//! T (section 5.2.1) holds estimates against the available bandwidth "tabulated by the receiving host on the bottleneck link, based on
//! the traffic it receives": the link's rate less all that it carried, probes apart, for these the tool brings itself. Riders count as
//! traffic, wherever they travelled.

use super::ledger::SECOND;
use super::prober::Estimated;
use super::tables::{EstimateRow, ThroughputRow};
use std::collections::BTreeMap;
use units::Rate;

/// What was available, second by second.
pub(super) struct Truth {
    capacity_mbps: f64,
    /// What each second had left, in Mbit/s.
    seconds: BTreeMap<u64, f64>,
    /// Estimations whose seconds are not all known.
    open: Vec<Estimated>,
}

impl Truth {
    pub(super) fn new(capacity: Rate) -> Self {
        Self {
            capacity_mbps: capacity.as_mbps(),
            seconds: BTreeMap::new(),
            open: Vec::new(),
        }
    }

    pub(super) fn carried(&mut self, rows: &[ThroughputRow]) {
        for row in rows.iter().filter(|row| row.kind != "probe") {
            let left = self
                .seconds
                .entry(row.t_ns / SECOND)
                .or_insert(self.capacity_mbps);
            *left -= row.bytes as f64 * 8e-6;
        }
    }

    pub(super) fn estimated(&mut self, estimated: Estimated) {
        self.open.push(estimated);
    }

    /// The rows of estimations that were over before `settled_ns`.
    pub(super) fn take(&mut self, settled_ns: u64) -> Vec<EstimateRow> {
        let open = std::mem::take(&mut self.open);
        let over =
            |estimated: &Estimated| estimated.row.end_ns / SECOND * SECOND + SECOND <= settled_ns;
        let (over, open): (Vec<_>, Vec<_>) = open.into_iter().partition(over);
        self.open = open;
        over.into_iter()
            .map(|estimated| self.row(estimated.row))
            .collect()
    }

    /// With what was available in the seconds of its time.
    fn row(&self, row: EstimateRow) -> EstimateRow {
        let seconds = row.t_ns / SECOND..=row.end_ns / SECOND;
        let left: Vec<f64> = self.seconds.range(seconds).map(|(_, left)| *left).collect();
        if left.is_empty() {
            return row;
        }
        let sum: f64 = left.iter().sum();
        EstimateRow {
            truth_mbps: Some(sum / left.len() as f64),
            truth_low_mbps: left.iter().copied().min_by(f64::total_cmp),
            truth_high_mbps: left.iter().copied().max_by(f64::total_cmp),
            ..row
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/measures.
    #[test]
    fn what_is_left_is_the_rate_less_all_but_probes() {
        let mut truth = Truth::new("10Mbit".parse().unwrap());
        let row = |second: u64, kind: &'static str, mbps: u64| ThroughputRow {
            t_ns: second * SECOND,
            kind: kind.into(),
            packets: 1,
            bytes: mbps * 125_000,
        };
        truth.carried(&[
            row(0, "source", 3),
            row(0, "rider", 1),
            row(0, "probe", 5),
            row(1, "cross", 2),
            row(2, "cross", 9),
        ]);
        let of = |from: u64, to: u64| Estimated {
            row: EstimateRow {
                t_ns: from,
                end_ns: to,
                ..EstimateRow::default()
            },
        };
        truth.estimated(of(0, SECOND + 1));
        assert!(
            truth.take(SECOND + 2).is_empty(),
            "its last second is not over"
        );
        let rows = truth.take(2 * SECOND);
        let [one] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(
            (one.truth_low_mbps, one.truth_mbps, one.truth_high_mbps),
            (Some(6.0), Some(7.0), Some(8.0))
        );
        truth.estimated(of(9 * SECOND, 9 * SECOND));
        assert_eq!(truth.take(11 * SECOND)[0].truth_mbps, None);
    }
}
