//! Packets as bytes, for whoever moves them between interfaces: headers, checksums, bursts.
//!
//! A TUN device hands over TCP in bursts of up to 64 KiB with a virtio-net header that says where to
//! cut ([`split()`]). The path works on the cut packets, each of which would be one packet on a wire; those that leave it
//! at the same moment and belong together go back to the kernel as one burst ([`join`]). Checksums are left
//! to the header's "needs checksum" mark, as between two virtual machines on one host, so no byte of
//! payload is ever summed or looked at here.

#![forbid(unsafe_code)]
#![expect(
    clippy::cast_possible_truncation,
    reason = "a burst is at most 64 KiB, so offsets and lengths within it fit 16 bits"
)]

mod checksum;
mod flow;
mod header;
mod join;
mod split;
mod sum;

pub use flow::{connection, flow, udp_flow};
pub use flow::{connection_of, flow_of, tcp_flags, udp_payload};
pub use header::{is_multicast, protocol};
pub use join::{Burst, next_burst};
pub use split::{Pool, split};
pub use sum::Sum;

use path::{Family, Packet};
use units::{Instant, TrafficClass};

/// Octets of the longest packet of an Ethernet, IP header included: what nearly every path carries whole.
pub const ETHERNET_MTU: u32 = 1_500;
/// Octets of IPv4 and UDP headers, and of IPv6's and UDP's.
pub const UDP_HEADERS: [u32; 2] = [28, 48];

/// One IP packet, not longer than the MTU.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// The packet from its IP header on.
    bytes: Vec<u8>,
    /// Where the transport header begins and, within it, the checksum field that still holds the sum of the
    /// pseudo-header only; `None` when the checksum is complete.
    partial: Option<Partial>,
    /// When the runner had read it.
    pub entered: Instant,
}

/// A checksum that the receiver completes or takes on trust.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Partial {
    /// Offset of the transport header.
    pub(crate) start: u16,
    /// Offset of the checksum field within it.
    pub(crate) offset: u16,
}

impl Frame {
    /// The octets from the IP header on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A packet with a complete checksum, which came at `entered` from somebody else's wire. Where it is TCP and the checksum is right,
    /// it is taken back to the sum of the pseudo-header, so that the packet can be joined with others and nobody looks at it again; one
    /// that is wrong stays for the receiver to find.
    pub fn received(mut bytes: Vec<u8>, entered: Instant) -> Self {
        let partial = checksum::take_back(&mut bytes);
        Self {
            bytes,
            partial,
            entered,
        }
    }

    /// The same octets as their own, with a complete checksum: for whoever sends them where nobody completes it.
    pub fn into_packet(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        if let Some(partial) = self.partial {
            checksum::complete(&mut bytes, partial);
        }
        bytes
    }

    /// The traffic-class octet of the IP header.
    pub fn class(&self) -> TrafficClass {
        header::traffic_class(&self.bytes)
    }

    /// The version of IP; what is neither counts as IPv4.
    pub fn family(&self) -> Family {
        match self.bytes.first() {
            Some(first) if first >> 4 == 6 => Family::V6,
            _ => Family::V4,
        }
    }

    /// Writes the traffic-class octet, if it changed on the way.
    pub fn set_class(&mut self, class: TrafficClass) {
        if self.class() != class {
            header::set_traffic_class(&mut self.bytes, class);
        }
    }
}

impl AsRef<Self> for Frame {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl AsRef<Frame> for Packet<Frame> {
    fn as_ref(&self) -> &Frame {
        &self.body
    }
}

/// For the fuzz target of the same name: does to `read` all that the runner would.
#[cfg(feature = "fuzzing")]
pub fn fuzz_tun_read(read: &[u8]) {
    let mut queue = std::collections::VecDeque::new();
    split(read, Instant::ZERO, &mut Pool::default(), |mut body| {
        body.set_class(TrafficClass::from_octet(0xff));
        let _ = is_multicast(body.bytes());
        let _ = (udp_payload(body.bytes()), tcp_flags(body.bytes()));
        let _ = connection_of(body.bytes());
        let class = body.class();
        queue.push_back(Packet {
            size: 0,
            flow: flow_of(body.bytes()),
            family: body.family(),
            dscp: class.dscp,
            ecn: class.ecn,
            at: Instant::ZERO,
            body,
        });
    });
    while let Some(burst) = next_burst(&queue, queue.len()) {
        let mut pieces = Vec::new();
        burst.pieces(queue.iter().map(|packet| &packet.body), &mut pieces);
        queue.drain(..burst.count);
    }
}
