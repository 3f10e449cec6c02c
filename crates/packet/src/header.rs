//! The few header fields that the runner reads and writes. Every access is checked: what comes from a TUN device
//! may be anything that a program put on a raw socket.

use crate::sum::Sum;
use units::TrafficClass;

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

/// Octets of the header in front of each packet on a TUN device.
pub(crate) const VNET_HEADER: usize = 10;

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

/// Whether the packet is addressed to a group (`224.0.0.0/4`, `ff00::/8`).
pub fn is_multicast(packet: &[u8]) -> bool {
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
    let mut sum = Sum::default();
    sum.add(header);
    put16(header, v4::CHECKSUM, sum.finish());
}

/// The protocol that the packet's header names; none for octets that are no packet of IP, or whose length is not what the header
/// says.
pub fn protocol(packet: &[u8]) -> Option<u8> {
    let length = |at: usize| be16(packet, at).map(usize::from);
    let (header, told, protocol) = match packet.first()? >> 4 {
        4 => (20, length(v4::TOTAL_LENGTH)?, v4::PROTOCOL),
        6 => (
            v6::LENGTH,
            v6::LENGTH + length(v6::PAYLOAD_LENGTH)?,
            v6::NEXT_HEADER,
        ),
        _ => return None,
    };
    let protocol = *packet.get(protocol)?;
    (packet.len() >= header && packet.len() == told).then_some(protocol)
}
