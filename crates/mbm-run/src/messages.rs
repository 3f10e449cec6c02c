//! What the two ends of an `mbm` run say to each other, one JSON line each.
//!
//! ```text
//! near: mbm         when on the far end's clock the run began, and the plan
//!   near: test      one test
//!   ...   the near end sends requests by UDP until the far end has seen its address
//!   far:  ready     or refused, with the reason
//!   near: go        if the far end sends
//!   ...   the test ...
//!   near: end       so much was sent: where the near end sends, or to call the test off
//!   for each stream:
//!     far:  rows ...  what it saw, if it sends
//!     far:  books     its side of the test
//! near: finish
//! far:  done        what it has to say of itself
//! ```

use super::plan::Plan;
use super::results::{ReceiverResult, SenderResult};
use mbm::diagnostic::Test;
use serde::{Deserialize, Serialize};

/// Rows in one line: far below the longest line.
pub const ROWS_PER_LINE: usize = 200;

/// A run begins.
#[derive(Debug, Deserialize, Serialize)]
pub struct Setup {
    /// The run's start, on the far end's monotonic clock.
    pub origin_ns: u64,
    /// What the run is to do.
    pub plan: Plan,
}

/// What the near end says then.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Near {
    /// The test is over: so many packets were sent by each stream; none to call it off.
    End(Vec<u64>),
    /// So is the run.
    Finish,
    /// The far end may send.
    Go,
    /// A test.
    Test(TestSetup),
}

/// The far end's part in one test.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct TestSetup {
    /// The number of its first stream.
    pub stream: u16,
    /// Which of the tests of RFC 8337 it is.
    pub test: Test,
    /// Round trip of the path when it was idle.
    pub path_rtt_ns: u64,
}

/// What the far end says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Far {
    /// Its side of one stream of the test; the streams in their order.
    #[serde(rename = "books")]
    Results(FarResult),
    /// Of itself.
    Done(Done),
    /// It is ready.
    Ready,
    /// It will not.
    Refused(String),
    /// Packets of the stream whose counters come next, as its sender saw them.
    Rows(Vec<Passed>),
}

/// The far end's side of one test.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FarResult {
    /// It received.
    Receiver(Box<ReceiverResult>),
    /// It sent.
    Sender(Box<SenderResult>),
}

/// A packet of a test whose arrival was reported.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Passed {
    /// Number of the packet in its stream.
    pub seq: u64,
    /// When it left, on the sender's clock.
    pub sent_ns: u64,
    /// When it arrived, on the receiver's clock.
    pub arrived_ns: u64,
    /// When the report came, on the sender's clock.
    pub reported_ns: u64,
    /// Whether it arrived marked CE.
    pub ce: bool,
}

/// What the far end has to say of itself.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Done {
    /// Processor time that its process took for the run.
    pub process_cpu_s: f64,
}
