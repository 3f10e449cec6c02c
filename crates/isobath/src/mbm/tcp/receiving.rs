//! The receiving end of a test that TCP carries.

use super::super::plan::Plan;
use super::{TIMESTAMPS, headers};
use crate::rrul::stream::{PATIENCE, is_timeout};
use mbm::diagnostic::TcpShape;
use std::net::TcpStream;
use sys::tcp;

/// Octets thrown away in one call.
const DISCARD: usize = 4 << 20;
/// Of its buffer the kernel counts a half on headers; what was not read yet may take a window more.
const BUFFERS: usize = 4;

/// Has the kernel offer the window of a windowed test and no more.
///
/// A window that was offered is not taken back (RFC 9293 section 3.8.6.2.1): what the handshake offered, mostly 64 kB, is used up first.
/// Linux rounds it up to the unit of its window scale, and offers no less than about 2 kB.
pub(super) fn offer(socket: &TcpStream, shape: TcpShape, plan: &Plan) {
    let TcpShape::Windowed { packets } = shape else {
        return;
    };
    let v6 = socket
        .peer_addr()
        .is_ok_and(|peer| peer.ip().to_canonical().is_ipv6());
    let mss = plan.target.mtu().saturating_sub(headers(v6) + TIMESTAMPS);
    let octets = packets.saturating_mul(mss);
    // Where the kernel refuses, the record shows the window that it offered.
    let _ = tcp::set_receive_buffer(socket, octets as usize * BUFFERS);
    let _ = tcp::set_window_clamp(socket, octets);
}

/// Receives until the other end is done, or `abort` says so.
pub(super) fn run(socket: &TcpStream, abort: &dyn Fn() -> bool) {
    let _ = socket.set_read_timeout(Some(PATIENCE));
    while !abort() {
        match tcp::discard(socket, DISCARD) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {}
            Err(_) => return,
        }
    }
}
