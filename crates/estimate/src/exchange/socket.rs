//! The socket that a protocol's datagrams go through.

use far_ends::address::Protocol;
use far_ends::icmp::{PROTOCOL_V4, PROTOCOL_V6};
use kit::control::Broken;
use kit::stream::any;
use std::net::SocketAddr;
use sys::udp::UdpSocket;

/// A socket for the protocol's datagrams, connected.
pub(super) fn open(protocol: Protocol, to: SocketAddr, is_v6: bool) -> Result<UdpSocket, Broken> {
    let mut socket = UdpSocket::bind(any(to))?;
    socket.connect(to)?;
    if protocol != Protocol::Icmp {
        return Ok(socket);
    }
    // The kernel knows from which address it would be.
    let local = socket.local_addr()?.ip();
    let number = if is_v6 { PROTOCOL_V6 } else { PROTOCOL_V4 };
    Ok(UdpSocket::raw(number, local, to)?)
}
