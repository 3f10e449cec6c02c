//! What the two ends of an RRUL run say to each other, one JSON line each.
//!
//! ```text
//! near: setup       the streams, and when on the far end's clock the run begins
//! far:  ready       or refused, with the reason
//!       ... the run: nothing is said, so that nothing but the plan loads the path ...
//! near: finish
//! far:  rows ...    what it sampled, in lines of at most ROWS_PER_LINE
//! far:  done        what it has to say of itself
//! ```

use super::plan::Transport;
use kit::mailbox::CallArrival;
use kit::sampler::StreamEnd;
use schema::tables::{Cpu, Hop, Series};
use serde::{Deserialize, Serialize};
use units::{Dscp, Rate, Span};

/// Rows in one line: far below the longest line.
pub const ROWS_PER_LINE: usize = 50;
/// Kind octet of an RRUL stream in the preamble.
pub const STREAM_KIND: u8 = 1;

/// What the near end says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Near {
    /// What is going to happen.
    Setup(Box<Setup>),
    /// Send what was sampled.
    Finish,
}

/// A run, as the far end needs to know it.
#[derive(Debug, Deserialize, Serialize)]
pub struct Setup {
    /// The run's start, on the far end's monotonic clock.
    pub origin_ns: u64,
    /// From the run's start to its end.
    pub total: Span,
    /// The streams in which it has a part.
    pub streams: Vec<StreamSetup>,
    /// The page that it is to serve.
    #[serde(default)]
    pub page: Option<web::PageModel>,
}

/// A stream in which the far end has a part.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StreamSetup {
    /// Its number, as in the preamble and in all tables.
    pub id: u16,
    /// What the far end does with it.
    pub role: Role,
    /// What carries a load.
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    /// DSCP of what the far end sends.
    pub class: Dscp,
    /// Congestion control of the sender; without one, its host's default.
    pub cc: Option<String>,
    /// The most that the far end sends on it, payload; without one, as much as the path takes. Of UDP what either end sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// When the sender starts and stops, after the run's start.
    pub start: Span,
    /// When the sender stops, after the run's start.
    pub stop: Span,
}

/// What the far end does with a stream.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sends back each message that arrives.
    Echo {
        /// Octets of a message.
        size: u16,
    },
    /// Keeps counters of a call's datagrams.
    Listen {
        /// The interval at which they are sent.
        every: Span,
    },
    /// Receives as much as comes.
    Sink,
    /// Sends as much as it can.
    Source,
    /// Sends a call's datagrams to where the stream's requests came from.
    Talk {
        /// Octets of a datagram.
        size: u16,
        /// From one to the next.
        every: Span,
    },
    /// Traces the path to where the stream's requests came from.
    Trace {
        /// How often each hop is asked.
        every: Span,
        /// The most hops.
        hops: u8,
    },
}

impl Role {
    /// Where the stream's data goes, as the tables say it.
    pub const fn direction(self) -> &'static str {
        match self {
            Self::Echo { .. } | Self::Trace { .. } => "both",
            Self::Listen { .. } | Self::Sink => "up",
            Self::Source | Self::Talk { .. } => "down",
        }
    }
}

/// What the far end says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Far {
    /// It is ready.
    Ready,
    /// It will not.
    Refused(String),
    /// What it sampled.
    Rows(Vec<Row>),
    /// There is no more.
    Done(Box<Done>),
}

/// One sample of the far end.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Row {
    /// A datagram of a call arrived.
    Call(CallArrival),
    /// A busy-ness of its processors.
    Cpu(Cpu),
    /// A probe of a trace was answered, or not.
    Hop(Hop),
    /// One stream in one bin.
    Series(Box<Series>),
    /// The end of a stream.
    Stream(StreamEnd),
}

/// What the far end has to say of itself.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Done {
    /// Processor time that its process took for the run.
    pub process_cpu_s: f64,
    /// Rows that it did not keep because there were too many.
    pub rows_lost: u64,
    /// Datagrams of this session that it answered, and those that it refused.
    pub replied: u64,
    /// Datagrams with a wrong tag, or above the session's limit.
    pub refused: u64,
}
