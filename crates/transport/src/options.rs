//! Everything that may be chosen, as data: what *cap*'s command line could change, and what standards added since.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// The rules of a transfer. The default is what a current kernel's Reno does, as far as there are rules for it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switches one mechanism, and all combinations are meant"
)]
pub struct Options {
    /// Octets of data in a full segment. 1,448 is TCP's with time stamps on a path for 1,500 octets by IPv4 (1,428 by IPv6). To be
    /// comparable a packet of ours is as long as TCP's with as much data (IP header, 32 octets of TCP header, data): our own
    /// header lies inside what counts as data.
    pub mss: u16,
    /// Segments that may be in flight before the first acknowledgement (RFC 3390, RFC 6928: 10).
    pub initial_window: u32,
    /// The sender's own limit of the window, in segments; the paper's measurements had 135.
    pub max_window: Option<u32>,
    /// Slow start threshold to begin with, in segments; none is as high as it can be (RFC 5681 section 3.1).
    pub initial_ssthresh: Option<u32>,
    /// How the window grows and shrinks.
    #[serde(rename = "law")]
    pub congestion_control: CongestionControl,
    /// Reno's growth in congestion avoidance.
    pub growth: Growth,
    /// CUBIC's choices.
    pub cubic: Cubic,
    /// Segments by which one acknowledgement may open the window in slow start: RFC 3465's L; none counts acknowledgements, not segments.
    pub abc: Option<u32>,
    /// How loss is found and repaired.
    pub recovery: Recovery,
    /// Acknowledgements without progress that mean loss (RFC 5681 section 3.2: 3).
    pub dup_thresh: u32,
    /// A new segment for each of the first two duplicates (RFC 3042).
    pub limited_transmit: bool,
    /// Proportional rate reduction (RFC 6937); otherwise as RFC 5681 and RFC 6675 say.
    pub prr: bool,
    /// Loss by time (RACK) and tail loss probes (RFC 8985).
    pub rack: bool,
    /// Undoes what a loss did that was none: spurious timeouts and reordering shown by the echo of time stamps or by DSACK (RFC 3522, RFC 4015, RFC 3708).
    pub undo: bool,
    /// A round-trip sample of each acknowledgement by time stamps (RFC 7323); otherwise one a window, never of a retransmission (RFC 6298 section 3).
    pub timestamps: bool,
    /// Retransmission timeout before the first sample (RFC 6298 section 2.1: 1 s), and its bounds. The RFC's least is 1 s; kernels have 200 ms.
    pub rto_initial: Span,
    /// See `rto_initial`.
    pub rto_min: Span,
    /// See `rto_initial`.
    pub rto_max: Span,
    /// What `rto_min` is the least of.
    pub rto_floor: RtoFloor,
    /// Answers marks like losses (RFC 3168); segments are sent with ECT(0).
    pub ecn: bool,
    /// After a pause of a retransmission timeout the window falls back to the initial one (RFC 5681 section 4.1), by half for each
    /// timeout that passed (RFC 2861; what the Linux kernel does).
    pub restart_after_idle: bool,
    /// The window grows only when it was used up (RFC 9293 and RFC 7661's reason).
    pub validate_window: bool,
    /// The receiver's delay of acknowledgements.
    pub delayed_ack: DelayedAck,
    /// Segments that the receiver has room for.
    pub receive_window: u32,
    /// The number of the first segment.
    pub first_seq: u32,
}

/// How the window grows and shrinks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    /// RFC 5681.
    #[default]
    Reno,
    /// RFC 9438.
    Cubic,
}

impl CongestionControl {
    /// The name that the kernel has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Reno => "reno",
        }
    }
}

/// Reno's growth in congestion avoidance.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// By the octets acknowledged: one segment when a window's worth of them has been (RFC 3465 section 2.1; what kernels do).
    #[default]
    Bytes,
    /// By 1/cwnd for each acknowledgement: 4.4BSD's, and the paper's later rule.
    PerAck,
    /// By one segment when an entire window has been acknowledged: the paper's first rule.
    PerWindow,
}

/// CUBIC's choices (RFC 9438).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cubic {
    /// Window after a congestion event, as a share of the one before (section 4.6: 0.7).
    pub beta: f64,
    /// Aggressiveness, in segments a second cubed (section 5.1: 0.4).
    pub c: f64,
    /// Gives up room when the window did not reach the former one (section 4.7).
    pub fast_convergence: bool,
    /// Leaves slow start when round trips grow (RFC 9406 in spirit; kernels: the delay part of `HyStart`).
    pub hystart: bool,
    /// How Reno's window is estimated, below which CUBIC's does not stay.
    pub reno_estimate: RenoEstimate,
}

/// What CUBIC holds Reno's window to be (RFC 9438 section 4.3).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RenoEstimate {
    /// As the RFC says: from the window before the cut on it grows like Reno's, and CUBIC's window is never below it.
    #[default]
    Rfc9438,
    /// As the Linux kernel counts: in whole segments, of which one takes 15/8 of a window's acknowledgements, and CUBIC's window follows within
    /// another window's. It gets less where windows are small.
    Linux,
}

/// How loss is found and repaired.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Fast retransmit and fast recovery (RFC 5681 section 3.2): a partial acknowledgement ends it.
    Reno,
    /// RFC 6582.
    NewReno,
    /// RFC 6675.
    #[default]
    Sack,
}

/// What `rto_min` is the least of.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RtoFloor {
    /// Of the term for the variation: the timeout is at least SRTT + `rto_min`. The Linux kernel's way.
    #[default]
    Variation,
    /// Of the timeout (RFC 6298 section 2.4).
    Timeout,
}

/// When the receiver acknowledges (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct DelayedAck {
    /// At the latest at every so many segments; 1 is at once.
    pub every: u32,
    /// And at the latest so long after a segment arrived.
    pub interval: Span,
    /// Segments at the start of a transfer, and after a pause of a retransmission timeout, that are acknowledged at once; short ones always are where
    /// the ends do not take turns (kernels do so to open the window; the RFCs do not). 0 is as the RFCs say.
    pub quick: u32,
    /// While a segment is missing, three acknowledgements at once, and then one for all that comes in this time, or in a twentieth of the RTT
    /// (kernels do so; RFC 5681 section 4.2 has one at once for each). It takes a receiver that knows the RTT, as those of virtual time's
    /// connections do. 0 is as the RFC says.
    pub compression: Span,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mss: 1_448,
            initial_window: 10,
            max_window: None,
            initial_ssthresh: None,
            congestion_control: CongestionControl::Reno,
            growth: Growth::Bytes,
            cubic: Cubic::default(),
            abc: Some(u32::MAX),
            recovery: Recovery::Sack,
            dup_thresh: 3,
            limited_transmit: true,
            prr: true,
            rack: true,
            undo: true,
            timestamps: true,
            rto_initial: Span::from_millis(1_000),
            rto_min: Span::from_millis(200),
            rto_max: Span::from_millis(120_000),
            rto_floor: RtoFloor::Variation,
            ecn: false,
            restart_after_idle: true,
            validate_window: true,
            delayed_ack: DelayedAck::default(),
            receive_window: 1 << 20,
            first_seq: 0,
        }
    }
}

impl Default for Cubic {
    fn default() -> Self {
        Self {
            beta: 0.7,
            c: 0.4,
            fast_convergence: true,
            hystart: true,
            reno_estimate: RenoEstimate::default(),
        }
    }
}

impl Default for DelayedAck {
    fn default() -> Self {
        Self {
            every: 2,
            interval: Span::from_millis(40),
            quick: 16,
            compression: Span::from_millis(1),
        }
    }
}
