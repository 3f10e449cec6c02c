//! What is sent and received by [`crate::udp`], and what is learnt of it: the same on every system.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use units::TrafficClass;

/// The most datagrams that one call sends or receives.
pub const BATCH: usize = 64;

/// Octets of a returned datagram's payload that are kept: enough for a header to be recognised by.
pub const QUOTED: usize = 64;

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// What it carried, cut at the size of the batch's buffers.
    pub payload: &'a [u8],
    /// Octets that it carried.
    pub length: usize,
    /// Who sent it.
    pub source: SocketAddr,
    /// The address that it was sent to: the one to answer from.
    pub local: Option<IpAddr>,
    /// DSCP and ECN as they arrived.
    pub class: Option<TrafficClass>,
    /// When the kernel took it in: nanoseconds on the wall clock.
    pub wall_ns: Option<u64>,
    /// Hops that it might still have gone, where that was asked for ([`crate::udp::UdpSocket::enable_hop_limits`]).
    pub hops_left: Option<u8>,
    /// Octets of each of several datagrams that are here one behind the other, the last of which may be shorter; only where trains were asked
    /// for ([`crate::udp::UdpSocket::receive_trains`]), and `None` for one alone.
    pub train: Option<usize>,
}

impl Datagram<'_> {
    /// Whether `payload` is not the whole of it.
    pub fn is_truncated(&self) -> bool {
        self.payload.len() < self.length
    }
}

/// A datagram to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// What it carries.
    pub payload: &'a [u8],
    /// Where it goes; `None` on a connected socket.
    pub to: Option<SocketAddr>,
    /// The address it leaves from, of the family of `to`; `None` for the socket's own or, on a
    /// wildcard socket, the one that the route prefers.
    pub from: Option<IpAddr>,
    /// DSCP and ECN.
    pub class: TrafficClass,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sent {
    /// How many of the batch, from its start, the kernel has taken. Fewer than given: its buffer
    /// was full, or the next one failed (the next call says why).
    pub count: usize,
    /// The identifier under which [`Event::Sent`] stamps the first of them; the others
    /// follow, modulo 2^32.
    pub first_id: u32,
}

/// Octets that these datagrams carry.
pub(crate) fn octets(batch: &[Outgoing<'_>]) -> u64 {
    let lengths = batch.iter().map(|datagram| datagram.payload.len() as u64);
    lengths.sum()
}

/// Counts octets of payload, of one socket or of several.
#[derive(Debug, Default)]
pub struct Meter {
    received: AtomicU64,
    sent: AtomicU64,
}

impl Meter {
    /// Counts so many more octets.
    pub fn add(&self, received: u64, sent: u64) {
        self.received.fetch_add(received, Ordering::Relaxed);
        self.sent.fetch_add(sent, Ordering::Relaxed);
    }

    /// Octets received and sent so far.
    pub fn octets(&self) -> (u64, u64) {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (of(&self.received), of(&self.sent))
    }
}

/// What [`crate::udp::UdpSocket::wait`] found.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ready {
    /// [`crate::udp::UdpSocket::recv`] has something.
    pub datagram: bool,
    /// [`crate::udp::UdpSocket::poll_event`] has something.
    pub event: bool,
    /// [`crate::udp::UdpSocket::send`] has room, where that was asked for.
    pub room: bool,
}

/// The sizes of a socket's buffers as the kernel granted them, in octets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Buffers {
    /// Received and not yet taken.
    pub receive: usize,
    /// Sent and not yet gone.
    pub send: usize,
}

/// Something about a datagram that was sent earlier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// An error came back.
    Icmp(IcmpError),
    /// The datagram left for the network.
    Sent {
        /// Which one: see [`Sent::first_id`].
        id: u32,
        /// When the kernel gave it to the interface: nanoseconds on the wall clock.
        wall_ns: u64,
    },
}

/// An error that the path, or this host in its place, returned for a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IcmpError {
    /// The operating system's number for it: `ECONNREFUSED`, `EHOSTUNREACH`, ...
    pub errno: i32,
    /// ICMP type and code (RFC 792, RFC 4443); `None` when this host itself found the error.
    pub kind: Option<(u8, u8)>,
    /// Where the datagram was going.
    pub to: Option<SocketAddr>,
    /// Who returned the error.
    pub reporter: Option<IpAddr>,
    /// The largest packet that fits, in octets, when the datagram was too long.
    pub mtu: Option<u32>,
    /// When the error arrived: nanoseconds on the wall clock; `None` when the kernel did not stamp it.
    pub wall_ns: Option<u64>,
    /// What the error quotes of the datagram's payload.
    pub quoted: Quoted,
}

/// The first octets of a datagram's payload, as an ICMP error brought them back: as few as none (RFC 792 asks for 8 octets
/// behind the IP header, which is the UDP header; RFC 1812 section 4.3.2.3 for as many as fit).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quoted {
    pub(crate) octets: [u8; QUOTED],
    pub(crate) length: usize,
}

impl Quoted {
    /// Nothing.
    pub const EMPTY: Self = Self {
        octets: [0; QUOTED],
        length: 0,
    };

    /// The first [`QUOTED`] of `octets`.
    pub fn of(octets: &[u8]) -> Self {
        let mut quoted = Self::EMPTY;
        quoted.length = octets.len().min(QUOTED);
        quoted.octets[..quoted.length].copy_from_slice(&octets[..quoted.length]);
        quoted
    }

    /// The octets.
    pub fn as_bytes(&self) -> &[u8] {
        &self.octets[..self.length]
    }
}

impl IcmpError {
    /// Whether a router gave the datagram up because it had lived for all its hops (RFC 792 and RFC 4443: time exceeded in
    /// transit).
    pub fn is_hop_limit(&self) -> bool {
        let v6 = self.reporter.is_some_and(|reporter| reporter.is_ipv6());
        self.kind == Some(if v6 { (3, 0) } else { (11, 0) })
    }
}

impl fmt::Display for IcmpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = io::Error::from_raw_os_error(self.errno);
        match self.to {
            Some(to) => write!(f, "datagram to {to}: {reason}")?,
            None => write!(f, "datagram: {reason}")?,
        }
        match self.reporter {
            Some(reporter) => write!(f, ", says {reporter}"),
            None => Ok(()),
        }
    }
}
