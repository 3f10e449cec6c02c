//! Pieces of a test's result that a page shows as the record has them.

use crate::number::{ms, short};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
pub(super) struct Spread {
    min: f64,
    p50: f64,
    p99: f64,
    max: f64,
}

#[derive(Deserialize, Serialize)]
pub(super) struct Counts {
    packets: u64,
    #[serde(default)]
    lost: u64,
    #[serde(default)]
    ce: u64,
}

/// Lost or marked, with the exact 95 % interval.
#[expect(clippy::struct_field_names, reason = "named as in records")]
#[derive(Deserialize, Serialize)]
pub(super) struct Share {
    observed_pct: f64,
    low_pct: f64,
    high_pct: f64,
}

#[derive(Deserialize, Serialize)]
pub(super) struct Check {
    name: String,
    #[serde(default)]
    held: Option<bool>,
    #[serde(default)]
    evidence: String,
}

#[derive(Deserialize, Serialize)]
pub(super) struct Runs {
    #[serde(default)]
    bursts: u64,
    #[serde(default)]
    longest_burst: u64,
    #[serde(default)]
    independent: Option<bool>,
    #[serde(default)]
    says: String,
}

#[derive(Deserialize, Serialize)]
pub(super) struct Reordering {
    reordered: u64,
    reordered_pct: f64,
    max_extent: u64,
}

#[derive(Deserialize, Serialize)]
pub(super) struct Pattern {
    pub(super) burst_packets: u32,
    #[serde(default, skip_serializing)]
    headway_ns: Option<u64>,
    #[serde(default, skip_deserializing)]
    headway_ms: Option<f64>,
    #[serde(default)]
    bursts: u64,
    #[serde(default)]
    late: u64,
    #[serde(default)]
    smeared: u64,
    #[serde(default)]
    kept: Option<bool>,
}

impl Share {
    pub(super) fn short(self) -> Self {
        Self {
            observed_pct: short(self.observed_pct),
            low_pct: short(self.low_pct),
            high_pct: short(self.high_pct),
        }
    }
}

impl Pattern {
    pub(super) fn in_ms(self) -> Self {
        Self {
            headway_ms: self.headway_ns.map(ms).map(short),
            ..self
        }
    }
}
