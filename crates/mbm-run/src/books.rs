//! What each end knows of a test when it is over.

use kit::datagrams::Quality;
use mbm::loss::{Counts, LossReport};
use mbm::stream::{PatternReport, Round, ScanReport};
use mbm::verdict::{TestFigures, Verdict};
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sender's books, the verdict among them.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SenderBooks {
    /// Packets that left.
    pub sent: u64,
    /// From the first packet to the verdict.
    pub seconds: f64,
    pub verdict: Verdict,
    /// Of a test that is decided by losses.
    pub figures: Option<TestFigures>,
    /// Of a test with a scanned window.
    pub scan: Option<ScanReport>,
    /// Of slow start until a loss.
    pub rounds: Vec<Round>,
    pub pattern: PatternReport,
    /// Round trips from packet to report.
    pub rtt_ms: Option<Distribution>,
    /// What the receiver had told by then.
    pub told: Counts,
    pub quality: Quality,
    /// Of a test that TCP carried.
    #[serde(default)]
    pub tcp: Option<TcpBooks>,
}

/// The receiver's books.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ReceiverBooks {
    /// What became of all packets.
    pub loss: LossReport,
    pub quality: Quality,
}

/// What TCP says of a test that it carried.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TcpBooks {
    /// The congestion control that the kernel says it used.
    pub congestion_control: String,
    /// Octets of data in a full segment.
    pub mss: u32,
    /// Rate to which the kernel was told to pace, data alone, bit/s; null for tests that are not paced.
    pub pacing_bps: Option<u64>,
    /// Segments that the receiver was to offer room for; null for tests without a window.
    pub window_packets: Option<u32>,
    /// Segments that it offered room for at the end.
    pub offered_packets: Option<u32>,
    /// Segments that left with data, those that were sent again included.
    pub segments: u64,
    /// Segments that were sent again: what counts as lost.
    pub retransmits: u64,
    /// Of these, segments that had arrived after all, as the receiver reported (DSACK, RFC 2883); null when unknown.
    pub spurious: Option<u64>,
    /// Data that was acknowledged over the whole test, 10^6 bit/s.
    pub acked_mbps: f64,
    /// Smallest congestion window of the test period, in segments; null before it began.
    pub cwnd_min: Option<u32>,
    /// Largest.
    pub cwnd_max: Option<u32>,
    /// Share of the looks at which TCP had nothing left to send, 0 to 1: that is this program's slowness, not the path's. Null for bursts.
    pub dry: Option<f64>,
}
