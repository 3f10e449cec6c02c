//! What the two ends of a `btc` run say to each other, one JSON line each.
//!
//! ```text
//! near: btc         when on the far end's clock the run began
//!   near: round     transfers that are to run at once
//!   ...   the near end sends requests by UDP until the far end has seen its address
//!   far:  ready     or refused, with the reason
//!   near: go
//!   ...   the transfers: nothing is said, so that nothing else loads the path ...
//!   far:  over      all that the far end sends is over
//!   near: end
//!   far:  rows ...  what it saw
//!   far:  trace ... the packets, where these are traced
//!   far:  books     how its part of each transfer went
//! near: finish
//! far:  done        what it has to say of itself
//! ```

use super::log::Row;
use super::plan::{Limit, Tool};
use super::results::{ReceiverResult, SenderResult};
use serde::{Deserialize, Serialize};
use transport::Options;
use units::{Dscp, Span};

/// Kind octet of a kernel's transfer in the preamble.
pub const STREAM_KIND: u8 = 2;
/// Rows in one line: far below the longest line.
pub const ROWS_PER_LINE: usize = 100;

/// A run begins.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Setup {
    /// The run's start, on the far end's monotonic clock.
    pub origin_ns: u64,
}

/// What the near end says then.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Near {
    /// These transfers are over, or given up.
    End,
    /// So is the run.
    Finish,
    /// The far end's senders may begin.
    Go,
    /// Transfers that are to run at once.
    Round(Vec<TransferSetup>),
}

/// The far end's part in one transfer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TransferSetup {
    /// Its number in the run, which is also that of its stream.
    pub id: u16,
    /// What carries it.
    pub tool: Tool,
    /// Whether the far end sends.
    pub sends: bool,
    /// The rules of its sender and its receiver.
    pub options: Options,
    /// How much is sent.
    pub limit: Limit,
    /// DSCP of what the far end sends.
    pub class: Dscp,
    /// It is given up when nothing is heard of it for so long.
    pub patience: Span,
    /// Datagrams that are to be traced at most; none without.
    #[serde(default)]
    pub trace: u64,
}

/// What the far end says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Far {
    /// How its part of each transfer of the round went.
    #[serde(rename = "books")]
    Results(Vec<FarResult>),
    /// Of itself.
    Done(Done),
    /// All that it sends is over.
    Over,
    /// It is ready.
    Ready,
    /// It will not.
    Refused(String),
    /// A piece of the packet trace of a transfer, as base64: [`super::capture::Journal`] says what is in it.
    Trace {
        /// Which transfer.
        id: u16,
        /// A chunk of the journal, in base64.
        octets: String,
    },
    /// What it saw.
    Rows(Vec<Row>),
}

/// The far end's side of one transfer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FarResult {
    /// It received.
    Receiver(ReceiverResult),
    /// It sent.
    Sender(SenderResult),
}

/// What the far end has to say of itself.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Done {
    /// Processor time that its process took for the run.
    pub process_cpu_s: f64,
    /// Rows that it did not keep because there were too many.
    pub rows_lost: u64,
}
