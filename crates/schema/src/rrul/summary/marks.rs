//! What became of the marks: DSCP and ECN as sent against as arrived.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of one class, or of one ECN field.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Marks {
    /// What packets of this mark arrived with at the server, and how many (datagrams and, for a class, TCP handshakes).
    pub up: BTreeMap<String, u64>,
    /// What packets of this mark arrived with at the client, and how many (datagrams).
    pub down: BTreeMap<String, u64>,
}

/// What became of the ECN field (RFC 3168).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct EcnFigures {
    /// By the field as sent: `Not-ECT`, `ECT(0)`, `ECT(1)`; empty when no datagram was ECN-capable.
    pub sent: BTreeMap<String, Marks>,
    /// Share of ECN-capable datagrams that arrived with congestion experienced, up and down together.
    pub ce_pct: Option<f64>,
    /// Share of ECN-capable datagrams that arrived as not capable: somebody clears the field.
    pub bleached_pct: Option<f64>,
}
