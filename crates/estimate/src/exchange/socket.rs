//! The socket that a protocol's datagrams go through.

use far_ends::address::Protocol;
use kit::control::Broken;
use kit::stream::any;
use std::net::SocketAddr;
use sys::udp::UdpSocket;

/// A socket for the protocol's datagrams, connected.
pub(super) fn open(protocol: Protocol, to: SocketAddr) -> Result<UdpSocket, Broken> {
    if protocol == Protocol::Icmp {
        return Ok(UdpSocket::echo(to)?);
    }
    let mut socket = UdpSocket::bind(any(to))?;
    socket.connect(to)?;
    Ok(socket)
}
