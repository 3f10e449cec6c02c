//! The IP header of a packet that is made up.

use packet::Sum;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::TrafficClass;

pub(crate) const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;

/// Appends the header of a packet between `ends` that carries so many octets of a protocol; returns its octets, and the sum of
/// the pseudo header (RFC 9293 section 3.1; RFC 8200 section 8.1 has the other form of it, whose sum is the same).
pub(crate) fn header(
    ends: [IpAddr; 2],
    class: TrafficClass,
    hop_limit: u8,
    (protocol, octets): (u8, u16),
    out: &mut Vec<u8>,
) -> (usize, Sum) {
    let mut pseudo = Sum::default();
    pseudo.add_u32(u32::from(octets));
    pseudo.add_u32(u32::from(protocol));
    let length = if let [IpAddr::V4(from), IpAddr::V4(to)] = ends.map(|end| end.to_canonical()) {
        ipv4([from, to], class, hop_limit, (protocol, octets), out);
        pseudo.add(&from.octets());
        pseudo.add(&to.octets());
        IPV4_HEADER
    } else {
        let [from, to] = ends.map(v6);
        ipv6([from, to], class, hop_limit, (protocol, octets), out);
        pseudo.add(&from.octets());
        pseudo.add(&to.octets());
        IPV6_HEADER
    };
    (length, pseudo)
}

/// RFC 791 section 3.1.
fn ipv4(
    [from, to]: [Ipv4Addr; 2],
    class: TrafficClass,
    hop_limit: u8,
    (protocol, octets): (u8, u16),
    out: &mut Vec<u8>,
) {
    let total = octets.saturating_add(20);
    let mut header = [0; IPV4_HEADER];
    header[0] = 0x45;
    header[1] = class.octet();
    header[2..4].copy_from_slice(&total.to_be_bytes());
    header[6] = 0x40;
    header[8] = hop_limit;
    header[9] = protocol;
    header[12..16].copy_from_slice(&from.octets());
    header[16..20].copy_from_slice(&to.octets());
    let mut sum = Sum::default();
    sum.add(&header);
    header[10..12].copy_from_slice(&sum.finish().to_be_bytes());
    out.extend(header);
}

/// RFC 8200 section 3.
fn ipv6(
    [from, to]: [Ipv6Addr; 2],
    class: TrafficClass,
    hop_limit: u8,
    (protocol, octets): (u8, u16),
    out: &mut Vec<u8>,
) {
    let first = 6 << 28 | u32::from(class.octet()) << 20;
    out.extend(first.to_be_bytes());
    out.extend(octets.to_be_bytes());
    out.extend([protocol, hop_limit]);
    out.extend(from.octets());
    out.extend(to.octets());
}

fn v6(address: IpAddr) -> Ipv6Addr {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    }
}
