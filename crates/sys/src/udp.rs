//! UDP sockets that say when, from where to where, and with which marks.
//!
//! The time at which a program gets a datagram is the time at which it was scheduled. The kernel
//! stamps the datagram itself, on arrival and, when asked, on departure; so a delay measured between
//! two kernel stamps has neither program in it. Stamps are wall-clock nanoseconds:
//! [`crate::clock::stamp`] moves them onto the monotonic clock.
//!
//! Every datagram received tells its traffic class (DSCP and ECN) and the address it was sent to;
//! every datagram sent names its own class and, on a wildcard socket, the address it leaves from.
//! One socket bound to `[::]` serves both families; an IPv4 peer has an IPv4 address there, never a
//! mapped one.
//!
//! # Calling order
//!
//! A socket never blocks. A thread
//!
//! 1. calls [`UdpSocket::wait`] with the time until its next deadline;
//! 2. calls [`UdpSocket::recv`] until it returns 0;
//! 3. calls [`UdpSocket::poll_event`] until it returns `None`, at least when `wait` said so: an
//!    event left there makes every `wait` return at once and takes room from arriving datagrams;
//! 4. calls [`UdpSocket::send`] when it is time to.
//!
//! An ICMP error (port unreachable, ...) is an event, and no call fails because of one.

mod address;
mod beside;
mod event;
mod raw;
mod receive;
mod send;
mod sorted;
#[cfg(test)]
mod tests;
mod train;

pub use crate::datagram::{
    BATCH, Buffers, Datagram, Event, IcmpError, Meter, Outgoing, QUOTED, Quoted, Ready, Sent,
};
pub use receive::RecvBatch;

use crate::{Error, sockopt};
use rustix::event::{PollFd, PollFlags};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

/// A UDP socket with the kernel's stamps. Two threads may share it, one that sends and one that
/// receives.
#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    /// What errors call it: `UDP socket 10.0.0.1:4890`.
    name: String,
    /// An IPv6 socket, to which IPv4 peers have mapped addresses.
    v6: bool,
    peer: Option<SocketAddr>,
    /// Datagrams sent since transmit stamps were enabled, modulo 2^32: the kernel counts them too.
    sent: AtomicU32,
    /// Whether the kernel has refused to cut trains.
    no_trains: AtomicBool,
    /// Whether it is one of IP itself, which is of one family only; IPv4's gets headers with what comes.
    is_raw: bool,
    /// Where its octets are counted.
    meter: Arc<Meter>,
}

impl UdpSocket {
    /// A socket on `local`, with receive stamps. The address `[::]` takes both families, port 0 a
    /// free port.
    ///
    /// The kernel switches its stamping on some milliseconds after the first such socket of the
    /// machine appears; what arrives before has no stamp.
    ///
    /// # Errors
    /// When the address is taken or not of this host, or the family is missing.
    pub fn bind(local: SocketAddr) -> Result<Self, Error> {
        Self::bind_as(local, |_| Ok(()))
    }

    /// [`UdpSocket::bind`], on an address that other sockets of this kind may have too (`SO_REUSEADDR`): each is to be
    /// connected to a peer of its own.
    ///
    /// # Errors
    /// As [`UdpSocket::bind`].
    pub fn bind_shared(local: SocketAddr) -> Result<Self, Error> {
        Self::bind_as(local, |socket| socket.set_reuse_address(true))
    }

    /// The same socket, whose octets are counted by `meter` from now on.
    #[must_use]
    pub fn metered(self, meter: &Arc<Meter>) -> Self {
        let meter = Arc::clone(meter);
        Self { meter, ..self }
    }

    /// With what `allow` lets others do with its port.
    fn bind_as(
        local: SocketAddr,
        allow: impl FnOnce(&Socket) -> io::Result<()>,
    ) -> Result<Self, Error> {
        let mut name = format!("UDP socket {local}");
        let v6 = local.is_ipv6();
        let socket = open(local, allow).map_err(|e| {
            Error::io("open", &name, e).advise("choose a free port and an address of this host")
        })?;
        enable(&socket, true, v6).map_err(|e| Error::io("enable stamps and marks of", &name, e))?;
        if let Some(bound) = socket.local_addr().ok().and_then(|a| a.as_socket()) {
            name = format!("UDP socket {bound}");
        }
        Ok(Self {
            socket,
            name,
            v6,
            peer: None,
            sent: AtomicU32::new(0),
            no_trains: AtomicBool::new(false),
            is_raw: false,
            meter: Arc::default(),
        })
    }

    /// Takes datagrams from `peer` only, and sends there what names no destination.
    ///
    /// # Errors
    /// When there is no route to `peer`.
    pub fn connect(&mut self, peer: SocketAddr) -> Result<(), Error> {
        let form = match peer {
            SocketAddr::V4(v4) if self.v6 => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
            other => other,
        };
        self.socket
            .connect(&form.into())
            .map_err(|e| Error::io("connect", format!("{} to {peer}", self.name), e))?;
        self.peer = Some(peer);
        Ok(())
    }

    /// Makes the kernel stamp what is sent from now on; the stamps come as [`Event::Sent`]. Call it
    /// once, before sending.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn enable_tx_stamps(&self) -> Result<(), Error> {
        let flags = RX_STAMPS
            | libc::SOF_TIMESTAMPING_TX_SOFTWARE
            | libc::SOF_TIMESTAMPING_OPT_ID
            | libc::SOF_TIMESTAMPING_OPT_TSONLY;
        set_stamps(&self.socket, flags).map_err(|e| self.error("enable transmit stamps of", e))
    }

    /// Makes the kernel tell of each datagram how many hops it might still have gone.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn enable_hop_limits(&self) -> Result<(), Error> {
        let set = |level, name| sockopt::set_int(&self.socket, level, name, 1);
        let v4 = self.set_v4(|| set(libc::IPPROTO_IP, libc::IP_RECVTTL));
        let v6 = self.set_v6(|| set(libc::IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT));
        v4.and(v6)
            .map_err(|e| self.error("enable hop limits of", e))
    }

    /// Lets what is sent from now on live for `hops` hops; a router that gives it up returns an [`IcmpError`].
    ///
    /// # Errors
    /// When the kernel refuses: 0 is no number of hops.
    pub fn set_hop_limit(&self, hops: u8) -> Result<(), Error> {
        let hops = i32::from(hops);
        let set = |level, name| sockopt::set_int(&self.socket, level, name, hops);
        let v4 = self.set_v4(|| set(libc::IPPROTO_IP, libc::IP_TTL));
        let v6 = self.set_v6(|| set(libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS));
        v4.and(v6)
            .map_err(|e| self.error("set the hop limit of", e))
    }

    /// Has ICMP errors told no more: neither as events nor by calls.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn ignore_icmp(&self) -> Result<(), Error> {
        let set = |level, name| sockopt::set_int(&self.socket, level, name, 0);
        let v4 = self.set_v4(|| set(libc::IPPROTO_IP, libc::IP_RECVERR));
        let v6 = self.set_v6(|| set(libc::IPPROTO_IPV6, libc::IPV6_RECVERR));
        v4.and(v6)
            .map_err(|e| self.error("ignore ICMP errors at", e))
    }

    /// Asks for buffers of these sizes, past the system's limits when privileged, and returns what
    /// the kernel granted.
    ///
    /// # Errors
    /// When the sizes cannot be set or read.
    pub fn set_buffers(&self, receive: usize, send: usize) -> Result<Buffers, Error> {
        self.grant(receive, send)
            .map_err(|e| self.error("set buffers of", e))
    }

    /// The address that the socket is bound to.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn local_addr(&self) -> Result<SocketAddr, Error> {
        self.socket
            .local_addr()
            .and_then(|addr| {
                addr.as_socket()
                    .ok_or_else(|| io::ErrorKind::Unsupported.into())
            })
            .map_err(|e| self.error("read address of", e))
    }

    /// Waits until there is a datagram or an event, at most for `timeout`. A signal ends it early.
    ///
    /// # Errors
    /// When the kernel cannot wait.
    pub fn wait(&self, timeout: Duration) -> Result<Ready, Error> {
        self.wait_for(PollFlags::IN, timeout)
    }

    /// [`UdpSocket::wait`] for room to send as well, after a send that the kernel did not take all of.
    ///
    /// # Errors
    /// When the kernel cannot wait.
    pub fn wait_for_room(&self, timeout: Duration) -> Result<Ready, Error> {
        self.wait_for(PollFlags::IN | PollFlags::OUT, timeout)
    }

    fn wait_for(&self, flags: PollFlags, timeout: Duration) -> Result<Ready, Error> {
        let timeout = timeout.try_into().ok();
        let mut fds = [PollFd::new(&self.socket, flags)];
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) => Ok(Ready {
                datagram: fds[0].revents().contains(PollFlags::IN),
                event: fds[0].revents().contains(PollFlags::ERR),
                room: fds[0].revents().contains(PollFlags::OUT),
            }),
            Err(rustix::io::Errno::INTR) => Ok(Ready::default()),
            Err(e) => Err(self.error("wait for", e)),
        }
    }

    fn grant(&self, receive: usize, send: usize) -> io::Result<Buffers> {
        let force = |name, size: usize| {
            let size = i32::try_from(size).unwrap_or(i32::MAX);
            sockopt::set_int(&self.socket, libc::SOL_SOCKET, name, size)
        };
        if force(libc::SO_RCVBUFFORCE, receive).is_err() {
            self.socket.set_recv_buffer_size(receive)?;
        }
        if force(libc::SO_SNDBUFFORCE, send).is_err() {
            self.socket.set_send_buffer_size(send)?;
        }
        // The kernel doubles what it is asked for, to cover its own headers, and tells the double.
        Ok(Buffers {
            receive: self.socket.recv_buffer_size()? / 2,
            send: self.socket.send_buffer_size()? / 2,
        })
    }

    /// Does what is to be done for IPv4 peers, where there can be any.
    fn set_v4(&self, set: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let has_v4 = !(self.is_raw && self.v6);
        if has_v4 { set() } else { Ok(()) }
    }

    /// And for IPv6 peers.
    fn set_v6(&self, set: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.v6 { set() } else { Ok(()) }
    }

    fn error(&self, operation: &str, source: impl Into<io::Error>) -> Error {
        Error::io(operation, &self.name, source)
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Stamps of received datagrams, made by the kernel's own software.
const RX_STAMPS: u32 = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;

fn open(local: SocketAddr, allow: impl FnOnce(&Socket) -> io::Result<()>) -> io::Result<Socket> {
    let socket = nonblocking(local)?;
    allow(&socket)?;
    socket.bind(&local.into())?;
    Ok(socket)
}

/// A socket of the family of `local` that is bound to nothing yet.
fn nonblocking(local: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    if local.is_ipv6() {
        socket.set_only_v6(local.ip() != Ipv6Addr::UNSPECIFIED)?;
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Asks for everything that [`Datagram`] tells, and for ICMP errors as events.
///
/// An IPv6 socket that can have IPv4 peers gets the options of both: each apply to what its peers of that family send.
fn enable(socket: &Socket, v4: bool, v6: bool) -> io::Result<()> {
    set_stamps(socket, RX_STAMPS)?;
    sockopt::set_int(socket, libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1)?;
    if v4 {
        sockopt::set_int(socket, libc::IPPROTO_IP, libc::IP_RECVTOS, 1)?;
        sockopt::set_int(socket, libc::IPPROTO_IP, libc::IP_RECVERR, 1)?;
    }
    if v6 {
        sockopt::set_int(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1)?;
        sockopt::set_int(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, 1)?;
        sockopt::set_int(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, 1)
    } else {
        sockopt::set_int(socket, libc::IPPROTO_IP, libc::IP_PKTINFO, 1)
    }
}

fn set_stamps(socket: &Socket, flags: u32) -> io::Result<()> {
    let flags = flags.cast_signed();
    sockopt::set_int(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags)
}

/// Whether a call failed only because an ICMP error came in for something sent earlier. The kernel
/// reports such an error once, on whatever call comes next; the event has the details.
fn is_icmp_report(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::ECONNREFUSED
                | libc::EHOSTUNREACH
                | libc::ENETUNREACH
                | libc::EHOSTDOWN
                | libc::ENONET
                | libc::ENOPROTOOPT
                | libc::EOPNOTSUPP
                | libc::EPROTO
                | libc::EACCES
                | libc::EMSGSIZE
        )
    )
}
