//! What each end knows of a transfer when it is over.

use record::Distribution;
use serde::{Deserialize, Serialize};

/// How a transfer ended at its sender.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All that was to be sent was acknowledged.
    Complete,
    /// It could not be carried out.
    #[default]
    Failed,
    /// Whoever answered by ICMP limits his answers: the figure would be his, not the path's.
    Limited,
    /// The receiver acknowledged what it cannot have.
    Lied,
    /// Nothing came back any more.
    Stalled,
    /// Its time was over.
    Time,
}

impl Outcome {
    /// As the table `transfers` says it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Lied => "lied",
            Self::Limited => "limited",
            Self::Stalled => "stalled",
            Self::Time => "time",
        }
    }
}

/// The sender's counters, ours or the kernel's.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct SenderResult {
    /// Which transfer.
    pub id: u16,
    /// When the first segment left, after the run's start.
    pub start_ns: Option<u64>,
    /// From then to the last acknowledgement that counts.
    pub seconds: Option<f64>,
    /// Segments acknowledged in order; of the kernel's TCP, as many full ones as `bytes` make.
    pub segments: u64,
    /// Octets of payload acknowledged in order.
    pub bytes: u64,
    /// Packets with payload that left, copies among them.
    pub sent_packets: u64,
    /// Those of them that were copies of segments sent before.
    pub retransmits: u64,
    /// Retransmission timeouts; 0 for the kernel's TCP, as are the two that follow.
    pub timeouts: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Those of them that sent more than one packet again; none of the kernel's TCP, as of the next two.
    #[serde(default)]
    pub multiple_losses: Option<u64>,
    /// Timeouts at which a whole window was out and nothing of it had arrived.
    #[serde(default)]
    pub lost_windows: Option<u64>,
    /// Most segments that were out at a time, from the oldest unacknowledged.
    #[serde(default)]
    pub largest_flight: Option<u32>,
    /// Acknowledgements that no honest receiver sends.
    pub violations: u64,
    /// Congestion control, by the kernel's name for it: `reno`, `cubic`.
    pub cc: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it ended so, in words, where that is not plain.
    pub reason: Option<String>,
    /// How good the instrument was at this end.
    pub quality: Quality,
}

/// The receiver's counters, ours or the kernel's.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ReceiverResult {
    /// Which transfer.
    pub id: u16,
    /// Packets with payload that arrived, each counted once, however often the path delivered it.
    pub packets: u64,
    /// In a lab: packets that its links dropped on the way of this transfer's data, where nothing else was under way.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// Packets that arrived after one that had left later (RFC 4737 section 3.3); 0 for the kernel's TCP.
    pub reordered: u64,
    /// Those of them that at least three of these had overtaken; none where that is not known, as of the next.
    #[serde(default)]
    pub reordered_by_3: Option<u64>,
    /// Most packets that overtook one.
    #[serde(default)]
    pub most_overtaking: Option<u32>,
    /// Packets whose segment had arrived already; 0 for the kernel's TCP.
    pub duplicates: u64,
    /// Packets that arrived marked CE (RFC 3168); 0 for the kernel's TCP.
    pub marked: u64,
    /// How good the instrument was at this end.
    pub quality: Quality,
}

/// How good the instrument was at one end of a transfer.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Quality {
    /// From a datagram's arrival, by the kernel's stamp, to its being looked at.
    pub late_us: Option<Distribution>,
    /// Share of a processor that the thread took.
    pub thread_pct: Option<f64>,
    /// Datagrams that were not taken: no form, a wrong tag, another transfer's.
    pub refused: u64,
    /// Datagrams above the server's limit, dropped unread.
    pub above_limit: u64,
    /// Times that sending waited for the server's limit.
    #[serde(default)]
    pub held: u64,
    /// Datagrams that found the socket's buffer full.
    pub overflows: u64,
    /// Times that the kernel did not take what was to be sent.
    pub blocked: u64,
    /// Packets of whomever that this host's interface dropped meanwhile; none where that is not known.
    #[serde(default)]
    pub interface_dropped: Option<u64>,
    /// Rows of the table `segments` beyond those that are kept.
    pub rows_left_out: u64,
    /// Datagrams that are not in the packet trace.
    #[serde(default)]
    pub trace_left_out: u64,
}
