//! What travels.

use crate::Headers;
use transport::{Ack, Segment};
use units::Instant;

/// Octets of a SYN: 20 of IPv4, 20 of TCP, 20 of options (MSS, SACK permitted, time stamps, window scale), as Linux sends it.
const SYN: u32 = 60;
/// Octets of a packet that resets: the two headers.
const RESET: u32 = 40;
/// Octets of the headers of a datagram: 20 of IPv4, 8 of UDP.
const UDP_HEADERS: u32 = 28;

/// A packet of a connection. It is copied from stage to stage of a path, so what is large in it is elsewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Tcp {
    /// Asks for the connection, with the time at which it left (RFC 7323 section 3.2).
    Syn(Instant),
    /// Agrees to it, with the time at which it left and the echo of the SYN that came first.
    SynAck(Box<[Instant; 2]>),
    /// The handshake's last acknowledgement, with the echo of what it confirms.
    Confirm(Instant),
    /// Data, or the end of them.
    Data(Box<Data>),
    /// An acknowledgement alone.
    Ack(Box<Ack>),
    /// The connection is no more.
    Reset,
    /// Of no connection: a datagram beside them, which the host handles itself.
    Udp(Datagram),
}

/// A datagram of UDP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Datagram {
    /// Octets of payload.
    pub len: u16,
    /// What its sender says in it.
    pub label: Option<u32>,
}

/// Data with what goes beside them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Data {
    /// The data; none in the segment of a FIN alone.
    pub segment: Segment,
    /// These are the last.
    pub fin: bool,
    /// Of the other direction.
    pub ack: Option<Ack>,
}

impl Datagram {
    /// Octets on the wire.
    pub const fn size(&self) -> u32 {
        UDP_HEADERS + self.len as u32
    }
}

impl Tcp {
    /// Whether it asks for a connection.
    pub const fn is_syn(&self) -> bool {
        matches!(self, Self::Syn(_))
    }

    /// Whether it ends a direction.
    pub fn is_fin(&self) -> bool {
        matches!(self, Self::Data(data) if data.fin)
    }

    /// Whether it breaks the connection.
    pub const fn is_reset(&self) -> bool {
        matches!(self, Self::Reset)
    }

    /// Octets on the wire, with these headers.
    pub fn size(&self, headers: &Headers) -> u32 {
        match self {
            Self::Syn(_) | Self::SynAck(_) => SYN,
            Self::Confirm(_) => headers.ack,
            Self::Data(data) => {
                let options = data
                    .ack
                    .as_ref()
                    .map_or(0, |ack| headers.of_blocks(&ack.sack));
                headers.of_segment(&data.segment) + options
            }
            Self::Ack(ack) => headers.of_ack(ack),
            Self::Reset => RESET,
            Self::Udp(datagram) => datagram.size(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small_enough_to_be_copied_often() {
        assert!(size_of::<crate::Parcel<Tcp>>() <= 56);
    }
}
