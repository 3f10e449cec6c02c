//! What a run of `isobath rpm` found.

use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The figures of a run. What was not measured is null.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Summary {
    /// The answer to the question that the run asked.
    pub sentence: String,
    /// Requests on new connections before any load.
    pub idle: Foreign,
    /// Round trips per minute of these: 60,000 ms divided by the mean of their means.
    pub idle_rpm: Option<f64>,
    /// Under load from the server.
    pub down: Option<Way>,
    /// Under load to the server.
    pub up: Option<Way>,
}

/// Requests on connections of their own.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Foreign {
    /// The TCP handshake; null by HTTP/3.
    pub tcp_ms: Option<Distribution>,
    /// The TLS handshake, per round trip; by HTTP/3 that of QUIC, which has TLS's in it.
    pub tls_ms: Option<Distribution>,
    /// The request and its answer.
    pub http_ms: Option<Distribution>,
}

/// One direction under load. Times are those of the last intervals, as many as a moving average has.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Way {
    /// Round trips per minute (draft-ietf-ippm-responsiveness-09).
    pub rpm: Option<f64>,
    /// `high` where they settled, `medium` where they did not, `low` where there were too few intervals to tell.
    pub rpm_confidence: String,
    /// The same by the formula of version 03 of the draft.
    pub rpm_draft_03: Option<f64>,
    /// Of requests on connections of their own alone.
    pub foreign_rpm: Option<f64>,
    /// Of requests on connections that carry load alone.
    pub self_rpm: Option<f64>,
    /// Payload of HTTP that was carried: the moving average at the end.
    pub goodput_mbps: Option<f64>,
    /// As `rpm_confidence`, of the goodput.
    pub goodput_confidence: String,
    /// Connections that carried load at the end.
    pub connections: u32,
    /// Intervals.
    pub intervals: u32,
    /// Requests on connections of their own.
    pub foreign: Foreign,
    /// Requests on connections that carry load.
    pub self_ms: Option<Distribution>,
    /// Requests that came to nothing, of the whole direction.
    pub failed: u64,
}
