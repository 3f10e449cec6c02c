//! What an emulated network says of a run.

use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the links of a lab did while somebody's program ran in it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct LabSummary {
    /// Where the longest queue was, in words.
    pub sentence: String,
    /// How long the command ran, in seconds.
    pub seconds: f64,
    /// Its exit status, as a shell has it; null while it runs, and when this program was killed before it ended.
    pub exit_status: Option<u8>,
    /// One entry for each direction of each link.
    pub lab: Vec<LinkTruth>,
}

/// What the counters of one direction of a link say of the time under load.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct LinkTruth {
    /// The link: its two nodes.
    pub link: String,
    /// `up` is from the first node to the second.
    pub direction: String,
    /// The configured rate, or a trace's mean; null for a link without one.
    pub rate_mbps: Option<f64>,
    /// What it carried, IP headers included.
    pub carried_mbps: f64,
    /// The queue's length as the time it takes to drain; null for a link without a rate.
    pub queue_ms: Option<Distribution>,
    /// Packets dropped in the whole run because the queue was full.
    pub dropped_overflow: u64,
    /// Packets dropped in the whole run by queue management.
    pub dropped_aqm: u64,
    /// Packets dropped in the whole run by emulated loss.
    pub dropped_loss: u64,
    /// Packets marked in the whole run.
    pub marked: u64,
    /// Median lateness of the emulator behind the logical departure.
    pub emulator_late_p50_us: f64,
    /// Its 99th percentile.
    pub emulator_late_p99_us: f64,
    /// Packets that the emulator could not hand back to the kernel.
    pub unwritten: u64,
}
