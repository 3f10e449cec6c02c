//! What programs sent, found in the headers of a packet.
//!
//! [`dissect`] goes from the link to the transport and stops at TCP and UDP. Between them it passes
//!
//! - links: Ethernet, Linux cooked captures of both versions, NFLOG, PPP, Cisco's HDLC, the loopback of BSD, raw IP;
//! - headers of frames: VLAN tags, backbone bridges (PBB), IEEE 802.2 and SNAP, MPLS, `PPPoE`;
//! - IPv4 with options, IPv6 with extension headers;
//! - tunnels: IP in IP, GRE (also of PPTP), `EtherIP`, MPLS in IP; and in UDP, by the port of destination *and* by their header,
//!   VXLAN (4789, 8472), Geneve (6081) and GTP-U (2152). Which of two nets that use the same addresses a packet belongs to is
//!   not kept.
//!
//! It needs the headers and nothing behind them, so a capture that kept 96 octets of each packet is as good as a whole one, where
//! there are no tunnels: how much a segment carried is in the lengths of the headers. Nothing is copied but numbers. There is
//! a limit to the headers of a packet; what has more is told apart ([`Reason::Deep`]).
//!
//! Of an IP packet in fragments only the first has ports. It counts as a segment with as much payload as it has itself; the
//! others are told apart ([`Reason::Fragment`]) and nothing is put together: a stream of TCP shows by its sequence numbers
//! what is missing.

mod frame;
mod ip;
mod layer;
mod link;
mod nflog;
mod reason;
mod segment;
mod tcp;
mod tunnel;

pub use reason::Reason;
pub use segment::{Datagram, Endpoint, Flags, Segment, TcpOptions};

use crate::read::Packet;
use ip::Transport;
use layer::{Layer, Rest};

/// Headers of a packet that are stripped, tags and labels each for itself.
const MOST_HEADERS: u8 = 32;

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

/// Finds out what packets are, and counts tunnels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dissector {
    /// Do not look into tunnels: what they carry is UDP, or another protocol. Tags, labels and sessions of a link are none.
    pub outer: bool,
    /// Segments and datagrams that were found within a tunnel.
    pub tunnelled: u64,
}

/// Finds out what `packet` is, in tunnels as well.
#[inline]
pub fn dissect(packet: &Packet<'_>) -> Dissected {
    Dissector::default().dissect(packet)
}

impl Dissector {
    /// Finds out what `packet` is.
    #[inline]
    pub fn dissect(&mut self, packet: &Packet<'_>) -> Dissected {
        self.find(packet).unwrap_or_else(Dissected::Other)
    }

    #[inline]
    fn find(&mut self, packet: &Packet<'_>) -> Result<Dissected, Reason> {
        let (mut layer, mut rest) = link::first(packet)?;
        let mut headers = MOST_HEADERS;
        let mut tunnels = 0;
        loop {
            if layer != Layer::Ip {
                rest = strip(layer, rest, &mut headers)?;
            }
            let transport = ip::transport(&rest)?;
            let Some(within) = self.within(&transport)? else {
                self.tunnelled += u64::from(tunnels > 0);
                return tcp::payload(packet.at_ns, &transport);
            };
            tunnels += 1;
            headers = headers.checked_sub(1).ok_or(Reason::Deep)?;
            (layer, rest) = within;
        }
    }

    /// What is within a packet, if it is a tunnel's.
    #[inline]
    fn within<'a>(&self, transport: &Transport<'a>) -> Result<Option<(Layer, Rest<'a>)>, Reason> {
        Ok(match transport.protocol {
            ip::TCP => None,
            ip::UDP if self.outer || !number16(transport.octets, 2).is_ok_and(tunnel::is_port) => {
                None
            }
            ip::UDP => tunnel::in_udp(transport),
            other if self.outer => return Err(Reason::Protocol(other)),
            _ => Some(tunnel::in_ip(transport)?),
        })
    }
}

/// Strips headers until there is IP.
#[cold]
fn strip<'a>(mut layer: Layer, mut rest: Rest<'a>, headers: &mut u8) -> Result<Rest<'a>, Reason> {
    while layer != Layer::Ip {
        *headers = headers.checked_sub(1).ok_or(Reason::Deep)?;
        (layer, rest) = frame::strip(layer, rest)?;
    }
    Ok(rest)
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
