//! A log of the beginnings and ends of TCP connections.

use packet::{Frame, connection_of, tcp_flags};
use path::Packet;
use units::{FlowId, Instant};

/// A segment that begins or ends a connection: one with SYN, FIN or RST, as it left a link. What was dropped on the link
/// is not among them; what was sent again is there again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Signal {
    /// Its logical departure.
    pub at: Instant,
    /// The flow of its direction ([`flow`](packet::flow)).
    pub flow: FlowId,
    /// The connection that both directions have in common ([`connection`](packet::connection)).
    pub connection: FlowId,
    flags: u8,
}

impl Signal {
    const FIN: u8 = 0x01;
    const SYN: u8 = 0x02;
    const RST: u8 = 0x04;

    /// The signal that `packet` is, if it is one.
    pub(crate) fn of(packet: &Packet<Frame>) -> Option<Self> {
        let octets = packet.body.bytes();
        let flags = tcp_flags(octets)?;
        if flags & (Self::SYN | Self::FIN | Self::RST) == 0 {
            return None;
        }
        let (flow, connection) = connection_of(octets)?;
        Some(Self {
            at: packet.at,
            flow,
            connection,
            flags,
        })
    }

    /// Whether it asks for a connection, or agrees to one.
    pub const fn syn(&self) -> bool {
        self.flags & Self::SYN != 0
    }

    /// Whether it ends its direction of the connection.
    pub const fn fin(&self) -> bool {
        self.flags & Self::FIN != 0
    }

    /// Whether it ends the connection at once.
    pub const fn rst(&self) -> bool {
        self.flags & Self::RST != 0
    }

    /// All flags of the segment, as in its header (RFC 9293 section 3.1).
    pub const fn flags(&self) -> u8 {
        self.flags
    }
}
