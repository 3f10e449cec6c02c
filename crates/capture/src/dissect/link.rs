//! From the link to whatever it carries.

use super::frame::{ETHERTYPE_AT, is_ip};
use super::layer::{Layer, Rest};
use super::nflog;
use super::{Reason, number16, octets};
use crate::read::Packet;

/// Numbers of the registry of link types (<https://www.tcpdump.org/linktypes.html>).
mod linktype {
    pub(super) const NULL: u16 = 0;
    pub(super) const ETHERNET: u16 = 1;
    pub(super) const PPP: u16 = 9;
    pub(super) const RAW_BSD: u16 = 12;
    pub(super) const RAW_OPENBSD: u16 = 14;
    pub(super) const PPP_HDLC: u16 = 50;
    pub(super) const PPP_ETHER: u16 = 51;
    pub(super) const ATM_RFC1483: u16 = 100;
    pub(super) const RAW: u16 = 101;
    pub(super) const CISCO_HDLC: u16 = 104;
    pub(super) const LOOP: u16 = 108;
    pub(super) const LINUX_SLL: u16 = 113;
    pub(super) const MPLS: u16 = 219;
    pub(super) const IPV4: u16 = 228;
    pub(super) const IPV6: u16 = 229;
    pub(super) const NFLOG: u16 = 239;
    pub(super) const LINUX_SLL2: u16 = 276;
}

/// What begins a packet, without the link's own header.
#[inline]
pub(super) fn first<'a>(packet: &Packet<'a>) -> Result<(Layer, Rest<'a>), Reason> {
    let rest = Rest {
        octets: packet.octets,
        original_len: packet.original_len,
    };
    if packet.link == linktype::ETHERNET {
        let kind = number16(rest.octets, ETHERTYPE_AT)?;
        let layer = if is_ip(kind) {
            Layer::Ip
        } else {
            Layer::EtherType(kind)
        };
        return Ok((layer, rest.after(ETHERTYPE_AT + 2)?));
    }
    other(packet.link, rest)
}

/// On any other link than Ethernet.
fn other(link: u16, rest: Rest<'_>) -> Result<(Layer, Rest<'_>), Reason> {
    let ethertype = |at| number16(rest.octets, at).map(Layer::EtherType);
    let (layer, header) = match link {
        // The family is a number of four octets in the order of the machine; IP's first four bits say the same.
        linktype::NULL | linktype::LOOP => (Layer::Ip, 4),
        linktype::RAW
        | linktype::RAW_BSD
        | linktype::RAW_OPENBSD
        | linktype::IPV4
        | linktype::IPV6 => (Layer::Ip, 0),
        linktype::LINUX_SLL => (ethertype(14)?, 16),
        // The protocol comes first.
        linktype::LINUX_SLL2 => (ethertype(0)?, 20),
        // An address of 0xff is that of PPP (RFC 1662 section 3.1).
        linktype::PPP | linktype::PPP_HDLC | linktype::CISCO_HDLC => {
            if octets::<1>(rest.octets, 0)? == &[0x0f] || octets::<1>(rest.octets, 0)? == &[0x8f] {
                (ethertype(2)?, 4)
            } else {
                (Layer::Ppp, 0)
            }
        }
        linktype::PPP_ETHER => (Layer::Pppoe, 0),
        linktype::ATM_RFC1483 => (Layer::Llc, 0),
        linktype::MPLS => (Layer::Mpls, 0),
        linktype::NFLOG => (Layer::Ip, nflog::payload(rest.octets)?),
        _ => return Err(Reason::Link(link)),
    };
    Ok((layer, rest.after(header)?))
}
