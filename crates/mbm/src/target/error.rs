//! Targets that cannot be.

use thiserror::Error;
use units::{Rate, Span};

/// Why a target cannot be tested, and what to do about it.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TargetError {
    /// The round-trip time is zero.
    #[error(
        "a target needs a round-trip time above zero: name that of the complete path, such as --rtt 50ms"
    )]
    NoRoundTrip,
    /// A packet has no room for data.
    #[error(
        "a packet of {mtu} octets has no room for data behind {overhead} octets of headers: raise --mtu or lower --overhead"
    )]
    NoPayload {
        /// Octets of a full packet.
        mtu: u32,
        /// Octets of headers.
        overhead: u32,
    },
    /// No IP packet is so long.
    #[error("no IP packet has {mtu} octets: --mtu is at most 65535")]
    LongPacket {
        /// Octets of a full packet.
        mtu: u32,
    },
    /// The window is one packet.
    #[error(
        "{rate} over {rtt} is one packet of {payload} octets of data in flight, and no model says what loss does to a window of 1: raise --rate or --rtt, or lower --mtu"
    )]
    SmallWindow {
        /// The target's rate.
        rate: Rate,
        /// The target's round-trip time.
        rtt: Span,
        /// Octets of data in a packet.
        payload: u32,
    },
    /// The window is out of all proportion.
    #[error(
        "{rate} over {rtt} would need more than 16,777,216 packets in flight: lower --rate or --rtt, or raise --mtu"
    )]
    LargeWindow {
        /// The target's rate.
        rate: Rate,
        /// The target's round-trip time.
        rtt: Span,
    },
    /// The sender's interface is too slow.
    #[error(
        "the target needs {needed} on the link, and the sender's interface has {line}: lower --rate or use a faster interface"
    )]
    OverInterface {
        /// The rate with headers.
        needed: Rate,
        /// The interface's rate.
        line: Rate,
    },
    /// A derating is not a share, or has no reason.
    #[error("{what}")]
    Derating {
        /// What is wrong, and what to do.
        what: String,
    },
    /// A model's parameter makes no sense with this target.
    #[error("{what}")]
    Model {
        /// What is wrong, and what to do.
        what: String,
    },
    /// The text is no target.
    #[error("{origin}: {what}")]
    Text {
        /// The file, or the name of a built-in target.
        origin: String,
        /// What is wrong, with the line.
        what: String,
    },
    /// There is no built-in target of that name.
    #[error("no target is called {name}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names of the built-in targets.
        known: String,
    },
}
