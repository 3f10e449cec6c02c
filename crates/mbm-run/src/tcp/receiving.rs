//! The receiving end of a test that TCP carries.
//!
//! A windowed test's window is the receiver's to bound (`TCP_WINDOW_CLAMP`): a sender has no option for its own. What Linux makes of it:
//!
//! - A window that was offered is not taken back (RFC 9293 section 3.8.6.2.1): what the handshake offered, mostly 64 kB, is used up first.
//! - It is rounded up to the unit of the window scale, mostly 128 octets, and is never below about 2 kB.
//! - Kernels of today (6.6 and newer) forget it when they learn how much memory a segment takes, so it is said again and again.

use super::super::plan::Plan;
use super::{TIMESTAMPS, headers};
use kit::stream::{PATIENCE, is_timeout};
use mbm::diagnostic::TcpShape;
use std::net::TcpStream;
use sys::tcp;

/// Octets thrown away in one call.
const DISCARD: usize = 4 << 20;
/// Of its buffer the kernel counts a half on headers; what was not read yet may take a window more.
const BUFFERS: usize = 4;

/// Octets of the window that `shape` needs; none where it is not to be bound.
pub(super) fn window(socket: &TcpStream, shape: TcpShape, plan: &Plan) -> Option<u32> {
    let TcpShape::Windowed { packets } = shape else {
        return None;
    };
    let peer = socket.peer_addr().map(|peer| peer.ip().to_canonical());
    let v6 = peer.is_ok_and(|peer| peer.is_ipv6());
    let mss = plan.target.mtu().saturating_sub(headers(v6) + TIMESTAMPS);
    Some(packets.saturating_mul(mss))
}

/// Receives until the other end is done, or `abort` says so, and offers a window of so many octets.
pub(super) fn run(socket: &TcpStream, window: Option<u32>, abort: &dyn Fn() -> bool) {
    let _ = socket.set_read_timeout(Some(PATIENCE));
    if let Some(octets) = window {
        let _ = tcp::set_receive_buffer(socket, octets as usize * BUFFERS);
    }
    while !abort() {
        if let Some(octets) = window {
            // The sender sees what it is offered, and whether that is the test.
            let _ = tcp::set_window_clamp(socket, octets);
        }
        match tcp::discard(socket, DISCARD) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {}
            Err(_) => return,
        }
    }
}
