//! UDP sockets for QUIC where a packet's DSCP is the system's to say.

use super::marks::Marks;
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
/// Always: with which DSCP peers send is not told here.
pub(super) fn server(_: Arc<UdpSocket>, _: Arc<Marks>) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    Err(ErrorKind::Unsupported.into())
}

/// Nothing is dropped here.
pub(crate) const fn gate(_: &UdpSocket, _: bool) {}
