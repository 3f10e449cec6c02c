//! UDP sockets for QUIC where a packet's DSCP is the system's to say.

use quinn::{AsyncUdpSocket, Runtime, TokioRuntime};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use sys::udp::UdpSocket;
use units::Dscp;

/// A socket on `local`.
///
/// # Errors
/// When the system gives none.
pub(super) fn bind(local: SocketAddr, _: Dscp) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    TokioRuntime.wrap_udp_socket(std::net::UdpSocket::bind(local)?)
}

/// # Errors
/// Always: what it would return is not told here.
pub(super) fn returning(_: Arc<UdpSocket>) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    Err(ErrorKind::Unsupported.into())
}
