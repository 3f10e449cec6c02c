//! Pieces of a test's result in the units of a page.

use crate::number::{ms, short};
use mbm::loss::Share;
use mbm::stream::PatternReport;
use serde::Serialize;

/// How the pattern of a test's packets was kept.
#[derive(Serialize)]
pub(super) struct Pattern {
    pub(super) burst_packets: u32,
    headway_ms: Option<f64>,
    bursts: u64,
    late: u64,
    smeared: u64,
    kept: bool,
}

impl Pattern {
    pub(super) fn of(report: &PatternReport) -> Self {
        Self {
            burst_packets: report.burst_packets,
            headway_ms: report.headway_ns.map(ms).map(short),
            bursts: report.bursts,
            late: report.late,
            smeared: report.smeared,
            kept: report.kept,
        }
    }
}

/// Lost or marked, with the exact 95 % interval.
#[expect(clippy::struct_field_names, reason = "named as in records")]
#[derive(Serialize)]
pub(super) struct Lost {
    observed_pct: f64,
    low_pct: f64,
    high_pct: f64,
}

impl Lost {
    pub(super) fn of(share: &Share) -> Self {
        Self {
            observed_pct: short(share.observed_pct),
            low_pct: short(share.low_pct),
            high_pct: short(share.high_pct),
        }
    }
}
