//! What each end knows of a test when it is over.

use super::tcp::TcpBooks;
use crate::kit::datagrams::Quality;
use mbm::loss::{Counts, LossReport};
use mbm::stream::{PatternReport, Round, ScanReport};
use mbm::verdict::{TestFigures, Verdict};
use record::Distribution;
use serde::{Deserialize, Serialize};

/// The sender's books, the verdict among them.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct SenderBooks {
    /// Packets that left.
    pub(crate) sent: u64,
    /// From the first packet to the verdict.
    pub(crate) seconds: f64,
    pub(crate) verdict: Verdict,
    /// Of a test that is decided by losses.
    pub(crate) figures: Option<TestFigures>,
    /// Of a test with a scanned window.
    pub(crate) scan: Option<ScanReport>,
    /// Of slow start until a loss.
    pub(crate) rounds: Vec<Round>,
    pub(crate) pattern: PatternReport,
    /// Round trips from packet to report.
    pub(crate) rtt_ms: Option<Distribution>,
    /// What the receiver had told by then.
    pub(crate) told: Counts,
    pub(crate) quality: Quality,
    /// Of a test that TCP carried.
    #[serde(default)]
    pub(crate) tcp: Option<TcpBooks>,
}

/// The receiver's books.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ReceiverBooks {
    /// What became of all packets.
    pub(crate) loss: LossReport,
    pub(crate) quality: Quality,
}
