//! UDP sockets of systems that are not Linux: what every system has, and nothing of what only Linux tells. There are no stamps of
//! the kernel, no classes of what arrives and no ICMP errors: what was not told is `None`, and no [`Event`] comes.
//!
//! The face is that of Linux, and so is the calling order: wait, receive until there is nothing, send when it is time to.

mod fragments;

pub use crate::datagram::{
    BATCH, Buffers, Datagram, Event, IcmpError, Meter, Outgoing, QUOTED, Quoted, Ready, Sent,
};

use crate::Error;
use crate::datagram::octets;
use rustix::event::{PollFd, PollFlags, Timespec};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::Duration;
use units::TrafficClass;

/// No class has been set.
const UNSET: u16 = u16::MAX;

/// A UDP socket. Two threads may share it, one that sends and one that receives.
#[derive(Debug)]
pub struct UdpSocket {
    socket: std::net::UdpSocket,
    /// What errors call it: `UDP socket 10.0.0.1:4890`.
    name: String,
    /// An IPv6 socket, to which IPv4 peers have mapped addresses.
    v6: bool,
    peer: Option<SocketAddr>,
    /// Datagrams sent, modulo 2^32.
    sent: AtomicU32,
    /// The class that the socket has now, as an octet: here it belongs to the socket, not to a datagram.
    class: AtomicU16,
    meter: Arc<Meter>,
}

/// Buffers for the datagrams of one receive call.
#[derive(Debug)]
pub struct RecvBatch {
    size: usize,
    /// One octet more for each than it is to hold: a datagram that fills it was longer.
    octets: Vec<u8>,
    most: usize,
    metas: Vec<(usize, SocketAddr)>,
    local: Option<IpAddr>,
}

impl RecvBatch {
    /// Room for `count` datagrams (1 to [`BATCH`]) of `size` octets each.
    pub fn new(count: usize, size: usize) -> Self {
        let (most, size) = (count.clamp(1, BATCH), size.max(1));
        Self {
            size,
            octets: vec![0; most * (size + 1)],
            most,
            metas: Vec::with_capacity(most),
            local: None,
        }
    }

    /// The datagrams of the last receive call, in order of arrival. The length of one that did not fit is a lower bound.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Datagram<'_>> {
        let buffers = self.octets.chunks(self.size + 1);
        let metas = self.metas.iter().enumerate();
        let buffers: Vec<&[u8]> = buffers.take(self.most).collect();
        metas.map(move |(index, (length, source))| Datagram {
            payload: &buffers[index][..(*length).min(self.size)],
            length: *length,
            source: *source,
            local: self.local,
            class: None,
            wall_ns: None,
            hops_left: None,
            train: None,
        })
    }

    /// Datagrams that the kernel dropped for want of room: it does not tell.
    pub const fn overflows(&self) -> u32 {
        0
    }
}

impl UdpSocket {
    /// A socket on `local`. The address `[::]` takes both families, port 0 a free port.
    ///
    /// # Errors
    /// When the address is taken or not of this host, or the family is missing.
    pub fn bind(local: SocketAddr) -> Result<Self, Error> {
        Self::bind_as(local, false)
    }

    /// [`UdpSocket::bind`], on an address that other sockets of this kind may have too (`SO_REUSEADDR`).
    ///
    /// # Errors
    /// As [`UdpSocket::bind`].
    pub fn bind_shared(local: SocketAddr) -> Result<Self, Error> {
        Self::bind_as(local, true)
    }

    /// The same socket, whose octets are counted by `meter` from now on.
    #[must_use]
    pub fn metered(self, meter: &Arc<Meter>) -> Self {
        let meter = Arc::clone(meter);
        Self { meter, ..self }
    }

    fn bind_as(local: SocketAddr, shared: bool) -> Result<Self, Error> {
        let mut name = format!("UDP socket {local}");
        let socket = open(local, shared).map_err(|e| {
            Error::io("open", &name, e).advise("choose a free port and an address of this host")
        })?;
        if let Ok(bound) = socket.local_addr() {
            name = format!("UDP socket {bound}");
        }
        Ok(Self {
            socket,
            name,
            v6: local.is_ipv6(),
            peer: None,
            sent: AtomicU32::new(0),
            class: AtomicU16::new(UNSET),
            meter: Arc::default(),
        })
    }

    /// Takes datagrams from `peer` only, and sends there what names no destination.
    ///
    /// # Errors
    /// When there is no route to `peer`.
    pub fn connect(&mut self, peer: SocketAddr) -> Result<(), Error> {
        self.socket
            .connect(self.form(peer))
            .map_err(|e| Error::io("connect", format!("{} to {peer}", self.name), e))?;
        self.peer = Some(peer);
        Ok(())
    }

    /// Asks for stamps of what is sent. Only Linux makes them; nothing comes here.
    ///
    /// # Errors
    /// None.
    pub const fn enable_tx_stamps(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Asks how many hops each datagram might still have gone: nothing here tells it.
    ///
    /// # Errors
    /// None.
    pub const fn enable_hop_limits(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Lets what is sent from now on live for `hops` hops.
    ///
    /// # Errors
    /// When the kernel refuses: 0 is no number of hops.
    pub fn set_hop_limit(&self, hops: u8) -> Result<(), Error> {
        let (socket, hops) = (SockRef::from(&self.socket), u32::from(hops));
        let set = if self.v6 {
            socket.set_unicast_hops_v6(hops)
        } else {
            socket.set_ttl_v4(hops)
        };
        set.map_err(|e| self.error("set the hop limit of", e))
    }

    /// Asks for buffers of these sizes and returns what the kernel granted.
    ///
    /// # Errors
    /// When the sizes cannot be set or read.
    pub fn set_buffers(&self, receive: usize, send: usize) -> Result<Buffers, Error> {
        let socket = SockRef::from(&self.socket);
        let grant = || -> io::Result<Buffers> {
            socket.set_recv_buffer_size(receive)?;
            socket.set_send_buffer_size(send)?;
            Ok(Buffers {
                receive: socket.recv_buffer_size()?,
                send: socket.send_buffer_size()?,
            })
        };
        grant().map_err(|e| self.error("set buffers of", e))
    }

    /// The address that the socket is bound to.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn local_addr(&self) -> Result<SocketAddr, Error> {
        self.socket
            .local_addr()
            .map_err(|e| self.error("read address of", e))
    }

    /// Waits until there is a datagram, at most for `timeout`. A signal ends it early.
    ///
    /// # Errors
    /// When the kernel cannot wait.
    pub fn wait(&self, timeout: Duration) -> Result<Ready, Error> {
        self.wait_for(PollFlags::IN, timeout)
    }

    /// [`UdpSocket::wait`] for room to send as well.
    ///
    /// # Errors
    /// When the kernel cannot wait.
    pub fn wait_for_room(&self, timeout: Duration) -> Result<Ready, Error> {
        self.wait_for(PollFlags::IN | PollFlags::OUT, timeout)
    }

    fn wait_for(&self, flags: PollFlags, timeout: Duration) -> Result<Ready, Error> {
        let timeout: Option<Timespec> = timeout.try_into().ok();
        let mut fds = [PollFd::new(&self.socket, flags)];
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) => Ok(Ready {
                datagram: fds[0].revents().contains(PollFlags::IN),
                event: false,
                room: fds[0].revents().contains(PollFlags::OUT),
            }),
            Err(rustix::io::Errno::INTR) => Ok(Ready::default()),
            Err(e) => Err(self.error("wait for", e)),
        }
    }

    /// Receives what has arrived into `batch`, without waiting; returns the number of datagrams, 0 when there is none.
    ///
    /// # Errors
    /// When the kernel refuses, other than for an ICMP error.
    pub fn recv(&self, batch: &mut RecvBatch) -> Result<usize, Error> {
        let bound = self.socket.local_addr().ok().map(|local| local.ip());
        batch.local = bound.filter(|ip| !ip.is_unspecified());
        batch.metas.clear();
        let room = batch.size + 1;
        for buffer in batch.octets.chunks_mut(room).take(batch.most) {
            match self.socket.recv_from(buffer) {
                Ok((length, source)) => batch.metas.push((length, unmapped(source))),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if is_icmp_report(&e) || is_cut(&e) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.error("receive from", e)),
            }
        }
        let lengths = batch.iter().map(|datagram| datagram.payload.len() as u64);
        self.meter.add(lengths.sum(), 0);
        Ok(batch.metas.len())
    }

    /// The next event: there are none.
    ///
    /// # Errors
    /// None.
    pub const fn poll_event(&self) -> Result<Option<Event>, Error> {
        Ok(None)
    }

    /// Sends the first [`BATCH`] datagrams of `batch`, one by one, without waiting. Their source address is the socket's own.
    ///
    /// # Errors
    /// When the kernel refuses the first datagram: too long, no route. A full buffer is no error.
    pub fn send(&self, batch: &[Outgoing<'_>]) -> Result<Sent, Error> {
        let batch = &batch[..batch.len().min(BATCH)];
        let mut count = 0;
        for datagram in batch {
            match self.send_one(datagram) {
                Ok(_) => count += 1,
                Err(e) if count > 0 || is_full(&e) => break,
                Err(e) if is_icmp_report(&e) => count += 1,
                Err(e) => return Err(self.send_error(datagram, e)),
            }
        }
        self.meter.add(0, octets(&batch[..count]));
        let ids = u32::try_from(count).unwrap_or_default();
        Ok(Sent {
            count,
            first_id: self.sent.fetch_add(ids, Ordering::Relaxed),
        })
    }

    /// [`UdpSocket::send`]: only Linux cuts trains. The number of datagrams that the kernel has taken.
    ///
    /// # Errors
    /// As [`UdpSocket::send`].
    pub fn send_train(&self, batch: &[Outgoing<'_>]) -> Result<usize, Error> {
        Ok(self.send(batch)?.count)
    }

    fn send_one(&self, datagram: &Outgoing<'_>) -> io::Result<usize> {
        self.mark(datagram.class)?;
        match datagram.to {
            Some(to) => self.socket.send_to(datagram.payload, self.form(to)),
            None => self.socket.send(datagram.payload),
        }
    }

    /// Gives the socket the class of the next datagram, if it has another one.
    fn mark(&self, class: TrafficClass) -> io::Result<()> {
        let octet = u16::from(class.octet());
        if self.class.load(Ordering::Relaxed) == octet {
            return Ok(());
        }
        super::tcp::set_class(&SockRef::from(&self.socket), class.octet(), self.v6)?;
        self.class.store(octet, Ordering::Relaxed);
        Ok(())
    }

    /// `peer` as an address for this socket.
    fn form(&self, peer: SocketAddr) -> SocketAddr {
        match peer {
            SocketAddr::V4(v4) if self.v6 => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
            other => other,
        }
    }

    /// A second socket on this one's port, for one peer alone: as servers have it.
    ///
    /// # Errors
    /// Always: a server needs Linux.
    pub fn beside(&self, _peer: SocketAddr, _local: Option<IpAddr>) -> Result<Self, Error> {
        Err(Error::only_linux("a server's socket for one peer"))
    }

    /// A socket for ICMP echo requests to `peer`.
    ///
    /// # Errors
    /// Always.
    pub fn echo(_peer: SocketAddr) -> Result<Self, Error> {
        Err(Error::only_linux("a socket for ICMP echo requests"))
    }

    /// A socket of IP protocol `protocol`.
    ///
    /// # Errors
    /// Always.
    pub fn raw(protocol: u8, _local: IpAddr, _peer: SocketAddr) -> Result<Self, Error> {
        let _ = protocol;
        Err(Error::only_linux("a socket for another protocol than UDP"))
    }

    /// Has nothing cut into fragments: what is too long for the path is lost, or refused.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn forbid_fragments(&self) -> Result<(), Error> {
        fragments::forbid(&self.socket, self.v6).map_err(|e| self.error("forbid fragments of", e))
    }

    /// The same: that a datagram is to leave whatever the system knows of the path, only Linux can be told.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn ignore_path_mtu(&self) -> Result<(), Error> {
        self.forbid_fragments()
    }

    /// The path MTU as the kernel knows it: it does not tell.
    pub const fn path_mtu(&self) -> Option<u32> {
        None
    }

    fn send_error(&self, datagram: &Outgoing<'_>, source: io::Error) -> Error {
        let peer = datagram.to.or(self.peer);
        let to = peer.map_or_else(|| "nowhere".to_owned(), |peer| peer.to_string());
        let operation = format!("send {} octets to {to} from", datagram.payload.len());
        self.error(&operation, source)
    }

    fn error(&self, operation: &str, source: impl Into<io::Error>) -> Error {
        Error::io(operation, &self.name, source)
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for UdpSocket {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsSocket for UdpSocket {
    fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
        self.socket.as_socket()
    }
}

fn open(local: SocketAddr, shared: bool) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    if local.is_ipv6() {
        socket.set_only_v6(local.ip() != Ipv6Addr::UNSPECIFIED)?;
    }
    if shared {
        socket.set_reuse_address(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&local.into())?;
    Ok(socket.into())
}

/// An IPv4 peer with its IPv4 address.
fn unmapped(source: SocketAddr) -> SocketAddr {
    match source.ip().to_canonical() {
        IpAddr::V4(v4) => SocketAddr::new(v4.into(), source.port()),
        IpAddr::V6(_) => source,
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Whether a datagram was longer than its buffer: other systems cut it, Windows says that it is gone (`WSAEMSGSIZE`).
fn is_cut(error: &io::Error) -> bool {
    cfg!(windows) && error.raw_os_error() == Some(10_040)
}

/// Whether a call failed only because an ICMP error came in for something sent earlier.
fn is_icmp_report(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
    )
}
