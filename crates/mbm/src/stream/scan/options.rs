//! What a scan is to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How fast the window grows.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Growth {
    /// One packet for every two windows delivered: what Reno does, and what the reference run length counts (`3 W^2` packets
    /// from W to 2W).
    #[default]
    Reno,
    /// One packet for every so many delivered; RFC 8337 section 6.3 names twice the target window.
    Every {
        /// Packets.
        packets: u32,
    },
}

/// What a scan is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanOptions {
    /// Window to begin with, in packets.
    pub from: u32,
    /// Window to stop at though nothing was lost, unless a queue stands there.
    pub to: u32,
    /// Window to stop at though a queue stands.
    pub furthest: u32,
    /// Mean delay of a step that is a standing queue: beyond [`to`](Self::to) its end is looked for.
    pub standing: Duration,
    /// How fast the window grows.
    pub growth: Growth,
    /// Round trip of the path, roughly.
    pub path_rtt: Duration,
    /// Standing queue at which the scan stops though nothing was lost.
    pub delay_limit: Duration,
}
