//! What a run of `isobath mbm` found.

use crate::LinkTruth;
use mbm::model::Conservativeness;
use mbm::sequential::Lines;
use mbm::suite::TestResult;
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run of `isobath mbm` found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Summary {
    /// The target window: as many packets as must be under way to carry the rate.
    pub window_packets: u32,
    /// The target run length: packets between two losses, as asked for.
    pub run_length_packets: u64,
    /// The model's formula for it.
    pub formula: String,
    /// Where that comes from.
    pub source: String,
    /// A loss rate up to this is good, 0 to 1.
    pub p0: f64,
    /// A loss rate from this on is bad, 0 to 1.
    pub p1: f64,
    /// The lines of the sequential test between the two, by which losses are judged (RFC 8337 section 7.2).
    pub lines: Lines,
    /// What the model says a path with those loss rates would carry.
    pub conservativeness: Conservativeness,
    /// Least round trip of the path before the tests; null when none came back.
    pub path_rtt_ms: Option<f64>,
    /// Each test.
    pub tests: Vec<TestSummary>,
    /// In a lab: what its links carried, queued and dropped.
    pub links: Vec<LinkTruth>,
}

/// What one test found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct TestSummary {
    /// What the test says, and its figures.
    #[serde(flatten)]
    pub result: TestResult,
    /// Which of the streams side by side, from 1; null when it was the only one.
    #[serde(default)]
    pub stream: Option<u16>,
    /// The section of RFC 8337 that defines it.
    pub section: String,
    /// When it began, after the run's start.
    pub start_s: f64,
    /// How long it took.
    pub seconds: f64,
    /// Packets that left.
    pub packets_sent: u64,
    /// The same in octets, headers included.
    pub bytes_sent: u64,
    /// Round trips from a packet to the report of it, or TCP's smoothed ones every 10 ms; null when nothing came back.
    pub rtt_ms: Option<Distribution>,
    /// What TCP said, where it carried the test; null for datagrams.
    #[serde(default)]
    pub tcp: Option<TcpFigures>,
}

/// What TCP says of a test that it carried.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TcpFigures {
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
