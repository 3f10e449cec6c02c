//! What is left of a packet: numbers.

use core::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// An address and a port, in few octets. An IPv4 address is kept as the IPv6 address that stands for it (`::ffff:a.b.c.d`).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Endpoint {
    /// Upper and lower half of the address.
    pub address: [u64; 2],
    /// The port.
    pub port: u16,
}

impl Endpoint {
    #[inline]
    pub(super) fn v4(address: [u8; 4], port: u16) -> Self {
        let lower = 0xffff_0000_0000 | u64::from(u32::from_be_bytes(address));
        Self {
            address: [0, lower],
            port,
        }
    }

    pub(super) fn v6(address: &[u8; 16], port: u16) -> Self {
        let whole = u128::from_be_bytes(*address);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let address = [(whole >> 64) as u64, whole as u64];
        Self { address, port }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        let port = address.port();
        match address.ip() {
            IpAddr::V4(v4) => Self::v4(v4.octets(), port),
            IpAddr::V6(v6) => Self::v6(&v6.octets(), port),
        }
    }
}

impl From<Endpoint> for SocketAddr {
    fn from(endpoint: Endpoint) -> Self {
        let [upper, lower] = endpoint.address.map(u128::from);
        let address = Ipv6Addr::from(upper << 64 | lower);
        let address = address
            .to_ipv4_mapped()
            .map_or(IpAddr::V6(address), |v4: Ipv4Addr| v4.into());
        Self::new(address, endpoint.port)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::from(*self).fmt(f)
    }
}

/// The flags of TCP (RFC 9293 section 3.1).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Sequence numbers begin.
    pub const SYN: Self = Self(0x02);
    /// The connection is no more.
    pub const RST: Self = Self(0x04);
    /// To be handed to the program at once.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number means something.
    pub const ACK: Self = Self(0x10);

    /// Whether any of `flags` is set.
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }
}

impl core::ops::BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Options of a TCP header that say something about a connection.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct TcpOptions {
    /// The largest segment that the sender wants to receive, in octets (RFC 9293 section 3.7.1).
    pub mss: Option<u16>,
    /// By how many bits the sender's later windows are shifted (RFC 7323 section 2); at most 14.
    pub window_scale: Option<u8>,
    /// Selective acknowledgements may be sent (RFC 2018).
    pub sack_permitted: bool,
    /// The sender's clock and what it last heard of the other's (RFC 7323 section 3).
    pub timestamps: Option<(u32, u32)>,
}

/// A segment of TCP.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Segment {
    /// When it was seen, in nanoseconds since 1970.
    pub at_ns: u64,
    /// Who sent it.
    pub from: Endpoint,
    /// To whom.
    pub to: Endpoint,
    /// The number of its first octet, or of its SYN.
    pub seq: u32,
    /// The number that is expected next, if [`Flags::ACK`].
    pub ack: u32,
    /// Octets of payload that it carried, kept or not.
    pub payload: u32,
    /// Octets of the IP packet.
    pub packet_len: u32,
    /// The window as it stands in the header, not shifted.
    pub window: u16,
    /// SYN, FIN and so on.
    pub flags: Flags,
    /// As far as they were kept.
    pub options: TcpOptions,
}

/// A datagram of UDP.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Datagram {
    /// When it was seen, in nanoseconds since 1970.
    pub at_ns: u64,
    /// Who sent it.
    pub from: Endpoint,
    /// To whom.
    pub to: Endpoint,
    /// Octets of payload that it carried, kept or not.
    pub payload: u32,
    /// Octets of the IP packet.
    pub packet_len: u32,
}
