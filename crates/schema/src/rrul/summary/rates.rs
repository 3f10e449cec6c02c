//! What the load carried, what its acknowledgements cost, and how evenly it was shared.

use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rates in Mbit/s, means over the loaded time.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Throughput {
    /// Payload of the load delivered to the client.
    pub down: Option<f64>,
    /// Payload of the load delivered to the server.
    pub up: Option<f64>,
    /// Both together.
    pub sum: Option<f64>,
    /// Acknowledgements that travelled down, for the load up.
    pub ack_down: Option<f64>,
    /// Acknowledgements that travelled up, for the load down.
    pub ack_up: Option<f64>,
    /// All that the load and its acknowledgements took down, headers from the IP header on included.
    pub wire_down: Option<f64>,
    /// The same up.
    pub wire_up: Option<f64>,
    /// Both together (RRUL: "MUST track and sum bi-directional throughput, using estimates for ACK sizes").
    pub wire_sum: Option<f64>,
    /// Payload down, by IP version: `v4`, `v6`.
    pub down_by_family: BTreeMap<String, f64>,
    /// Payload up, by IP version.
    pub up_by_family: BTreeMap<String, f64>,
    /// Payload down, by class.
    pub down_by_class: BTreeMap<String, f64>,
    /// Payload up, by class.
    pub up_by_class: BTreeMap<String, f64>,
}

/// Share of the load's segments that were retransmissions, in per cent: at least what was lost.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Retransmitted {
    /// Of those sent to the client.
    pub down: Option<f64>,
    /// Of those sent to the server.
    pub up: Option<f64>,
}

/// Share of the datagrams of load by UDP that did not arrive, in per cent.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct LoadLoss {
    /// Of those sent to the client.
    pub down: Option<f64>,
    /// Of those sent to the server.
    pub up: Option<f64>,
}

/// What probes and calls took of the path, in Mbit/s.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Datagrams {
    /// As they reached the client.
    pub down: DatagramRates,
    /// As the client sent them.
    pub up: DatagramRates,
}

/// A rate by phase, in Mbit/s.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct DatagramRates {
    /// Before the load.
    pub idle: Option<f64>,
    /// Under load.
    pub loaded: Option<f64>,
}

/// Acknowledgements by the direction in which they travelled.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Acks {
    /// Down, for the load up.
    pub down: Option<AckFigures>,
    /// Up, for the load down.
    pub up: Option<AckFigures>,
}

/// What acknowledgements took. Their number is counted or modelled; their size is always that of the headers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct AckFigures {
    /// Where their number is from: `counted` by TCP itself, or `modelled` as one for two full segments.
    pub basis: String,
    /// Acknowledgements in a second.
    pub per_s: f64,
    /// Those that went by IPv4, in Mbit/s.
    pub v4_mbps: f64,
    /// Those that went by IPv6, in Mbit/s.
    pub v6_mbps: f64,
    /// What those by IPv6 would take inside IPv4 (6in4, RFC 4213): always modelled.
    pub v6_encapsulated_mbps: f64,
}

/// How alike the load streams fared. Jain's index: 1 is equal shares, 1/n is one that has all.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Fairness {
    /// Of all streams down over the loaded time; null with fewer than two.
    pub down: Option<f64>,
    /// Of all streams up.
    pub up: Option<f64>,
    /// Of like streams (same class) over the loaded time, down: the mean of the classes; null where no class has two.
    pub like_down: Option<f64>,
    /// The same up.
    pub like_up: Option<f64>,
    /// Of like streams in each 100 ms, down.
    pub like_100ms_down: Option<Distribution>,
    /// The same up.
    pub like_100ms_up: Option<Distribution>,
    /// A stream's mean rate by IPv6 over one by IPv4, down, headers of its segments included; null with only one of them.
    pub v6_over_v4_down: Option<f64>,
    /// The same up.
    pub v6_over_v4_up: Option<f64>,
}

/// Octets of payload.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Transferred {
    /// To the client, in the whole run.
    pub down: Option<u64>,
    /// To the server, in the whole run.
    pub up: Option<u64>,
    /// To the client, in the loaded time.
    pub loaded_down: Option<u64>,
    /// To the server, in the loaded time.
    pub loaded_up: Option<u64>,
}
