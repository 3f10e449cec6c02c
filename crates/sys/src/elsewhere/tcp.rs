//! TCP of systems that are not Linux: what every system has. What only Linux can be told is refused, and what only Linux tells
//! is `None`.

pub use crate::tcp_info::{TcpInfo, TcpState};

use crate::{AsHandle, Error};
use rustix::event::{PollFd, PollFlags, Timespec};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, TcpKeepalive, Type};
use std::io;
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use units::{Rate, TrafficClass};

/// Octets that one call of [`discard`] throws away.
const DISCARDED: usize = 65_536;

/// Connects to `address` within `timeout`.
///
/// # Errors
/// Those of the system.
pub fn connect(address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.connect_timeout(&address.into(), timeout)?;
    Ok(socket.into())
}

/// Listens on `address`.
///
/// # Errors
/// Those of the system.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address)
}

/// A socket that never waits and is bound to nothing yet.
///
/// # Errors
/// Those of the system.
pub fn nonblocking(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Begins to connect a socket that does not wait.
///
/// # Errors
/// Those of the system; that the handshake takes its time is none.
pub fn begin_connect(socket: &Socket, destination: SocketAddr) -> io::Result<()> {
    match socket.connect(&destination.into()) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        #[cfg(unix)]
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        done => done,
    }
}

/// Accepts a connection as a socket that never waits.
///
/// # Errors
/// Those of the system; [`io::ErrorKind::WouldBlock`] when none has come.
pub fn accept_nonblocking(listener: &Socket) -> io::Result<(Socket, SockAddr)> {
    let (socket, peer) = listener.accept()?;
    socket.set_nonblocking(true)?;
    Ok((socket, peer))
}

/// Lets the kernel send at most at `rate`; `None` lifts the limit.
///
/// # Errors
/// When there is a rate.
pub fn set_max_pacing(_fd: &impl AsHandle, rate: Option<Rate>) -> Result<(), Error> {
    only_without(rate.is_none(), "pacing by the kernel's TCP")
}

/// Segments of at most `octets` of data.
///
/// # Errors
/// Always.
pub fn set_max_segment(_fd: &impl AsHandle, _octets: u32) -> Result<(), Error> {
    Err(Error::only_linux("a limit of TCP's segments"))
}

/// Gives the kernel as much of `octets` to send as it has room for; waits as a write would.
///
/// # Errors
/// Those of a write; that it cannot end a segment, or not wait, is said as well.
pub fn send(fd: &impl AsHandle, octets: &[u8], alone: bool, waits: bool) -> io::Result<usize> {
    if alone || !waits {
        return Err(io::ErrorKind::Unsupported.into());
    }
    SockRef::from(fd).send(octets)
}

/// Asks a silent peer for a sign of life every `interval`, and gives the connection up after `tries` without one.
///
/// # Errors
/// Those of the system.
pub fn keep_alive(fd: &impl AsHandle, interval: Duration, tries: u32) -> io::Result<()> {
    let keepalive = TcpKeepalive::new()
        .with_time(interval)
        .with_interval(interval);
    let socket = SockRef::from(fd);
    // Older systems have a number of tries of their own.
    let counted = keepalive.clone().with_retries(tries);
    socket
        .set_tcp_keepalive(&counted)
        .or_else(|_| socket.set_tcp_keepalive(&keepalive))
}

/// Whether small writes leave at once (`true`) or wait for the acknowledgement of what is on the way.
///
/// # Errors
/// When the kernel refuses.
pub fn set_nodelay(fd: &impl AsHandle, at_once: bool) -> Result<(), Error> {
    SockRef::from(fd)
        .set_tcp_nodelay(at_once)
        .map_err(|e| Error::io("set TCP_NODELAY of", name(fd), e))
}

/// Takes more to send only while at most `octets` of what was taken have not been sent yet.
///
/// # Errors
/// Always.
pub fn set_unsent_limit(_fd: &impl AsHandle, _octets: u32) -> Result<(), Error> {
    Err(Error::only_linux("a limit of what is written and not sent"))
}

/// Bounds the window that this end offers its peer.
///
/// # Errors
/// Always.
pub fn set_window_clamp(_fd: &impl AsHandle, _octets: u32) -> Result<(), Error> {
    Err(Error::only_linux("a limit of TCP's window"))
}

/// Opens the window that this end offers to `octets` at once.
///
/// # Errors
/// Always.
pub fn offer_window(_fd: &impl AsHandle, _octets: u32) -> Result<(), Error> {
    Err(Error::only_linux("offering a window"))
}

/// Gives the connection room for `octets` that have arrived and are not read.
///
/// # Errors
/// When the kernel refuses.
pub fn set_receive_buffer(fd: &impl AsHandle, octets: usize) -> Result<(), Error> {
    SockRef::from(fd)
        .set_recv_buffer_size(octets)
        .map_err(|e| Error::io("set SO_RCVBUF of", name(fd), e))
}

/// Has every segment leave so much later.
///
/// # Errors
/// When there is a delay.
pub fn set_transmit_delay(_fd: &impl AsHandle, delay: Duration) -> Result<(), Error> {
    only_without(delay.is_zero(), "a delay of TCP's segments")
}

/// Has a blocked receiver woken only when `octets` have come. It is woken more often here.
///
/// # Errors
/// None.
pub const fn set_receive_threshold(_fd: &impl AsHandle, _octets: u32) -> Result<(), Error> {
    Ok(())
}

/// Receives at most `max` octets and throws them away. Returns their number; 0 when the peer has finished. Waits as a read would.
///
/// # Errors
/// Those of a read.
pub fn discard(fd: &impl AsHandle, max: usize) -> io::Result<usize> {
    let mut octets = vec![MaybeUninit::uninit(); max.min(DISCARDED)];
    SockRef::from(fd).recv(&mut octets)
}

/// [`discard`] without waiting.
///
/// # Errors
/// Those of a read; [`io::ErrorKind::WouldBlock`] when nothing has arrived.
pub fn try_discard(fd: &impl AsHandle, max: usize) -> io::Result<usize> {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    if rustix::event::poll(&mut fds, Some(&Timespec::default()))? == 0 {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    discard(fd, max)
}

/// What TCP knows of a connection: nothing here is told.
///
/// # Errors
/// None.
pub fn info(_fd: &impl AsHandle) -> Result<TcpInfo, Error> {
    Ok(TcpInfo::default())
}

/// Marks what the connection sends from now on.
///
/// # Errors
/// When the system forbids this class.
pub fn set_traffic_class(fd: &impl AsHandle, class: TrafficClass) -> Result<(), Error> {
    let socket = SockRef::from(fd);
    let is_v6 = socket.local_addr().is_ok_and(|local| local.is_ipv6());
    set_class(&socket, class.octet(), is_v6)
        .map_err(|e| Error::io(format!("set DSCP {} of", class.dscp), name(fd), e))
}

/// Sets the octet of the class, where the system has an option for it: Windows leaves it to its administrators.
pub(super) fn set_class(socket: &SockRef<'_>, octet: u8, is_v6: bool) -> io::Result<()> {
    #[cfg(unix)]
    if is_v6 {
        return socket.set_tclass_v6(octet.into());
    }
    let _ = is_v6;
    socket.set_tos_v4(octet.into())
}

/// The class with which the handshake of an accepted connection arrived: it is not told.
///
/// # Errors
/// None.
pub const fn accepted_class(_fd: &impl AsHandle) -> Result<Option<TrafficClass>, Error> {
    Ok(None)
}

/// Gives this process's sockets a congestion control: only Linux has a choice.
pub const fn pin_congestion(_control: &str) {}

/// Gives a socket the pinned congestion control, of which there is none.
///
/// # Errors
/// None.
pub const fn adopt_congestion(_fd: &impl AsHandle) -> Result<(), Error> {
    Ok(())
}

/// The congestion controls that there are.
///
/// # Errors
/// Always.
pub fn available_congestion() -> Result<Vec<String>, Error> {
    Err(Error::only_linux("a list of congestion controls"))
}

/// The congestion control of a connection.
///
/// # Errors
/// Always.
pub fn congestion(_fd: &impl AsHandle) -> Result<String, Error> {
    Err(Error::only_linux("the name of the congestion control"))
}

/// Makes `control` the congestion control of all connections.
///
/// # Errors
/// Always.
pub fn set_default_congestion(_control: &str) -> Result<(), Error> {
    Err(Error::only_linux("a choice of congestion control"))
}

/// Gives a connection the congestion control `control`.
///
/// # Errors
/// Always.
pub fn set_congestion(_fd: &impl AsHandle, _control: &str) -> Result<(), Error> {
    Err(Error::only_linux("a choice of congestion control"))
}

/// Whether this process's sockets can have the congestion control `control`.
///
/// # Errors
/// Always.
pub fn try_congestion(_control: &str) -> Result<(), Error> {
    Err(Error::only_linux("a choice of congestion control"))
}

/// The system's setting of ECN: it is not told.
pub const fn ecn_setting() -> Option<u8> {
    None
}

/// Whether connections that this host opens ask for ECN: it is not told.
pub const fn requests_ecn() -> Option<bool> {
    None
}

/// Makes connections ask for ECN, or not.
///
/// # Errors
/// Always.
pub fn set_ecn(_is_on: bool) -> Result<(), Error> {
    Err(Error::only_linux("a choice of ECN"))
}

fn only_without(is_without: bool, what: &'static str) -> Result<(), Error> {
    if is_without {
        Ok(())
    } else {
        Err(Error::only_linux(what))
    }
}

/// What errors call a connection: `TCP socket 10.0.0.1:4890 to 10.0.0.2:80`.
fn name(fd: &impl AsHandle) -> String {
    let socket = SockRef::from(fd);
    let local = socket.local_addr().ok().and_then(|addr| addr.as_socket());
    let peer = socket.peer_addr().ok().and_then(|addr| addr.as_socket());
    match (local, peer) {
        (Some(local), Some(peer)) => format!("TCP socket {local} to {peer}"),
        (Some(local), None) => format!("TCP socket {local}"),
        _ => "TCP socket".to_owned(),
    }
}
