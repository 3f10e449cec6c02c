//! What programs sent, found in the headers of a packet.
//!
//! [`dissect`] goes from the link to the transport: Ethernet with any number of VLAN tags, Linux cooked captures of both
//! versions, the loopback of BSD, raw IP; IPv4 with options, IPv6 with extension headers; TCP and UDP. It needs the headers
//! and nothing behind them, so a capture that kept 96 octets of each packet is as good as a whole one: how much a segment
//! carried is in the lengths of the headers. Nothing is copied but numbers.
//!
//! Of an IP packet in fragments only the first has ports. It counts as a segment with as much payload as it has itself; the
//! others are told apart ([`Reason::Fragment`]) and nothing is put together: a stream of TCP shows by its sequence numbers
//! what is missing.

mod ip;
mod link;
mod segment;
mod tcp;

pub use segment::{Datagram, Endpoint, Flags, Segment, TcpOptions};

use crate::read::Packet;

/// What a packet is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dissected {
    /// A segment of TCP.
    Tcp(Segment),
    /// A datagram of UDP.
    Udp(Datagram),
    /// Something else.
    Other(Reason),
}

/// Why a packet is neither.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reason {
    /// On a kind of link that is not known here.
    Link,
    /// Not IP: ARP, a bridge's own frames.
    NotIp,
    /// IP, but neither TCP nor UDP: ICMP, a tunnel.
    Protocol,
    /// A fragment that is not the first.
    Fragment,
    /// So little was kept that a header is missing.
    Cut,
    /// Lengths that contradict each other.
    Malformed,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Link,
        Self::NotIp,
        Self::Protocol,
        Self::Fragment,
        Self::Cut,
        Self::Malformed,
    ];
}

/// Finds out what `packet` is.
#[inline]
pub fn dissect(packet: &Packet<'_>) -> Dissected {
    link::network(packet)
        .and_then(|network| ip::transport(&network))
        .and_then(|transport| tcp::payload(packet.at_ns, &transport))
        .unwrap_or_else(Dissected::Other)
}

/// Octets `at..at + N`, if they were kept.
#[inline]
fn octets<const N: usize>(from: &[u8], at: usize) -> Result<&[u8; N], Reason> {
    from.get(at..)
        .and_then(|rest| rest.first_chunk())
        .ok_or(Reason::Cut)
}

#[inline]
fn number16(from: &[u8], at: usize) -> Result<u16, Reason> {
    octets(from, at).map(|octets| u16::from_be_bytes(*octets))
}

#[cfg(test)]
mod tests;
