//! What travels.

use crate::Headers;
use transport::{Ack, Segment};

/// Octets of a SYN: 20 of IPv4, 20 of TCP, 20 of options (MSS, SACK permitted, time stamps, window scale), as Linux sends it.
const SYN: u32 = 60;
/// Octets of a packet that resets: the two headers.
const RESET: u32 = 40;

/// A packet of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tcp {
    /// Asks for the connection.
    Syn,
    /// Agrees to it.
    SynAck,
    /// Data, or the end of them.
    Segment {
        /// The data; none in the segment of a FIN alone.
        segment: Segment,
        /// These are the last.
        fin: bool,
        /// Of the other direction.
        ack: Option<Ack>,
    },
    /// An acknowledgement alone; the handshake's last has nothing to say of data.
    Ack(Option<Ack>),
    /// The connection is no more.
    Reset,
}

impl Tcp {
    /// Whether it asks for a connection or agrees to one.
    pub const fn is_syn(&self) -> bool {
        matches!(self, Self::Syn | Self::SynAck)
    }

    /// Whether it ends a direction.
    pub const fn is_fin(&self) -> bool {
        matches!(self, Self::Segment { fin: true, .. })
    }

    /// Whether it breaks the connection.
    pub const fn is_reset(&self) -> bool {
        matches!(self, Self::Reset)
    }

    /// Octets on the wire, with these headers.
    pub fn size(&self, headers: &Headers) -> u32 {
        let options = |ack: &Option<Ack>| {
            ack.as_ref()
                .map_or(0, |ack| headers.of_ack(ack) - headers.ack)
        };
        match self {
            Self::Syn | Self::SynAck => SYN,
            Self::Segment { segment, ack, .. } => headers.of_segment(segment) + options(ack),
            Self::Ack(ack) => headers.ack + options(ack),
            Self::Reset => RESET,
        }
    }
}
