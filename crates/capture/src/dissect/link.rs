//! From the link to the network.

use super::{Reason, number16, octets};
use crate::read::Packet;

/// Numbers of the registry of link types (<https://www.tcpdump.org/linktypes.html>).
mod linktype {
    pub(super) const NULL: u16 = 0;
    pub(super) const ETHERNET: u16 = 1;
    pub(super) const RAW_BSD: u16 = 12;
    pub(super) const RAW_OPENBSD: u16 = 14;
    pub(super) const RAW: u16 = 101;
    pub(super) const LOOP: u16 = 108;
    pub(super) const LINUX_SLL: u16 = 113;
    pub(super) const IPV4: u16 = 228;
    pub(super) const IPV6: u16 = 229;
    pub(super) const LINUX_SLL2: u16 = 276;
}

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Customer, service and the older service tags (IEEE 802.1Q).
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// An IP packet, and the octets that it had with whatever padding the link added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network<'a> {
    pub(super) octets: &'a [u8],
    pub(super) original_len: u32,
}

/// Strips the link's header.
#[inline]
pub(super) fn network<'a>(packet: &Packet<'a>) -> Result<Network<'a>, Reason> {
    let octets = packet.octets;
    let header = match packet.link {
        linktype::ETHERNET => ethernet(octets, 12)?,
        // The family is a number of four octets in the order of the machine; IP's first four bits say the same.
        linktype::NULL | linktype::LOOP => 4,
        linktype::LINUX_SLL => ethernet(octets, 14)?,
        linktype::LINUX_SLL2 => {
            let kind = number16(octets, 0)?;
            // The protocol comes first, and the packet, or its tags, after 20 octets.
            match is_ip(kind) {
                true => 20,
                false if VLAN.contains(&kind) => ethernet(octets, 22)?,
                false => return Err(Reason::NotIp),
            }
        }
        linktype::RAW
        | linktype::RAW_BSD
        | linktype::RAW_OPENBSD
        | linktype::IPV4
        | linktype::IPV6 => 0,
        _ => return Err(Reason::Link),
    };
    Ok(Network {
        octets: octets.get(header..).ok_or(Reason::Cut)?,
        original_len: packet
            .original_len
            .saturating_sub(u32::try_from(header).unwrap_or(0)),
    })
}

const fn is_ip(ethertype: u16) -> bool {
    matches!(ethertype, ETHERTYPE_IPV4 | ETHERTYPE_IPV6)
}

/// Where the packet begins whose `EtherType`, or that of its first tag, is at `at`.
#[inline]
fn ethernet(octets: &[u8], mut at: usize) -> Result<usize, Reason> {
    loop {
        let kind = number16(octets, at)?;
        if is_ip(kind) {
            return Ok(at + 2);
        }
        if !VLAN.contains(&kind) {
            return Err(Reason::NotIp);
        }
        at += 4;
    }
}

/// The first octet, which every IP packet has.
#[inline]
pub(super) fn version(octets: &[u8]) -> Result<u8, Reason> {
    self::octets::<1>(octets, 0).map(|[first]| first >> 4)
}
