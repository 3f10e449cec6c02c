//! Round trips by class, and what was lost of them.

use super::figures::Phases;
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Round trips, of all classes and of each.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Latency {
    /// Whose they are: `udp_rr`, or of a far end that answers no such requests `icmp_rr` or `tcp_connect`, of a browser `wt_rr` or `ws_rr`.
    pub of: Option<String>,
    /// Before the load, all classes.
    pub idle: Option<Distribution>,
    /// Under load, all classes.
    pub loaded: Option<Distribution>,
    /// The same by DSCP name.
    pub by_class: BTreeMap<String, Phases>,
    /// The same by IP version: `v4`, `v6`.
    pub by_family: BTreeMap<String, Phases>,
}

impl Latency {
    /// What the requests are, for people.
    pub fn words(&self) -> &'static str {
        match self.of.as_deref() {
            Some("icmp_rr") => "ICMP",
            Some("tcp_connect") => "TCP SYN",
            Some("ws_rr") => "WebSocket",
            Some("wt_rr") => "WebTransport",
            _ => "UDP",
        }
    }
}

/// Round trips with a far end beside the servers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Beside {
    /// The round trips, without the time that the far end says it took itself.
    pub rtt_ms: Phases,
    /// Share of the requests that were never answered; null over a connection, which repeats what is lost.
    pub loss_pct: Shares,
}

/// Shares in per cent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Shares {
    /// Before the load.
    pub idle: Option<f64>,
    /// Under load.
    pub loaded: Option<f64>,
}
