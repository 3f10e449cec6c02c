//! What is measured of connections and of what they are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In what a value is told.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Unit {
    /// A number of things.
    #[serde(rename = "1")]
    One,
    /// Octets.
    #[serde(rename = "B")]
    Octets,
    /// Milliseconds; kept in microseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// A share from 0 to 1; kept in millionths.
    #[serde(rename = "share")]
    Share,
}

impl Unit {
    /// How many of what a sketch counts make one of it.
    pub(crate) const fn per_count(self) -> f64 {
        match self {
            Self::One | Self::Octets => 1.0,
            Self::Milliseconds => 1e3,
            Self::Share => 1e6,
        }
    }
}

/// A quantity whose distribution is described. Each has one value per what stands in brackets; sections are D's.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Octets both ways (connection; section 6.3.1).
    ConnectionBytes,
    /// Octets of the initiator (connection).
    InitiatorBytes,
    /// Octets of the acceptor (connection).
    AcceptorBytes,
    /// Epochs (sequential connection; section 3.1.3.1).
    Epochs,
    /// *a*: size of a request (sequential epoch that has one; section 3.1.3.2).
    RequestBytes,
    /// *b*: size of a response (sequential epoch that has one; section 3.1.3.2).
    ResponseBytes,
    /// ADUs of both ends (concurrent connection).
    ConcurrentAdus,
    /// Size of an ADU of either end (ADU of a concurrent connection; section 3.1.3.2).
    ConcurrentAduBytes,
    /// *ta*: from a request to its response (sequential epoch that has both; section 3.1.3.3).
    IntraEpochMs,
    /// *tb*: from an epoch to the next (sequential epoch but the last; section 3.1.3.3).
    InterEpochMs,
    /// From an ADU to the next of the same end (ADU of a concurrent connection but each end's last; section 3.1.3.3).
    ConcurrentQuietMs,
    /// From the last ADU to the close (connection, or end of a concurrent one, whose close was seen; section 3.1.3.3).
    TailMs,
    /// All waits but those before the first ADU and after the last; of a concurrent connection those of the end that
    /// waits longer (connection). A connection lasts that long even if its ADUs take no time.
    WaitingMs,
    /// Minimum round-trip time (connection for which it is known; section 3.1.4.1).
    MinRttMs,
    /// Largest window that the initiator advertised (connection that has one; section 3.1.4.2).
    InitiatorWindowBytes,
    /// Largest window that the acceptor advertised (connection that has one; section 3.1.4.2).
    AcceptorWindowBytes,
    /// Segments of the initiator that were lost (connection; section 2.3.2).
    InitiatorLoss,
    /// Segments of the acceptor that were lost (connection; section 2.3.2).
    AcceptorLoss,
}

impl Measure {
    /// All, in the order of a description.
    pub const ALL: [Self; 18] = [
        Self::ConnectionBytes,
        Self::InitiatorBytes,
        Self::AcceptorBytes,
        Self::Epochs,
        Self::RequestBytes,
        Self::ResponseBytes,
        Self::ConcurrentAdus,
        Self::ConcurrentAduBytes,
        Self::IntraEpochMs,
        Self::InterEpochMs,
        Self::ConcurrentQuietMs,
        Self::TailMs,
        Self::WaitingMs,
        Self::MinRttMs,
        Self::InitiatorWindowBytes,
        Self::AcceptorWindowBytes,
        Self::InitiatorLoss,
        Self::AcceptorLoss,
    ];

    /// What to call it on a page: what it is, and of what.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ConnectionBytes => "octets of a connection",
            Self::InitiatorBytes => "octets of an initiator",
            Self::AcceptorBytes => "octets of an acceptor",
            Self::Epochs => "epochs of a connection",
            Self::RequestBytes => "size of a request",
            Self::ResponseBytes => "size of a response",
            Self::ConcurrentAdus => "ADUs, concurrent",
            Self::ConcurrentAduBytes => "size of an ADU, concurrent",
            Self::IntraEpochMs => "wait within an epoch",
            Self::InterEpochMs => "wait between epochs",
            Self::ConcurrentQuietMs => "quiet time, concurrent",
            Self::TailMs => "wait before the close",
            Self::WaitingMs => "all waits of a connection",
            Self::MinRttMs => "minimum round trip",
            Self::InitiatorWindowBytes => "window of an initiator",
            Self::AcceptorWindowBytes => "window of an acceptor",
            Self::InitiatorLoss => "loss of an initiator",
            Self::AcceptorLoss => "loss of an acceptor",
        }
    }

    /// In what its values are told.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Epochs | Self::ConcurrentAdus => Unit::One,
            Self::ConnectionBytes
            | Self::InitiatorBytes
            | Self::AcceptorBytes
            | Self::RequestBytes
            | Self::ResponseBytes
            | Self::ConcurrentAduBytes
            | Self::InitiatorWindowBytes
            | Self::AcceptorWindowBytes => Unit::Octets,
            Self::IntraEpochMs
            | Self::InterEpochMs
            | Self::ConcurrentQuietMs
            | Self::TailMs
            | Self::WaitingMs
            | Self::MinRttMs => Unit::Milliseconds,
            Self::InitiatorLoss | Self::AcceptorLoss => Unit::Share,
        }
    }
}
