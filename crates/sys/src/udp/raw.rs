//! Datagrams right behind an IP header, with the number of a protocol where UDP has ports.
//!
//! Everything else is as with UDP: the same calls, stamps, marks and errors. Two things differ. There are no ports, so every
//! socket between the same two addresses gets everything, and what is meant for whom must be told by the octets. And the kernel
//! hands over IPv4's header with what is behind it, which is taken off here; in IPv6 it does not.

use super::{UdpSocket, enable};
use crate::Error;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::sync::atomic::{AtomicBool, AtomicU32};

/// The numbers of ICMP in IP's headers.
const ICMP_V4: u8 = 1;
const ICMP_V6: u8 = 58;

impl UdpSocket {
    /// A socket for IP's `protocol`, with receive stamps, that takes what `peer` sends to `local` and sends there. The port of
    /// `peer` means nothing; mapped addresses are taken for IPv4's.
    ///
    /// # Errors
    /// Without `CAP_NET_RAW`, when `local` is not of this host or not of the peer's version of IP, or there is no route to
    /// `peer`.
    pub fn raw(protocol: u8, local: IpAddr, peer: SocketAddr) -> Result<Self, Error> {
        let (local, mut peer) = (local.to_canonical(), unmapped(peer));
        peer.set_port(0);
        let name = format!("socket of {local} for IP protocol {protocol}");
        let socket = open(Type::RAW, protocol, beside(local, peer)).map_err(|e| {
            let may_not = e.kind() == io::ErrorKind::PermissionDenied;
            let error = Error::io("open", &name, e);
            if may_not {
                error.advise("run as root, or with CAP_NET_RAW")
            } else {
                error
            }
        })?;
        Self::behind_ip(socket, name, true, local.is_ipv6(), peer)
    }

    /// A socket for echo requests to `peer` and their replies: one that the system has for programs without rights, where
    /// `net.ipv4.ping_group_range` lets this one have it, else a raw one. What is sent and received begins with ICMP's header. The
    /// kernel may choose the identifier, and computes the checksum.
    ///
    /// # Errors
    /// When neither can be had, or there is no route to `peer`.
    pub fn echo(peer: SocketAddr) -> Result<Self, Error> {
        let mut peer = unmapped(peer);
        // The kernel knows from which address it would be.
        let mut route = Self::bind(unspecified(peer))?;
        peer.set_port(9);
        route.connect(peer)?;
        let local = route.local_addr()?.ip().to_canonical();
        peer.set_port(0);
        let v6 = local.is_ipv6();
        let protocol = if v6 { ICMP_V6 } else { ICMP_V4 };
        match open(Type::DGRAM, protocol, beside(local, peer)) {
            Ok(socket) => {
                let name = format!("echo socket of {local}");
                Self::behind_ip(socket, name, false, v6, peer)
            }
            Err(_) => Self::raw(protocol, local, peer),
        }
    }

    fn behind_ip(
        socket: Socket,
        name: String,
        is_raw: bool,
        v6: bool,
        peer: SocketAddr,
    ) -> Result<Self, Error> {
        enable(&socket, !v6, v6).map_err(|e| Error::io("enable stamps and marks of", &name, e))?;
        let mut raw = Self {
            socket,
            name,
            v6,
            peer: None,
            sent: AtomicU32::new(0),
            // Only UDP is cut by the kernel.
            no_trains: AtomicBool::new(true),
            is_raw,
            meter: std::sync::Arc::default(),
        };
        raw.connect(peer)?;
        raw.throw_away();
        Ok(raw)
    }
}

fn open(kind: Type, protocol: u8, local: SocketAddr) -> io::Result<Socket> {
    let protocol = Protocol::from(i32::from(protocol));
    let socket = Socket::new(Domain::for_address(local), kind, Some(protocol))?;
    socket.set_nonblocking(true)?;
    socket.bind(&local.into())?;
    Ok(socket)
}

/// An address of this host, on the peer's link where it is of one link only.
fn beside(local: IpAddr, peer: SocketAddr) -> SocketAddr {
    match (local, peer) {
        (IpAddr::V6(local), SocketAddr::V6(peer)) => {
            SocketAddrV6::new(local, 0, 0, peer.scope_id()).into()
        }
        _ => SocketAddr::new(local, 0),
    }
}

/// Any address of the peer's version of IP.
fn unspecified(peer: SocketAddr) -> SocketAddr {
    let any: IpAddr = if peer.is_ipv6() {
        Ipv6Addr::UNSPECIFIED.into()
    } else {
        Ipv4Addr::UNSPECIFIED.into()
    };
    SocketAddr::new(any, 0)
}

/// Where the peer is in its own version of IP.
fn unmapped(peer: SocketAddr) -> SocketAddr {
    match peer.ip().to_canonical() {
        IpAddr::V4(v4) => SocketAddr::new(v4.into(), 0),
        IpAddr::V6(_) => peer,
    }
}

/// Octets of the IPv4 header at the start of `packet`; none where there is no whole one.
pub(super) fn header_length(packet: &[u8]) -> Option<usize> {
    let length = usize::from(packet.first()? & 0x0f) * 4;
    (20..=packet.len()).contains(&length).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::tests::{await_stamps, bound};
    use crate::udp::{Outgoing, RecvBatch};
    use std::time::Duration;
    use units::TrafficClass;

    /// What nobody else on this host is likely to use: the first of the two protocols that are for trying out (RFC 3692).
    const PROTOCOL: u8 = 253;

    #[test]
    fn a_header_is_as_long_as_it_says_and_not_longer_than_there_is() {
        let packet = |first: u8, length: usize| {
            let mut octets = vec![0; length];
            if let Some(octet) = octets.first_mut() {
                *octet = first;
            }
            header_length(&octets)
        };
        assert_eq!(packet(0x45, 20), Some(20));
        assert_eq!(packet(0x4f, 80), Some(60));
        assert_eq!(packet(0x46, 23), None);
        assert_eq!(packet(0x44, 40), None);
        assert_eq!(packet(0, 0), None);
    }

    #[test]
    fn octets_arrive_without_headers_and_with_their_class_and_time() {
        // While there are these the kernel stamps.
        let stamped = [bound("127.0.0.1:0"), bound("127.0.0.1:0")];
        await_stamps(&stamped[0], &stamped[1]);
        for host in ["127.0.0.1", "::1"] {
            let host: IpAddr = host.parse().unwrap();
            let open = || UdpSocket::raw(PROTOCOL, host, SocketAddr::new(host, 7));
            let may_not = |error: &Error| error.to_string().contains("not permitted");
            let is_there = std::net::UdpSocket::bind((host, 0)).is_ok();
            if !is_there || open().is_err_and(|error| may_not(&error)) {
                continue;
            }
            let (sender, receiver) = (open().unwrap(), open().unwrap());
            sender.forbid_fragments().unwrap();
            sender.set_hop_limit(9).unwrap();
            let class = TrafficClass::from_octet(0xb9);
            let payloads: Vec<Vec<u8>> = (1..=9).map(|n| vec![n; 100 * usize::from(n)]).collect();
            let batch: Vec<_> = payloads
                .iter()
                .map(|payload| Outgoing {
                    payload,
                    to: None,
                    from: None,
                    class,
                })
                .collect();
            assert_eq!(sender.send_train(&batch).unwrap(), 9);
            let mut into = RecvBatch::new(16, 920);
            let mut got = Vec::new();
            while got.len() < 9 && receiver.wait(Duration::from_secs(2)).unwrap().datagram {
                receiver.recv(&mut into).unwrap();
                for datagram in into.iter() {
                    assert_eq!(datagram.source.ip(), host);
                    assert_eq!(datagram.local, Some(host));
                    assert!(!datagram.is_truncated() && datagram.wall_ns.is_some());
                    got.push((datagram.payload.to_vec(), datagram.class));
                }
            }
            let sent: Vec<_> = payloads.into_iter().map(|p| (p, Some(class))).collect();
            assert_eq!(got, sent, "{host}");
        }
    }
}
