//! Headers between the link and the network: tags, labels, sessions.

use super::layer::{Layer, Rest};
use super::{Reason, number16, octets};

/// Where Ethernet has it.
pub(super) const ETHERTYPE_AT: usize = 12;
/// An LLC's control octet of a frame without numbers (IEEE 802.2).
const UNNUMBERED: u8 = 3;

mod ethertype {
    pub(super) const IPV4: u16 = 0x0800;
    pub(super) const IPV6: u16 = 0x86dd;
    /// Up to here it is the length of a frame of IEEE 802.2.
    pub(super) const LENGTH: u16 = 1_500;
    /// Customer, service and the older service tags (IEEE 802.1Q).
    pub(super) const VLAN: u16 = 0x8100;
    pub(super) const SERVICE_VLAN: u16 = 0x88a8;
    pub(super) const OLD_SERVICE_VLAN: u16 = 0x9100;
    /// Provider backbone bridges (IEEE 802.1ah).
    pub(super) const BACKBONE: u16 = 0x88e7;
    /// RFC 5332.
    pub(super) const MPLS: u16 = 0x8847;
    pub(super) const MPLS_MULTICAST: u16 = 0x8848;
    /// RFC 2516.
    pub(super) const PPPOE: u16 = 0x8864;
    /// Ethernet within GRE, Geneve and others (RFC 1701).
    pub(super) const BRIDGED: u16 = 0x6558;
}

/// Protocols of PPP (RFC 1332, RFC 5072, RFC 3032).
mod ppp {
    pub(super) const IPV4: u16 = 0x0021;
    pub(super) const IPV6: u16 = 0x0057;
    pub(super) const MPLS: u16 = 0x0281;
    pub(super) const MPLS_MULTICAST: u16 = 0x0283;
}

pub(super) const fn is_ip(kind: u16) -> bool {
    matches!(kind, ethertype::IPV4 | ethertype::IPV6)
}

/// Strips one header.
pub(super) fn strip(layer: Layer, rest: Rest<'_>) -> Result<(Layer, Rest<'_>), Reason> {
    let (layer, header) = match layer {
        Layer::Ip => (Layer::Ip, 0),
        Layer::EtherType(kind) => of_ethertype(kind, rest.octets)?,
        Layer::Ethernet => ethernet(rest.octets)?,
        Layer::Llc => llc(rest.octets)?,
        Layer::Ppp => of_ppp(rest.octets)?,
        Layer::Pppoe => pppoe(rest.octets)?,
        Layer::Mpls => mpls(rest.octets)?,
    };
    Ok((layer, rest.after(header)?))
}

fn ethernet(frame: &[u8]) -> Result<(Layer, usize), Reason> {
    let kind = number16(frame, ETHERTYPE_AT)?;
    Ok((Layer::EtherType(kind), ETHERTYPE_AT + 2))
}

/// What follows an `EtherType`.
fn of_ethertype(kind: u16, octets: &[u8]) -> Result<(Layer, usize), Reason> {
    Ok(match kind {
        ethertype::IPV4 | ethertype::IPV6 => (Layer::Ip, 0),
        ethertype::VLAN | ethertype::SERVICE_VLAN | ethertype::OLD_SERVICE_VLAN => {
            (Layer::EtherType(number16(octets, 2)?), 4)
        }
        ethertype::MPLS | ethertype::MPLS_MULTICAST => (Layer::Mpls, 0),
        ethertype::PPPOE => (Layer::Pppoe, 0),
        // The service, and the customer's frame.
        ethertype::BACKBONE => (Layer::Ethernet, 4),
        ethertype::BRIDGED => (Layer::Ethernet, 0),
        0..=ethertype::LENGTH => (Layer::Llc, 0),
        _ => return Err(Reason::EtherType(kind)),
    })
}

/// IEEE 802.2, and its extension by an organisation's number and an `EtherType` (SNAP).
fn llc(frame: &[u8]) -> Result<(Layer, usize), Reason> {
    match *octets::<3>(frame, 0)? {
        [0xaa, 0xaa, UNNUMBERED] => match *octets::<5>(frame, 3)? {
            // RFC 1042, and bridges that translated (IEEE 802.1H).
            [0, 0, 0 | 0xf8, a, b] => Ok((Layer::EtherType(u16::from_be_bytes([a, b])), 8)),
            // Ethernet, with and without its checksum (RFC 2684 section 5.2).
            [0, 0x80, 0xc2, 0, 1 | 7] => Ok((Layer::Ethernet, 10)),
            _ => Err(Reason::Llc(0xaa)),
        },
        [0x06, 0x06, UNNUMBERED] => Ok((Layer::Ip, 3)),
        [point, ..] => Err(Reason::Llc(point)),
    }
}

/// RFC 1661 section 2, perhaps with the address of RFC 1662.
fn of_ppp(frame: &[u8]) -> Result<(Layer, usize), Reason> {
    let at = if octets::<1>(frame, 0)? == &[0xff] {
        2
    } else {
        0
    };
    let &[first] = octets::<1>(frame, at)?;
    // An odd octet is a whole protocol of which the upper one was left out (RFC 1661 section 6.5).
    let (kind, at) = if first & 1 == 1 {
        (u16::from(first), at + 1)
    } else {
        (number16(frame, at)?, at + 2)
    };
    let layer = match kind {
        ppp::IPV4 | ppp::IPV6 => Layer::Ip,
        ppp::MPLS | ppp::MPLS_MULTICAST => Layer::Mpls,
        _ => return Err(Reason::Ppp(kind)),
    };
    Ok((layer, at))
}

/// RFC 2516 section 4: version and type 1, code 0, session, length.
fn pppoe(frame: &[u8]) -> Result<(Layer, usize), Reason> {
    match octets::<6>(frame, 0)? {
        [0x11, 0, ..] => Ok((Layer::Ppp, 6)),
        _ => Err(Reason::Malformed),
    }
}

/// RFC 3032 section 2.1, one label. Nothing says what follows the last: IP if it looks like that (RFC 4928 section 2), else
/// Ethernet, with a control word (RFC 4448 section 4.6) or without.
fn mpls(labels: &[u8]) -> Result<(Layer, usize), Reason> {
    let label = octets::<4>(labels, 0)?;
    if label[2] & 1 == 0 {
        return Ok((Layer::Mpls, 4));
    }
    let &[next] = octets::<1>(labels, 4)?;
    if matches!(next >> 4, 4 | 6) {
        return Ok((Layer::Ip, 4));
    }
    let leads = |frame: usize| {
        number16(labels, frame + ETHERTYPE_AT)
            .is_ok_and(|kind| kind > ethertype::LENGTH && of_ethertype(kind, &[0; 4]).is_ok())
    };
    match next >> 4 {
        0 if leads(8) => Ok((Layer::Ethernet, 8)),
        _ if leads(4) => Ok((Layer::Ethernet, 4)),
        _ => Err(Reason::Mpls),
    }
}
