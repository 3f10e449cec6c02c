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
    /// What became of the TCP load.
    pub tcp: TcpEcn,
}

/// ECN of the TCP load, by direction; null without load.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct TcpEcn {
    /// Of the load from the server.
    pub down: Option<TcpMarks>,
    /// Of the load to the server.
    pub up: Option<TcpMarks>,
}

/// What the kernels say of the load streams of one direction, over the whole run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct TcpMarks {
    /// Streams of which the kernel tells whether their ends agreed on ECN.
    pub streams: u32,
    /// Those whose ends did.
    pub agreed: u32,
    /// Segments with data that arrived with congestion experienced, as the receivers counted them; null before Linux 6.18.
    pub ce_segments: Option<u64>,
    /// The same as a share of the segments with data that arrived.
    pub ce_pct: Option<f64>,
    /// Segments that were acknowledged with an echo of congestion. The echo of RFC 3168 lasts until the sender has answered it,
    /// so there are more of them than marks.
    pub echoed_segments: Option<u64>,
}
