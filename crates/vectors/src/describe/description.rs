//! The description as a value.

use super::{Course, Measure, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a set of vectors is like.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What it is a description of: a file, say.
    pub name: String,
    /// From the beginning of the trace to the last start, in seconds.
    pub last_start_s: f64,
    /// Connections.
    pub connections: Amounts,
    /// Octets of applications, both ways.
    pub bytes: Amounts,
    /// Octets of initiators and of acceptors.
    pub bytes_each_way: [u64; 2],
    /// The fewest segments that carry the ADUs of initiators and of acceptors: packets, without acknowledgements, handshakes
    /// and repetitions. A connection that does not say its segment size counts with 1,460 octets.
    pub segments_each_way: [u64; 2],
    /// Epochs of sequential connections.
    pub epochs: u64,
    /// The shares that D quotes.
    pub shares: Shares,
    /// Flows of UDP, which are in none of the other figures: D's tables are of TCP.
    pub udp: Udp,
    /// The distributions; a measure without any value is missing.
    pub quantities: BTreeMap<Measure, Quantity>,
    /// What starts and is said when.
    pub course: Course,
}

/// Flows of UDP and what they carry.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Udp {
    /// Flows.
    pub flows: u64,
    /// Of these, the isochronous ones; the others are exchanges.
    pub isochronous: u64,
    /// Of all flows, those in which only one end sent anything.
    pub one_way: u64,
    /// Datagrams with data, but for acknowledgements, both ways.
    pub datagrams: u64,
    /// Octets of applications, both ways.
    pub bytes: u64,
    /// These over the time from the first start to the last end, in bit/s; null when that is no time.
    pub mean_bps: Option<f64>,
}

/// An amount and its parts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Amounts {
    /// Of all connections.
    pub all: u64,
    /// Of sequential ones.
    pub sequential: u64,
    /// Of concurrent ones.
    pub concurrent: u64,
    /// Of those, sequential or concurrent, in which only one end sent anything.
    pub one_way: u64,
    /// Of those whose end was not seen. That the beginning was not is not said by a vector, so this is at least D's
    /// *incomplete* without those.
    pub unfinished: u64,
}

/// Shares from 0 to 1, each of what stands in brackets; null when there is nothing to have a share of.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// Concurrent (connections).
    pub concurrent_connections: Option<f64>,
    /// Of concurrent connections (octets).
    pub concurrent_bytes: Option<f64>,
    /// With exactly one epoch (sequential connections).
    pub one_epoch: Option<f64>,
    /// Of 500 ms and more (waits between request and response). A replay after D has only these; so in the next two.
    pub intra_epoch_emulated: Option<f64>,
    /// Of 500 ms and more (waits between epochs).
    pub inter_epoch_emulated: Option<f64>,
    /// Of 500 ms and more (waits of concurrent connections).
    pub concurrent_quiet_emulated: Option<f64>,
    /// Without a round-trip time (connections).
    pub unknown_rtt: Option<f64>,
    /// That advertised 60 KiB or more, D's "64 KB" (initiators that advertised anything). Scaled windows are among them.
    pub initiators_64k: Option<f64>,
    /// The same of acceptors.
    pub acceptors_64k: Option<f64>,
    /// That never advertised 8 KiB (initiators that advertised anything).
    pub initiators_below_8k: Option<f64>,
    /// The same of acceptors.
    pub acceptors_below_8k: Option<f64>,
}
