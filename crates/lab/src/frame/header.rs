//! The few header fields that the runner reads and writes. Every access is checked: what comes from a TUN device
//! may be anything that a program put on a raw socket.

use std::net::{IpAddr, SocketAddr};
use sys::tun::VNET_HEADER;
use units::{FlowId, TrafficClass};

/// Offsets in an IPv4 header (RFC 791 section 3.1).
pub(super) mod v4 {
    pub(crate) const TOTAL_LENGTH: usize = 2;
    pub(crate) const IDENTIFICATION: usize = 4;
    pub(crate) const FRAGMENT: usize = 6;
    pub(crate) const PROTOCOL: usize = 9;
    pub(crate) const CHECKSUM: usize = 10;
    pub(crate) const ADDRESSES: std::ops::Range<usize> = 12..20;
}

/// Offsets in an IPv6 header (RFC 8200 section 3).
pub(super) mod v6 {
    pub(crate) const PAYLOAD_LENGTH: usize = 4;
    pub(crate) const NEXT_HEADER: usize = 6;
    pub(crate) const ADDRESSES: std::ops::Range<usize> = 8..40;
    pub(crate) const LENGTH: usize = 40;
}

/// Offsets in a TCP header (RFC 9293 section 3.1).
pub(super) mod tcp {
    pub(crate) const SEQUENCE: usize = 4;
    pub(crate) const ACKNOWLEDGMENT: usize = 8;
    pub(crate) const DATA_OFFSET: usize = 12;
    pub(crate) const FLAGS: usize = 13;
    pub(crate) const WINDOW: usize = 14;
    pub(crate) const CHECKSUM: usize = 16;
    pub(crate) const URGENT: usize = 18;
    pub(crate) const FIN: u8 = 0x01;
    pub(crate) const PSH: u8 = 0x08;
    pub(crate) const ACK: u8 = 0x10;
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;

/// The header in front of each packet on a TUN device (`struct virtio_net_hdr`, virtio 1.2 section 5.1.6; native byte
/// order).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct VirtioHeader {
    pub(crate) flags: u8,
    pub(crate) gso_type: u8,
    pub(crate) header_length: u16,
    pub(crate) gso_size: u16,
    pub(crate) checksum_start: u16,
    pub(crate) checksum_offset: u16,
}

impl VirtioHeader {
    pub(crate) const NEEDS_CHECKSUM: u8 = 1;
    pub(crate) const GSO_NONE: u8 = 0;
    pub(crate) const GSO_TCP4: u8 = 1;
    pub(crate) const GSO_TCP6: u8 = 4;

    /// Reads the header; `None` when `bytes` is shorter than one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let field = |at: usize| Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        Some(Self {
            flags: *bytes.first()?,
            gso_type: *bytes.get(1)?,
            header_length: field(2)?,
            gso_size: field(4)?,
            checksum_start: field(6)?,
            checksum_offset: field(8)?,
        })
    }

    /// Writes the header.
    pub(crate) fn emit(&self) -> [u8; VNET_HEADER] {
        let mut bytes = [0; VNET_HEADER];
        bytes[0] = self.flags;
        bytes[1] = self.gso_type;
        bytes[2..4].copy_from_slice(&self.header_length.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.gso_size.to_ne_bytes());
        bytes[6..8].copy_from_slice(&self.checksum_start.to_ne_bytes());
        bytes[8..10].copy_from_slice(&self.checksum_offset.to_ne_bytes());
        bytes
    }
}

/// The 16 bits at `at`, most significant octet first; `None` past the end.
pub(super) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The 32 bits at `at`, most significant octet first; `None` past the end.
pub(super) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Writes 16 bits at `at`; nothing past the end.
pub(super) fn put16(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(field) = bytes.get_mut(at..at + 2) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}

/// The conversation that an IP packet belongs to: a hash of addresses, protocol and, for whole TCP and UDP packets,
/// ports.
pub(crate) fn flow_of(packet: &[u8]) -> FlowId {
    hash(flow_key(packet).unwrap_or_default())
}

/// The flow of TCP packets from `source` to `destination`.
pub fn flow(source: SocketAddr, destination: SocketAddr) -> FlowId {
    flow_between(source, destination, TCP)
}

/// The flow of whole UDP datagrams from `source` to `destination`.
pub fn udp_flow(source: SocketAddr, destination: SocketAddr) -> FlowId {
    flow_between(source, destination, UDP)
}

fn flow_between(source: SocketAddr, destination: SocketAddr, protocol: u8) -> FlowId {
    let mut addresses = Vec::with_capacity(32);
    let mut ports = Vec::with_capacity(4);
    for end in [source, destination] {
        // A socket of both families writes an IPv4 address as one of IPv6; in the packet it is what it is.
        match end.ip().to_canonical() {
            IpAddr::V4(v4) => addresses.extend(v4.octets()),
            IpAddr::V6(v6) => addresses.extend(v6.octets()),
        }
        ports.extend(end.port().to_be_bytes());
    }
    hash([&addresses, &[protocol], &ports])
}

/// A hash of addresses, protocol and ports: a multiplication for each word of eight octets, folded so that every bit of
/// the product counts (as in wyhash). Nobody chooses the addresses of a lab to make two flows collide.
fn hash(key: [&[u8]; 3]) -> FlowId {
    const START: u64 = 0x243f_6a88_85a3_08d3;
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        (product >> 64) as u64 ^ product as u64
    };
    let [addresses, protocol, ports] = key;
    let rest = [protocol, ports].into_iter().flatten();
    let rest = rest.fold(0, |word, octet| word << 8 | u64::from(*octet));
    let words = addresses.chunks_exact(8).map(|octets| {
        let octets = octets.first_chunk().copied().unwrap_or_default();
        u64::from_be_bytes(octets)
    });
    let hash = words.chain([rest]).fold(START, fold);
    FlowId(fold(hash, START))
}

fn flow_key(packet: &[u8]) -> Option<[&[u8]; 3]> {
    let (addresses, protocol, transport) = match packet.first()? >> 4 {
        4 => {
            let fragmented = be16(packet, v4::FRAGMENT)? & 0x3fff != 0;
            let transport = if fragmented {
                packet.len()
            } else {
                v4_length(packet)?
            };
            (v4::ADDRESSES, v4::PROTOCOL, transport)
        }
        6 => (v6::ADDRESSES, v6::NEXT_HEADER, v6::LENGTH),
        _ => return None,
    };
    let protocol = packet.get(protocol..=protocol)?;
    let has_ports = matches!(protocol, [TCP | UDP]);
    let ports = packet
        .get(transport..transport + 4)
        .filter(|_| has_ports)
        .unwrap_or_default();
    Some([packet.get(addresses)?, protocol, ports])
}

/// The payload of a whole UDP datagram (RFC 768); `None` for anything else, fragments and IPv6 with extension headers
/// included.
pub(crate) fn udp_payload(packet: &[u8]) -> Option<&[u8]> {
    let [_, protocol, ports] = flow_key(packet)?;
    let is_whole_udp = protocol == [UDP] && !ports.is_empty();
    let transport = match packet.first()? >> 4 {
        4 => v4_length(packet)?,
        _ => v6::LENGTH,
    };
    packet
        .get(transport + UDP_HEADER..)
        .filter(|_| is_whole_udp)
}

/// Whether the packet is addressed to a group (`224.0.0.0/4`, `ff00::/8`).
pub(crate) fn is_multicast(packet: &[u8]) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) => packet.get(16).is_some_and(|octet| octet >> 4 == 0xe),
        Some(6) => packet.get(24) == Some(&0xff),
        _ => false,
    }
}

/// Length of an IPv4 header with its options.
pub(super) fn v4_length(packet: &[u8]) -> Option<usize> {
    Some(usize::from(packet.first()? & 0x0f) * 4).filter(|&length| length >= 20)
}

/// The traffic-class octet; zero for what is no IP packet.
pub(super) fn traffic_class(packet: &[u8]) -> TrafficClass {
    let octet = match *packet {
        [first, second, ..] if first >> 4 == 4 => second,
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        _ => 0,
    };
    TrafficClass::from_octet(octet)
}

/// Writes the traffic-class octet and, in IPv4, the header checksum.
pub(super) fn set_traffic_class(packet: &mut [u8], class: TrafficClass) {
    let octet = class.octet();
    match packet {
        [first, second, ..] if *first >> 4 == 4 => {
            *second = octet;
            set_v4_checksum(packet);
        }
        [first, second, ..] if *first >> 4 == 6 => {
            *first = *first & 0xf0 | octet >> 4;
            *second = *second & 0x0f | octet << 4;
        }
        _ => {}
    }
}

/// Computes and writes the IPv4 header checksum (RFC 1071).
pub(super) fn set_v4_checksum(packet: &mut [u8]) {
    let Some(header) = v4_length(packet).and_then(|length| packet.get_mut(..length)) else {
        return;
    };
    put16(header, v4::CHECKSUM, 0);
    let sum = header
        .chunks_exact(2)
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
        .sum();
    put16(header, v4::CHECKSUM, !fold(sum));
}

/// Folds carries into 16 bits of one's-complement sum.
pub(super) fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    // After the second fold nothing is left above bit 15.
    ((once & 0xffff) + (once >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// A packet without payload from `source` to `destination`.
    fn packet(source: SocketAddr, destination: SocketAddr, protocol: u8) -> Vec<u8> {
        let mut packet = match source {
            SocketAddr::V4(_) => vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, protocol, 0, 0],
            SocketAddr::V6(_) => vec![0x60, 0, 0, 0, 0, 20, protocol, 64],
        };
        for end in [source, destination] {
            match end.ip() {
                IpAddr::V4(v4) => packet.extend(v4.octets()),
                IpAddr::V6(v6) => packet.extend(v6.octets()),
            }
        }
        packet.extend(source.port().to_be_bytes());
        packet.extend(destination.port().to_be_bytes());
        packet.resize(packet.len() + 16, 0);
        packet
    }

    fn end(v6: bool) -> BoxedStrategy<SocketAddr> {
        if v6 {
            let end = any::<(u128, u16)>().prop_filter("IPv4", |(ip, _)| ip >> 32 != 0xffff);
            end.prop_map(|(ip, port)| (ip.to_be_bytes(), port).into())
                .boxed()
        } else {
            any::<([u8; 4], u16)>().prop_map(Into::into).boxed()
        }
    }

    proptest! {
        #[test]
        fn the_flow_of_two_ends_is_that_of_their_packets(
            (source, destination) in any::<bool>().prop_flat_map(|v6| (end(v6), end(v6))),
        ) {
            let of = |protocol| flow_of(&packet(source, destination, protocol));
            prop_assert_eq!(flow(source, destination), of(TCP));
            prop_assert_eq!(udp_flow(source, destination), of(UDP));
            prop_assert_ne!(of(TCP), of(UDP));
            if source != destination {
                prop_assert_ne!(flow(source, destination), flow(destination, source));
            }
        }
    }

    #[test]
    fn an_ipv4_address_in_an_ipv6_socket_is_an_ipv4_address() {
        let ends = |text: [&str; 2]| text.map(|end| end.parse::<SocketAddr>().unwrap());
        let [near, far] = ends(["10.77.0.1:4000", "10.77.0.2:4890"]);
        let [near6, far6] = ends(["[::ffff:10.77.0.1]:4000", "[::ffff:10.77.0.2]:4890"]);
        assert_eq!(flow(near, far), flow(near6, far6));
    }

    #[test]
    fn no_two_connections_between_two_hosts_have_one_flow() {
        for far in ["10.77.0.2:80", "[fd77::2]:80"] {
            let far: SocketAddr = far.parse().unwrap();
            let near: IpAddr = if far.is_ipv4() {
                [10, 77, 0, 1].into()
            } else {
                [0xfd77, 0, 0, 0, 0, 0, 0, 1].into()
            };
            let mut flows = HashSet::new();
            for port in 0..=u16::MAX {
                let near = SocketAddr::new(near, port);
                assert!(flows.insert(flow(near, far)) && flows.insert(flow(far, near)));
            }
            // What maps and queues take their places from: all of the low bits are used alike.
            let places: HashSet<u64> = flows.iter().map(|flow| flow.0 % 131_072).collect();
            // With 131,072 places for as many flows, a share 1 - 1/e of the places is taken: 82,853.
            assert!((82_000..84_000).contains(&places.len()), "{}", places.len());
        }
    }
}
