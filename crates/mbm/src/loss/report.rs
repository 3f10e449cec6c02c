//! What became of the packets, in the form of a record.

use super::{Counts, Ledger, ReorderingReport, Runs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::proportion;

/// Confidence of the intervals.
const LEVEL: f64 = 0.95;

/// A share of packets with its confidence intervals, per cent.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Share {
    /// The share observed.
    pub observed_pct: f64,
    /// Lower end of the exact 95 % interval (Clopper and Pearson).
    pub low_pct: f64,
    /// Upper end.
    pub high_pct: f64,
    /// Lower end of Wilson's 95 % interval.
    pub wilson_low_pct: f64,
    /// Upper end.
    pub wilson_high_pct: f64,
}

impl Share {
    /// Of `m` among `n` packets; `None` when there are none. Both intervals take the packets as independent and their number as
    /// chosen beforehand: after a sequential test they are a guide.
    pub fn of(m: u64, n: u64) -> Option<Self> {
        let exact = proportion::exact(m, n, LEVEL)?;
        let wilson = proportion::wilson(m, n, LEVEL)?;
        Some(Self {
            observed_pct: 100.0 * exact.estimate,
            low_pct: 100.0 * exact.low,
            high_pct: 100.0 * exact.high,
            wilson_low_pct: 100.0 * wilson.low,
            wilson_high_pct: 100.0 * wilson.high,
        })
    }
}

/// What became of the packets of a test.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LossReport {
    /// Packets, losses and marks.
    pub counts: Counts,
    /// Losses and marks as a share; null without packets.
    pub loss: Option<Share>,
    /// Runs of losses, and whether they are independent; null where only totals are known.
    pub runs: Option<Runs>,
    /// Reordering; null where it could not be seen.
    pub reordering: Option<ReorderingReport>,
    /// Further copies of packets that had arrived.
    pub duplicates: u64,
    /// Packets that came after they had been given up; they count as lost.
    pub late: u64,
}

impl LossReport {
    /// Of a receiver's counters.
    pub fn of(ledger: &Ledger) -> Self {
        Self {
            runs: Some(ledger.independence().report()),
            reordering: Some(ledger.reordering().report()),
            duplicates: ledger.duplicates(),
            late: ledger.late(),
            ..Self::of_counts(*ledger.counts())
        }
    }

    /// Of totals alone, as a kernel or another measurement gives them.
    pub fn of_counts(counts: Counts) -> Self {
        Self {
            counts,
            loss: Share::of(counts.marks().min(counts.packets), counts.packets),
            runs: None,
            reordering: None,
            duplicates: 0,
            late: 0,
        }
    }
}
