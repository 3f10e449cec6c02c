//! What a run of `isobath btc` found.

use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The figures of a run: of our transfers, unless a field says otherwise.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Summary {
    /// Payload acknowledged over time: of one repetition, its parallel transfers together; the mean over repetitions. Null when
    /// no transfer has a figure.
    pub throughput_mbps: Option<f64>,
    /// 95 % interval of that mean over the repetitions (Student's t), lower and upper bound; null of fewer than two.
    #[serde(default)]
    pub throughput_ci_mbps: Option<[f64; 2]>,
    /// Segments acknowledged, all transfers together.
    pub segments: u64,
    /// Packets that did not arrive, of all that were sent.
    pub loss_pct: Option<f64>,
    /// Packets that were copies of segments sent before.
    pub retransmits: u64,
    /// Packets that arrived after one that had left later.
    pub reordered: u64,
    /// Those of them that at least three of these had overtaken: enough for TCP's fast retransmit (RFC 5681 section 3.2).
    #[serde(default)]
    pub reordered_by_3: u64,
    /// Most packets that overtook one; null when no transfer tells.
    #[serde(default)]
    pub most_overtaking: Option<u32>,
    /// Packets that brought what had arrived before.
    pub duplicates: u64,
    /// Timeouts at which a whole window was out and nothing of it had arrived (RFC 3148 section 3.2.2).
    #[serde(default)]
    pub lost_windows: u64,
    /// Most segments of one transfer that were out at a time; null when no transfer tells.
    #[serde(default)]
    pub largest_flight: Option<u32>,
    /// What a TCP needs to get the same (RFC 3148 section 3.5): `window-scaling` (RFC 7323), since more than 65,535 octets were out at a
    /// time; `sack` (RFC 2018), since more was lost within a window than one segment.
    #[serde(default)]
    pub tcp_needs: Vec<String>,
    /// Packets, whoever's they were, that the sending host's own interface dropped during the transfers; null where that is not known.
    #[serde(default)]
    pub interface_dropped: Option<u64>,
    /// Round trips, as the sender took them.
    pub rtt_ms: Option<Distribution>,
    /// Mean time of a transfer.
    pub seconds: Option<f64>,
    /// How the transfers ended, by outcome: those of the kernel among them.
    pub outcomes: BTreeMap<String, u64>,
    /// Our transfers, where they were compared.
    pub ours: Option<Side>,
    /// The kernel's.
    pub kernel: Option<Side>,
    /// By how much ours was faster than the kernel's, of each pair.
    pub difference_pct: Option<Distribution>,
    /// Share of the pairs whose losses differ by at most one percentage point.
    pub loss_agreement_pct: Option<f64>,
    /// The pairs, in the order of the repetitions.
    #[serde(default)]
    pub pairs: Vec<Pair>,
}

/// The transfers of one tool.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Side {
    /// Over the repetitions.
    pub throughput_mbps: Option<Distribution>,
    /// Packets that did not arrive, of all that were sent.
    pub loss_pct: Option<f64>,
    /// Packets that left with payload.
    pub sent_packets: u64,
    /// Those of them that were copies.
    pub retransmits: u64,
    /// Mean time of a transfer.
    pub seconds: Option<f64>,
    /// Congestion control.
    pub cc: String,
}

/// One repetition: our transfer, or our parallel ones together, and the kernel's.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Pair {
    /// Which repetition, from 0.
    pub repeat: u32,
    /// What came first: `ours` or `kernel`.
    pub first: String,
    /// Throughput of ours.
    pub ours_mbps: f64,
    /// Throughput of the kernel's.
    pub kernel_mbps: f64,
    /// By how much ours was faster, of the kernel's.
    pub difference_pct: f64,
    /// Loss of ours.
    pub ours_loss_pct: Option<f64>,
    /// Loss of the kernel's.
    pub kernel_loss_pct: Option<f64>,
}
