//! What a run of `isobath udpst` found.

use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The figures of a run. What was not measured is null.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Summary {
    /// The answer to the question that the run asked.
    pub sentence: String,
    /// From the server.
    pub down: Option<Way>,
    /// To the server.
    pub up: Option<Way>,
}

/// One direction.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Way {
    /// Maximum IP-layer capacity (RFC 9097): the largest rate of IP packets, headers included, that arrived in one sub-interval.
    pub capacity_mbps: Option<f64>,
    /// The mean of all sub-intervals.
    pub mean_mbps: Option<f64>,
    /// End of the first sub-interval that came within 5 % of the capacity, since the direction began.
    pub reached_s: Option<f64>,
    /// Sub-intervals.
    pub intervals: u32,
    /// Datagrams that did not arrive, of all that were sent.
    pub loss_pct: Option<f64>,
    /// Datagrams that came later than one that was sent after them.
    pub reordered: u64,
    /// Datagrams that came twice.
    pub duplicates: u64,
    /// In the sub-interval of the capacity: datagrams that did not arrive.
    pub capacity_loss_pct: Option<f64>,
    /// The least round trip, beside the load.
    pub least_rtt_ms: Option<f64>,
    /// Round trips above the least, one of each trial.
    pub rtt_variation_ms: Option<Distribution>,
    /// One-way delay above the least: the means of trials.
    pub owd_variation_ms: Option<Distribution>,
}
