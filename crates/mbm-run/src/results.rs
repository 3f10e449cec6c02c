//! What each end knows of a test when it is over.

use kit::datagrams::Quality;
use mbm::loss::{Counts, LossReport};
use mbm::stream::{PatternReport, Round, ScanReport};
use mbm::verdict::{TestFigures, Verdict};
use record::Distribution;
use schema::mbm::TcpFigures;
use serde::{Deserialize, Serialize};

/// The sender's counters, the verdict among them.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SenderResult {
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
    pub tcp: Option<TcpFigures>,
}

impl SenderResult {
    /// Of a test in which nothing was sent, for `verdict` was known before.
    pub fn unsent(verdict: Verdict) -> Self {
        Self {
            sent: 0,
            seconds: 0.0,
            verdict,
            figures: None,
            scan: None,
            rounds: Vec::new(),
            pattern: PatternReport::default(),
            rtt_ms: None,
            told: Counts::default(),
            quality: Quality::default(),
            tcp: None,
        }
    }
}

/// The receiver's counters.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ReceiverResult {
    /// What became of all packets.
    pub loss: LossReport,
    pub quality: Quality,
}
