//! What TCP connections of this host know and can be told.
//!
//! The connections themselves are the standard library's; every function here takes anything with a
//! descriptor. What TCP measures by itself is in [`TcpInfo`]: a load generator that reads it ten
//! times a second learns the round-trip time under load without sending a probe.

mod class;
mod congestion;
mod ecn;
mod info;
#[cfg(test)]
mod tests;

pub use crate::tcp_info::{TcpInfo, TcpState};
pub use class::{accepted_class, set_traffic_class};
pub use congestion::{
    adopt_congestion, available_congestion, congestion, pin_congestion, set_congestion,
    set_default_congestion, try_congestion,
};
pub use ecn::{ecn_setting, requests_ecn, set_ecn};
pub use info::info;

use crate::{Error, sockopt};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, TcpKeepalive, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use units::Rate;

/// Connects to `address` within `timeout`, with the pinned congestion control ([`pin_congestion`]).
///
/// # Errors
/// Those of the system.
pub fn connect(address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    adopt_congestion(&socket).map_err(io::Error::other)?;
    socket.connect_timeout(&address.into(), timeout)?;
    Ok(socket.into())
}

/// Listens on `address`; what is accepted has the pinned congestion control.
///
/// # Errors
/// Those of the system.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    adopt_congestion(&listener).map_err(io::Error::other)?;
    Ok(listener)
}

/// A socket that never waits and is bound to nothing yet, with the pinned congestion control.
///
/// # Errors
/// Those of the system.
pub fn nonblocking(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    adopt_congestion(&socket).map_err(io::Error::other)?;
    Ok(socket)
}

/// Begins to connect a socket that does not wait.
///
/// # Errors
/// Those of the system; that the handshake takes its time is none.
pub fn begin_connect(socket: &Socket, destination: SocketAddr) -> io::Result<()> {
    match socket.connect(&destination.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

/// Accepts a connection as a socket that never waits.
///
/// # Errors
/// Those of the system; [`io::ErrorKind::WouldBlock`] when none has come.
pub fn accept_nonblocking(listener: &Socket) -> io::Result<(Socket, SockAddr)> {
    listener.accept4(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC)
}

/// Lets the kernel send at most at `rate` on this connection; `None` lifts the limit.
///
/// TCP paces by itself where the interface has no pacing queue (Linux 4.13 and newer).
///
/// # Errors
/// When the kernel refuses.
pub fn set_max_pacing(fd: &impl AsFd, rate: Option<Rate>) -> Result<(), Error> {
    let octets = rate.map_or(u64::MAX, |rate| rate.as_bps().div_ceil(8));
    let value = octets.to_ne_bytes();
    sockopt::set_bytes(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &value)
        .map_err(|e| Error::io("set maximum pacing rate of", name(fd), e))
}

/// Segments of at most `octets` of data and TCP's own options (`TCP_MAXSEG`), both ways when it is set before the connection is made.
///
/// # Errors
/// When the kernel refuses: Linux takes 88 to 32,767.
pub fn set_max_segment(fd: &impl AsFd, octets: u32) -> Result<(), Error> {
    SockRef::from(fd)
        .set_tcp_mss(octets)
        .map_err(|e| Error::io("set TCP_MAXSEG of", name(fd), e))
}

/// Gives the kernel as much of `octets` to send as it has room for; waits as a write would, or not at all. If `alone`, their last octet
/// ends a segment: nothing that is written later joins it (`MSG_EOR`), so segments that are written one by one are paced one by one.
///
/// # Errors
/// Those of a write.
pub fn send(fd: &impl AsFd, octets: &[u8], alone: bool, waits: bool) -> io::Result<usize> {
    let mut flags = libc::MSG_NOSIGNAL;
    if alone {
        flags |= libc::MSG_EOR;
    }
    if !waits {
        flags |= libc::MSG_DONTWAIT;
    }
    SockRef::from(fd).send_with_flags(octets, flags)
}

/// Asks a silent peer for a sign of life every `interval`, and gives the connection up after `tries` without one, and so what waits for an
/// acknowledgement.
///
/// # Errors
/// Those of the system.
pub fn keep_alive(fd: &impl AsFd, interval: Duration, tries: u32) -> io::Result<()> {
    let keepalive = TcpKeepalive::new()
        .with_time(interval)
        .with_interval(interval)
        .with_retries(tries);
    let socket = SockRef::from(fd);
    socket.set_tcp_keepalive(&keepalive)?;
    socket.set_tcp_user_timeout(Some(interval * (tries + 1)))
}

/// Whether small writes leave at once (`true`) or wait for the acknowledgement of what is on the
/// way (Nagle's algorithm, RFC 9293 section 3.7.4).
///
/// # Errors
/// When the kernel refuses.
pub fn set_nodelay(fd: &impl AsFd, at_once: bool) -> Result<(), Error> {
    SockRef::from(fd)
        .set_tcp_nodelay(at_once)
        .map_err(|e| Error::io("set TCP_NODELAY of", name(fd), e))
}

/// Takes more to send only while at most `octets` of what was taken have not been sent yet (`TCP_NOTSENT_LOWAT`): what was
/// written is about to leave, and does not wait in memory.
///
/// # Errors
/// When the kernel refuses.
pub fn set_unsent_limit(fd: &impl AsFd, octets: u32) -> Result<(), Error> {
    SockRef::from(fd)
        .set_tcp_notsent_lowat(octets)
        .map_err(|e| Error::io("set TCP_NOTSENT_LOWAT of", name(fd), e))
}

/// Bounds the window that this end offers its peer (`TCP_WINDOW_CLAMP`), in octets.
///
/// # Errors
/// When the kernel refuses.
pub fn set_window_clamp(fd: &impl AsFd, octets: u32) -> Result<(), Error> {
    let value = i32::try_from(octets).unwrap_or(i32::MAX);
    sockopt::set_int(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, value)
        .map_err(|e| Error::io("set TCP_WINDOW_CLAMP of", name(fd), e))
}

/// Opens the window that this end offers to `octets` at once, at most half of the third figure of `net.ipv4.tcp_rmem`; it grows beyond as
/// the kernel finds it needs. (`SO_RCVLOWAT`, tcp(7): the kernel makes room for what a reader waits for. The threshold is 1 afterwards.)
/// Without it the window opens in steps, each some round trips after it was too small, and a sender whose own window is
/// larger by then sends a step's worth in one burst.
///
/// # Errors
/// When the kernel refuses.
pub fn offer_window(fd: &impl AsFd, octets: u32) -> Result<(), Error> {
    set_receive_threshold(fd, octets)?;
    set_receive_threshold(fd, 1)
}

/// Gives the connection room for `octets` that have arrived and are not read (`SO_RCVBUF`, beyond the system's limit where that
/// is allowed), instead of as much as the kernel finds it needs. The window that is offered follows it.
///
/// # Errors
/// When the kernel refuses.
pub fn set_receive_buffer(fd: &impl AsFd, octets: usize) -> Result<(), Error> {
    let value = i32::try_from(octets).unwrap_or(i32::MAX);
    let forced = sockopt::set_int(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, value);
    forced
        .or_else(|_| SockRef::from(fd).set_recv_buffer_size(octets))
        .map_err(|e| Error::io("set SO_RCVBUF of", name(fd), e))
}

/// Has every segment of this socket, from its SYN on, leave so much later (`TCP_TX_DELAY`, Linux 5.3). The delay is made by
/// the queue of the outgoing interface, which must be `fq` (tc-fq(8)); any other queue ignores it without a word.
///
/// # Errors
/// When the kernel refuses.
pub fn set_transmit_delay(fd: &impl AsFd, delay: Duration) -> Result<(), Error> {
    /// `include/uapi/linux/tcp.h`.
    const TCP_TX_DELAY: libc::c_int = 37;
    let value = i32::try_from(delay.as_micros()).unwrap_or(i32::MAX);
    sockopt::set_int(fd, libc::IPPROTO_TCP, TCP_TX_DELAY, value)
        .map_err(|e| Error::io("set TCP_TX_DELAY of", name(fd), e))
}

/// Has a blocked receiver woken only when `octets` have come, or the connection ends (`SO_RCVLOWAT`): fewer wake-ups
/// where nobody waits for the data itself. Linux does not enlarge the window for what waits to be read (from 6.16 on), so it should be little
/// compared with what comes in a round trip.
///
/// # Errors
/// When the kernel refuses.
pub fn set_receive_threshold(fd: &impl AsFd, octets: u32) -> Result<(), Error> {
    let value = i32::try_from(octets).unwrap_or(i32::MAX);
    sockopt::set_int(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, value)
        .map_err(|e| Error::io("set SO_RCVLOWAT of", name(fd), e))
}

/// Receives at most `max` octets and throws them away inside the kernel, which copies nothing
/// (`tcp(7)`, `MSG_TRUNC`). Returns their number; 0 when the peer has finished. Waits as a read
/// would.
///
/// # Errors
/// Those of a read.
pub fn discard(fd: &impl AsFd, max: usize) -> io::Result<usize> {
    discard_with(fd, max, 0)
}

/// [`discard`] without waiting, whatever the mode of the socket.
///
/// # Errors
/// Those of a read; [`io::ErrorKind::WouldBlock`] when nothing has arrived.
pub fn try_discard(fd: &impl AsFd, max: usize) -> io::Result<usize> {
    discard_with(fd, max, libc::MSG_DONTWAIT)
}

fn discard_with(fd: &impl AsFd, max: usize, flags: i32) -> io::Result<usize> {
    #[expect(
        unsafe_code,
        reason = "a slice of octets that nobody reads would have to exist"
    )]
    // SAFETY: there is no buffer. A kernel that wanted to copy would answer EFAULT.
    let count = unsafe {
        libc::recv(
            fd.as_fd().as_raw_fd(),
            std::ptr::null_mut(),
            max,
            libc::MSG_TRUNC | flags,
        )
    };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// What errors call a connection: `TCP socket 10.0.0.1:4890 to 10.0.0.2:80`.
fn name(fd: &impl AsFd) -> String {
    let socket = SockRef::from(fd);
    let local = socket.local_addr().ok().and_then(|addr| addr.as_socket());
    let peer = socket.peer_addr().ok().and_then(|addr| addr.as_socket());
    match (local, peer) {
        (Some(local), Some(peer)) => format!("TCP socket {local} to {peer}"),
        (Some(local), None) => format!("TCP socket {local}"),
        _ => "TCP socket".to_owned(),
    }
}
