//! Packets within packets.

use super::ip::Transport;
use super::layer::{Layer, Rest};
use super::{Reason, number16, octets};

/// Protocols of IP.
mod protocol {
    pub(super) const IPV4: u8 = 4;
    pub(super) const IPV6: u8 = 41;
    pub(super) const GRE: u8 = 47;
    pub(super) const ETHERIP: u8 = 97;
    pub(super) const MPLS: u8 = 137;
}

/// Ports to which UDP carries packets (registry of IANA; 8472 is Linux' older one).
mod port {
    pub(super) const GTP_U: u16 = 2_152;
    pub(super) const VXLAN: u16 = 4_789;
    pub(super) const GENEVE: u16 = 6_081;
    pub(super) const VXLAN_LINUX: u16 = 8_472;
}

const UDP_HEADER: usize = 8;
/// More extension headers than GTP-U has kinds of.
const MOST_EXTENSIONS: usize = 8;

type Within<'a> = Result<(Layer, Rest<'a>), Reason>;

/// What is within a packet of IP that is neither TCP nor UDP.
pub(super) fn in_ip<'a>(transport: &Transport<'a>) -> Within<'a> {
    let rest = Rest {
        octets: transport.octets,
        original_len: transport.len,
    };
    let (layer, header) = match transport.protocol {
        protocol::IPV4 | protocol::IPV6 => (Layer::Ip, 0),
        protocol::MPLS => (Layer::Mpls, 0),
        protocol::GRE => gre(rest.octets)?,
        // RFC 3378 section 3: version 3, and twelve bits that are zero.
        protocol::ETHERIP if number16(rest.octets, 0)? == 0x3000 => (Layer::Ethernet, 2),
        other => return Err(Reason::Protocol(other)),
    };
    Ok((layer, rest.after(header)?))
}

/// RFC 2784 and RFC 2890; version 1 is that of PPTP (RFC 2637 section 4.1).
fn gre(header: &[u8]) -> Result<(Layer, usize), Reason> {
    let (flags, kind) = (number16(header, 0)?, number16(header, 2)?);
    let optional = |flag: u16| if flags & flag == 0 { 0 } else { 4 };
    // Checksum, key, sequence number.
    let len = 4 + optional(0x8000) + optional(0x2000) + optional(0x1000);
    match (flags & 0x0007, flags & 0x4000) {
        (0, 0) => match kind {
            // What lies within GRE is named by EtherTypes, of which lengths are none.
            0x600.. => Ok((Layer::EtherType(kind), len)),
            _ => Err(Reason::Gre(kind)),
        },
        // Acknowledgements alone have no sequence number, and nothing within.
        (1, 0) if kind == 0x880b && flags & 0x1000 != 0 => Ok((Layer::Ppp, len + optional(0x0080))),
        _ => Err(Reason::Gre(kind)),
    }
}

/// What is within a datagram of UDP; none, if it is a datagram for itself.
pub(super) fn in_udp<'a>(transport: &Transport<'a>) -> Option<(Layer, Rest<'a>)> {
    let rest = Rest {
        octets: transport.octets,
        original_len: transport.len,
    };
    let (port, len) = (number16(rest.octets, 2), number16(rest.octets, 4));
    let payload = rest.octets.get(UDP_HEADER..)?;
    let (layer, header) = match port.ok()? {
        port::VXLAN | port::VXLAN_LINUX => vxlan(payload),
        port::GENEVE => geneve(payload),
        port::GTP_U => gtp(payload, usize::from(len.ok()?).checked_sub(UDP_HEADER)?),
        _ => None,
    }?;
    Some((layer, rest.after(UDP_HEADER + header).ok()?))
}

/// Whether datagrams to such a port are looked into.
#[inline]
pub(super) const fn is_port(port: u16) -> bool {
    matches!(
        port,
        port::VXLAN | port::VXLAN_LINUX | port::GENEVE | port::GTP_U
    )
}

/// RFC 7348 section 5, with the extension for group policies, which Linux has as well.
fn vxlan(header: &[u8]) -> Option<(Layer, usize)> {
    let [flags, policy @ .., last] = header.first_chunk::<8>()?;
    let fits = match flags {
        0x08 => policy[..3] == [0; 3],
        0x88 => true,
        _ => false,
    };
    (fits && *last == 0).then_some((Layer::Ethernet, 8))
}

/// RFC 8926 section 3.4. What controls the tunnel (the bit O) is not looked into.
fn geneve(header: &[u8]) -> Option<(Layer, usize)> {
    let &[first, second, a, b, .., last] = header.first_chunk::<8>()?;
    let (version, options) = (first >> 6, usize::from(first & 0x3f) * 4);
    let kind = u16::from_be_bytes([a, b]);
    let fits = version == 0 && second & 0xbf == 0 && last == 0 && kind >= 0x600;
    fits.then_some((Layer::EtherType(kind), 8 + options))
}

/// 3GPP TS 29.281 section 5.1: version 1, a user's packet (kind 255), as long as the datagram, of `len` octets, says.
fn gtp(header: &[u8], len: usize) -> Option<(Layer, usize)> {
    let &[flags, kind, a, b] = header.first_chunk()?;
    let fits = flags >> 3 == 0b00110 && kind == 255;
    if !fits || usize::from(u16::from_be_bytes([a, b])) + 8 != len {
        return None;
    }
    // Sequence number, N-PDU number and the kind of the next header are there together.
    if flags == 0x30 {
        return Some((Layer::Ip, 8));
    }
    let mut at = 12;
    for _ in 0..MOST_EXTENSIONS {
        let &[next] = octets::<1>(header, at - 1).ok()?;
        if flags & 0x04 == 0 || next == 0 {
            return Some((Layer::Ip, at));
        }
        // In units of four octets, of which the last is the kind of the next.
        let &[units] = octets::<1>(header, at).ok()?;
        at += match units {
            0 => return None,
            units => usize::from(units) * 4,
        };
    }
    None
}
