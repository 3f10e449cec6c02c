//! What travels between the hosts.

use path::Packet;
use sim::tcp::Tcp;
use sim::{Addressed, Parcel};

/// What a packet brings.
#[derive(Clone, Debug)]
pub enum Body {
    /// A packet of a connection beside the overlay.
    Tcp(Tcp),
    /// A datagram of the overlay, from its envelope on.
    Overlay(Vec<u8>),
    /// A manager's word by an IP packet of so many octets; 0 where the length does not matter.
    Word(u16),
}

/// The same packet with another body.
pub(super) fn with<P, Q>(packet: Parcel<P>, make: impl FnOnce(P) -> Q) -> Parcel<Q> {
    let Addressed { from, to, payload } = packet.body;
    Packet {
        size: packet.size,
        flow: packet.flow,
        family: packet.family,
        dscp: packet.dscp,
        ecn: packet.ecn,
        at: packet.at,
        body: Addressed {
            from,
            to,
            payload: make(payload),
        },
    }
}
