//! Which conversation a packet belongs to, and what its transport header says.

use super::header::{be16, tcp, v4, v4_length, v6};
use std::net::{IpAddr, SocketAddr};
use units::FlowId;

const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;

/// The flow of TCP packets from `source` to `destination`, as the packets in a lab have it.
pub fn flow(source: SocketAddr, destination: SocketAddr) -> FlowId {
    Ends::new([source, destination], TCP).key().flow()
}

/// The flow of whole UDP datagrams from `source` to `destination`.
pub fn udp_flow(source: SocketAddr, destination: SocketAddr) -> FlowId {
    Ends::new([source, destination], UDP).key().flow()
}

/// The TCP connection of two ends, whichever comes first: what the flows of both directions have in common
/// (the `connection` of a signal of the lab).
pub fn connection(one: SocketAddr, other: SocketAddr) -> FlowId {
    Ends::new([one, other], TCP).key().connection()
}

/// The two ends of a conversation, the one that sends first.
struct Ends {
    addresses: [Vec<u8>; 2],
    protocol: u8,
    ports: [u16; 2],
}

impl Ends {
    fn new(ends: [SocketAddr; 2], protocol: u8) -> Self {
        // A socket of both families writes an IPv4 address as one of IPv6; in the packet it is what it is.
        let octets = |end: SocketAddr| match end.ip().to_canonical() {
            IpAddr::V4(v4) => v4.octets().to_vec(),
            IpAddr::V6(v6) => v6.octets().to_vec(),
        };
        Self {
            addresses: ends.map(octets),
            protocol,
            ports: ends.map(|end| end.port()),
        }
    }

    fn key(&self) -> Key<'_> {
        let [source, destination] = &self.addresses;
        Key {
            source,
            destination,
            protocol: self.protocol,
            ports: Some(self.ports),
        }
    }
}

/// The conversation that an IP packet belongs to: a hash of addresses, protocol and, for whole TCP and UDP packets,
/// ports.
pub fn flow_of(packet: &[u8]) -> FlowId {
    parse(packet).map_or(FlowId(0), |(key, _)| key.flow())
}

/// The payload of a whole UDP datagram (RFC 768); `None` for anything else, fragments and IPv6 with extension headers
/// included.
pub fn udp_payload(packet: &[u8]) -> Option<&[u8]> {
    let (key, transport) = parse(packet)?;
    let is_whole_udp = key.protocol == UDP && key.ports.is_some();
    packet
        .get(transport + UDP_HEADER..)
        .filter(|_| is_whole_udp)
}

/// The flags of a TCP segment in one piece; `None` for anything else.
pub fn tcp_flags(packet: &[u8]) -> Option<u8> {
    let (key, transport) = parse(packet)?;
    let is_whole_tcp = key.protocol == TCP && key.ports.is_some();
    let flags = packet.get(transport + tcp::FLAGS).filter(|_| is_whole_tcp);
    flags.copied()
}

/// The flow and the connection of an IP packet.
pub fn connection_of(packet: &[u8]) -> Option<(FlowId, FlowId)> {
    let (key, _) = parse(packet)?;
    Some((key.flow(), key.connection()))
}

/// What makes a conversation.
#[derive(Clone, Copy)]
struct Key<'a> {
    source: &'a [u8],
    destination: &'a [u8],
    protocol: u8,
    /// Those of a whole TCP or UDP packet.
    ports: Option<[u16; 2]>,
}

/// The key of an IP packet, and where its transport header begins.
fn parse(packet: &[u8]) -> Option<(Key<'_>, usize)> {
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
    let addresses = packet.get(addresses)?;
    let (source, destination) = addresses.split_at(addresses.len() / 2);
    let protocol = *packet.get(protocol)?;
    let ports = || Some([be16(packet, transport)?, be16(packet, transport + 2)?]);
    let key = Key {
        source,
        destination,
        protocol,
        ports: matches!(protocol, TCP | UDP).then(ports).flatten(),
    };
    Some((key, transport))
}

impl Key<'_> {
    /// A hash: a multiplication for each word of eight octets, folded so that every bit of the product counts (as in
    /// wyhash). Nobody chooses the addresses of a lab to make two flows collide.
    fn flow(&self) -> FlowId {
        const START: u64 = 0x243f_6a88_85a3_08d3;
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let fold = |hash: u64, word: u64| {
            let product = u128::from(hash ^ word) * u128::from(FACTOR);
            (product >> 64) as u64 ^ product as u64
        };
        let [from, to] = self.ports.unwrap_or_default().map(u64::from);
        let rest = u64::from(self.protocol) << 32 | from << 16 | to;
        let words = words(self.source).chain(words(self.destination));
        FlowId(fold(words.chain([rest]).fold(START, fold), START))
    }

    /// The same for both directions.
    fn connection(&self) -> FlowId {
        let back = Key {
            source: self.destination,
            destination: self.source,
            ports: self.ports.map(|[from, to]| [to, from]),
            ..*self
        };
        FlowId(self.flow().0.wrapping_add(back.flow().0))
    }
}

/// An address in words.
fn words(address: &[u8]) -> impl Iterator<Item = u64> {
    address.chunks(8).map(|octets| match octets.first_chunk() {
        Some(octets) => u64::from_be_bytes(*octets),
        None => octets
            .first_chunk()
            .map_or(0, |octets| u32::from_be_bytes(*octets).into()),
    })
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
            let (_, connection) = connection_of(&packet(destination, source, TCP)).unwrap();
            prop_assert_eq!(super::connection(source, destination), connection);
            if source != destination {
                prop_assert_ne!(flow(source, destination), flow(destination, source));
            }
        }
    }

    #[test]
    fn the_flags_of_a_segment_are_read_and_those_of_nothing_else() {
        for ends in [
            ["10.77.0.1:4000", "10.77.0.2:80"],
            ["[fd77::1]:4000", "[fd77::2]:80"],
        ] {
            let [near, far] = ends.map(|end| end.parse::<SocketAddr>().unwrap());
            let mut segment = packet(near, far, TCP);
            let flags = segment.len() - 20 + tcp::FLAGS;
            segment[flags] = 0x12;
            assert_eq!(tcp_flags(&segment), Some(0x12));
            assert_eq!(tcp_flags(&segment[..flags]), None);
            assert_eq!(tcp_flags(&packet(near, far, UDP)), None);
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
