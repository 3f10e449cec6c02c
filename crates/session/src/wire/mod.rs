//! What the data plane looks like on the wire: the [`Preamble`] that opens a TCP data stream and
//! the [`Probe`] header of a UDP datagram.
//!
//! Numbers are in network byte order. Each format has `parse`, which takes any octets and never
//! panics, and `emit`, which writes and tags. `parse` only says that the octets have the form; they
//! are worth nothing until the tag has been verified with the key of the session they name, which
//! is why the two steps are apart: the key is found by the session in the parsed header.
//!
//! TCP and UDP share one port with the control connection (one firewall rule). The first octet of a
//! TCP connection tells what it is: 0x16 is a TLS handshake (RFC 8446 section 5.1), 0x49 (`I`)
//! begins a preamble, and anything else is closed without an answer.

mod preamble;
mod probe;

pub use preamble::Preamble;
pub use probe::{Flags, Kind, Probe, Receipt};

use thiserror::Error;

/// The four octets at the head of everything on the data plane.
pub const MAGIC: [u8; 4] = *b"ISOB";
/// The version of both formats.
pub const VERSION: u8 = 1;

/// Why octets from the network were not taken.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum WireError {
    /// Not our magic number.
    #[error("not an isobath packet")]
    Magic,
    /// Too short for its header.
    #[error("packet shorter than its header")]
    Short,
    /// The tag does not match: another session, or tampered with.
    #[error("the packet's tag is wrong")]
    Tag,
    /// A kind that this version does not have.
    #[error("unknown kind of packet {0}")]
    UnknownKind(u8),
    /// A version that this program does not speak.
    #[error("unknown packet version {0}")]
    UnknownVersion(u8),
}

/// Copies the `N` octets at `at`; the caller has checked that the header is there.
fn octets<const N: usize>(header: &[u8], at: usize) -> Result<[u8; N], WireError> {
    header
        .get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .ok_or(WireError::Short)
}

/// Checks magic number and version, which both formats have in the same place.
fn check_head(header: &[u8]) -> Result<(), WireError> {
    if octets::<4>(header, 0)? != MAGIC {
        return Err(WireError::Magic);
    }
    match octets::<1>(header, 4)? {
        [VERSION] => Ok(()),
        [other] => Err(WireError::UnknownVersion(other)),
    }
}
