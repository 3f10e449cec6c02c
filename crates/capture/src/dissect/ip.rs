//! From the network to the transport.

use super::layer::Rest;
use super::segment::Endpoint;
use super::{Reason, number16, octets};

pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
const IPV4_HEADER: u8 = 20;
const IPV6_HEADER: u16 = 40;
/// More extension headers than any host sends (RFC 8200 section 4.1 has seven).
const MOST_EXTENSIONS: usize = 10;

/// Extension headers of IPv6 (RFC 8200 section 4, RFC 4302 section 2, RFC 6275 section 6.1).
mod extension {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const DESTINATION: u8 = 60;
    pub(super) const MOBILITY: u8 = 135;
}

/// A transport's header and what follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transport<'a> {
    pub(super) protocol: u8,
    /// Ports are still zero.
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    /// As much as was kept.
    pub(super) octets: &'a [u8],
    /// Octets that it had, header included.
    pub(super) len: u32,
    /// Octets of the IP packet.
    pub(super) packet_len: u32,
}

/// Strips the network's headers.
#[inline]
pub(super) fn transport<'a>(network: &Rest<'a>) -> Result<Transport<'a>, Reason> {
    match octets::<1>(network.octets, 0)?[0] >> 4 {
        4 => ipv4(network),
        6 => ipv6(network),
        other => Err(Reason::Version(other)),
    }
}

/// RFC 791 section 3.1.
#[inline]
fn ipv4<'a>(network: &Rest<'a>) -> Result<Transport<'a>, Reason> {
    let header = octets::<{ IPV4_HEADER as usize }>(network.octets, 0)?;
    let header_len = u32::from(header[0] & 0x0f) * 4;
    let packet_len = match u16::from_be_bytes([header[2], header[3]]) {
        // The card cuts it into packets later, and this one is longer than the field can say.
        0 => network.original_len,
        len => u32::from(len),
    };
    let len = packet_len
        .checked_sub(header_len)
        .ok_or(Reason::Malformed)?;
    if header_len < u32::from(IPV4_HEADER) {
        return Err(Reason::Malformed);
    }
    if (u16::from_be_bytes([header[6], header[7]]) & 0x1fff) != 0 {
        return Err(Reason::Fragment);
    }
    let address = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
    Ok(Transport {
        protocol: header[9],
        from: Endpoint::v4(address(12), 0),
        to: Endpoint::v4(address(16), 0),
        octets: network
            .octets
            .get(header_len as usize..)
            .ok_or(Reason::Cut)?,
        len,
        packet_len,
    })
}

/// RFC 8200 sections 3 and 4.
fn ipv6<'a>(network: &Rest<'a>) -> Result<Transport<'a>, Reason> {
    let header = octets::<{ IPV6_HEADER as usize }>(network.octets, 0)?;
    let packet_len = match u16::from_be_bytes([header[4], header[5]]) {
        // A jumbogram, or a packet that the card cuts later.
        0 => network.original_len,
        len => u32::from(len) + u32::from(IPV6_HEADER),
    };
    let (protocol, at) = extensions(network.octets, header[6])?;
    Ok(Transport {
        protocol,
        from: Endpoint::v6(octets(network.octets, 8)?, 0),
        to: Endpoint::v6(octets(network.octets, 24)?, 0),
        octets: network.octets.get(usize::from(at)..).ok_or(Reason::Cut)?,
        len: packet_len
            .checked_sub(u32::from(at))
            .ok_or(Reason::Malformed)?,
        packet_len,
    })
}

/// The protocol behind the extension headers, and where it begins.
fn extensions(packet: &[u8], mut next: u8) -> Result<(u8, u16), Reason> {
    let mut at = IPV6_HEADER;
    for _ in 0..MOST_EXTENSIONS {
        let len = match next {
            extension::HOP_BY_HOP
            | extension::ROUTING
            | extension::DESTINATION
            | extension::MOBILITY => 8 + 8 * u16::from(octets::<2>(packet, at.into())?[1]),
            extension::AUTHENTICATION => 8 + 4 * u16::from(octets::<2>(packet, at.into())?[1]),
            extension::FRAGMENT => {
                if number16(packet, usize::from(at) + 2)? & 0xfff8 != 0 {
                    return Err(Reason::Fragment);
                }
                8
            }
            _ => return Ok((next, at)),
        };
        next = octets::<1>(packet, at.into())?[0];
        at += len;
    }
    Err(Reason::Malformed)
}
