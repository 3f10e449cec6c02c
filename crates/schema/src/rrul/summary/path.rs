//! Where on the path delay under load begins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where delay under load begins, seen from both ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct PathFigures {
    /// Traced from the client.
    pub up: Trace,
    /// Traced from the server.
    pub down: Trace,
    /// The two ends of the link where the queue is, as far as the two traces tell; the first is nearer to the client.
    pub between: Option<[String; 2]>,
}

/// The path as traced from one end.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Trace {
    /// The first hop at which delay under load rises and stays; null when there is none, or nothing was traced.
    pub hop: Option<u8>,
    /// By how much, in the median.
    pub rise_ms: Option<f64>,
    /// The hops from near to far.
    pub hops: Vec<HopFigures>,
}

/// One hop.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct HopFigures {
    /// How many hops away.
    pub hop: u8,
    /// Who answered most often; null when nobody did.
    pub address: Option<String>,
    /// Whether this is the other end, which replies by itself; routers answer by ICMP.
    pub is_end: bool,
    /// Share of probes that were answered before the load.
    pub answered_idle_pct: Option<f64>,
    /// Share of probes that were answered under load.
    pub answered_loaded_pct: Option<f64>,
    /// Median round trip before the load.
    pub idle_ms: Option<f64>,
    /// Median round trip under load.
    pub loaded_ms: Option<f64>,
}
