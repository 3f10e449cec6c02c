//! Two sockets on one port, between which the kernel sorts what arrives.
//!
//! Sockets that allow it when they are bound (`SO_REUSEPORT`) have a port together, and a program of the classic packet filter says of each
//! datagram whose it is (socket(7), `SO_ATTACH_REUSEPORT_CBPF`). So two protocols have one port, one hole in a firewall, and each a socket,
//! a buffer and a thread of its own. Another program of the same user may bind the port, too, and gets nothing while these two are open.
//!
//! Before it sorts, the kernel puts together what comes close together (GRO) for a socket that it takes by a hash of the addresses: neither of the
//! two is to ask for trains ([`UdpSocket::receive_trains`]), or datagrams of the other might share one stamp.

use super::UdpSocket;
use crate::{Error, sockopt};
use socket2::SockFilter;
use std::net::SocketAddr;

impl UdpSocket {
    /// Two sockets on `local`. `program` sees the payload of each datagram and returns 0 for what the first one gets, 1 for the second;
    /// where it would read beyond the payload, that is 0.
    ///
    /// # Errors
    /// As [`UdpSocket::bind`], and when the kernel does not take the program.
    pub fn bind_sorted(local: SocketAddr, program: &[SockFilter]) -> Result<[Self; 2], Error> {
        let first = Self::bind_as(local, |socket| socket.set_reuse_port(true))?;
        let second = Self::bind_as(first.local_addr()?, |socket| socket.set_reuse_port(true))?;
        sockopt::set_program(&first.socket, libc::SO_ATTACH_REUSEPORT_CBPF, program)
            .map_err(|e| first.error("sort what arrives at", e))?;
        // Who binds a socket beside the first one (`beside`) has its permission; the second one's it has always.
        let allowed = second.socket.set_reuse_address(true);
        allowed.map_err(|e| second.error("share the port of", e))?;
        Ok([first, second])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::{BATCH, RecvBatch};
    use std::time::Duration;

    const LOAD_OCTET: u16 = 0x30;
    const EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;

    /// Those that begin with 7 are for the second.
    fn sevens() -> [SockFilter; 4] {
        [
            SockFilter::new(LOAD_OCTET, 0, 0, 0),
            SockFilter::new(EQUAL, 0, 1, 7),
            SockFilter::new(RETURN, 0, 0, 1),
            SockFilter::new(RETURN, 0, 0, 0),
        ]
    }

    fn received(socket: &UdpSocket, count: usize) -> Vec<Vec<u8>> {
        let mut batch = RecvBatch::new(BATCH, 100);
        let mut all = Vec::new();
        while all.len() < count && socket.wait(Duration::from_secs(2)).unwrap().datagram {
            socket.recv(&mut batch).unwrap();
            all.extend(batch.iter().map(|datagram| datagram.payload.to_vec()));
        }
        all
    }

    #[test]
    fn each_gets_its_own_from_both_families_and_one_beside_them_its_peers() {
        let [first, second] = UdpSocket::bind_sorted("[::]:0".parse().unwrap(), &sevens()).unwrap();
        let port = first.local_addr().unwrap().port();
        assert_eq!(second.local_addr().unwrap().port(), port);
        let peers = ["127.0.0.1:0", "[::1]:0"].map(|local| {
            let peer = std::net::UdpSocket::bind(local).unwrap();
            let to = SocketAddr::new(peer.local_addr().unwrap().ip(), port);
            peer.connect(to).unwrap();
            peer
        });
        for peer in &peers {
            for payload in [&[7, 1][..], &[8, 2], &[], &[7, 3]] {
                peer.send(payload).unwrap();
            }
        }
        let of_first: &[&[u8]] = &[&[8, 2], &[], &[8, 2], &[]];
        let of_second: &[&[u8]] = &[&[7, 1], &[7, 3], &[7, 1], &[7, 3]];
        assert_eq!(received(&first, 4), of_first);
        assert_eq!(received(&second, 4), of_second);

        let beside = first.beside(peers[0].local_addr().unwrap(), None).unwrap();
        for peer in &peers {
            peer.send(&[8, 4]).unwrap();
            peer.send(&[7, 5]).unwrap();
        }
        assert_eq!(received(&beside, 2), [[8, 4], [7, 5]]);
        assert_eq!(received(&first, 1), [[8, 4]]);
        assert_eq!(received(&second, 1), [[7, 5]]);
    }
}
