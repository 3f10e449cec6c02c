//! UDP sockets for QUIC whose packets have a DSCP. The library sets a packet's ECN field alone, and clears the rest of the octet.

use super::ROOM;
use super::marks::Marks;
use quinn::udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use socket2::{SockFilter, SockRef};
use std::fmt;
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use sys::udp::{Outgoing, RecvBatch, UdpSocket};
use tokio::io::Interest;
use units::{Dscp, Ecn, TrafficClass};

/// Octets of the longest train that comes, and its packets at most.
const LONGEST: usize = 65_535;
const MOST: usize = 64;
/// Trains, or single packets, that are taken at once: no more than the library has room for.
const AT_ONCE: usize = 8;
const _: () = assert!(AT_ONCE <= BATCH_SIZE);
/// Packets that are sent with one call.
const TRAIN: usize = 10;
/// An instruction of the packet filter: how many octets to keep (`linux/bpf_common.h`).
const RETURN: u16 = 0x06;
/// The first bit of a packet with a long header: one of a handshake (RFC 9000 section 17.2).
const LONG: u8 = 0x80;

/// The DSCP of what is sent.
#[derive(Debug)]
enum Class {
    /// The same for all.
    Fixed(Dscp),
    /// The peer's own.
    Returned(Arc<Marks>),
}

#[derive(Debug)]
struct Marked {
    socket: Arc<UdpSocket>,
    /// The same socket, to be asked whether it is ready.
    readiness: tokio::net::UdpSocket,
    batch: Mutex<RecvBatch>,
    class: Class,
}

/// A socket on `local`, all of whose packets have this DSCP.
///
/// # Errors
/// When the system gives none.
pub(super) fn bind(local: SocketAddr, dscp: Dscp) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    let socket = UdpSocket::bind(local).map_err(io::Error::other)?;
    // Without them every packet costs as much as a train.
    let _ = socket.receive_trains();
    marked(Arc::new(socket), Class::Fixed(dscp))
}

/// `socket`, on which each peer gets its own DSCP. It receives no trains: the kernel puts them together before it sorts by protocol, and
/// would so with other datagrams of the port.
///
/// # Errors
/// When the system does not let it be used so.
pub(super) fn server(
    socket: Arc<UdpSocket>,
    marks: Arc<Marks>,
) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    marked(socket, Class::Returned(marks))
}

/// Lets the kernel drop all that arrives at `socket`, or nothing of it. Where it does not, what is behind the socket drops it.
pub(crate) fn gate(socket: &UdpSocket, is_open: bool) {
    let keep = if is_open { u32::MAX } else { 0 };
    let program = [SockFilter::new(RETURN, 0, 0, keep)];
    let socket = SockRef::from(socket);
    if socket.attach_filter(&program).is_err() {
        let _ = socket.detach_filter();
    }
}

fn marked(socket: Arc<UdpSocket>, class: Class) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    // What comes while its thread does something else has to wait there.
    let _ = socket.set_buffers(ROOM, ROOM);
    // The library finds out itself how long a packet may be (RFC 8899).
    socket.ignore_path_mtu().map_err(io::Error::other)?;
    socket.ignore_icmp().map_err(io::Error::other)?;
    let same = std::net::UdpSocket::from(socket.as_fd().try_clone_to_owned()?);
    Ok(Arc::new(Marked {
        socket,
        readiness: tokio::net::UdpSocket::from_std(same)?,
        batch: Mutex::new(RecvBatch::new(AT_ONCE, LONGEST)),
        class,
    }))
}

impl Marked {
    /// Copies what was received to where the library wants it; how many there are.
    fn hand_over(
        &self,
        batch: &RecvBatch,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> usize {
        let whole = batch.iter().filter(|datagram| !datagram.is_truncated());
        let mut count = 0;
        for ((buffer, meta), datagram) in buffers.iter_mut().zip(metas).zip(whole) {
            let class = datagram.class.unwrap_or_default();
            if datagram
                .payload
                .first()
                .is_some_and(|first| first & LONG != 0)
            {
                self.class.learn(datagram.source, class.dscp);
            }
            let length = datagram.payload.len().min(buffer.len());
            buffer[..length].copy_from_slice(&datagram.payload[..length]);
            *meta = RecvMeta::default();
            meta.addr = datagram.source;
            meta.len = length;
            meta.stride = datagram.train.unwrap_or(length).min(length);
            meta.ecn = EcnCodepoint::from_bits(class.octet());
            meta.dst_ip = datagram.local;
            count += 1;
        }
        count
    }
}

impl AsyncUdpSocket for Marked {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Poller {
            socket: self,
            writable: None,
        })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let class = TrafficClass {
            dscp: self.class.of(transmit.destination),
            ecn: Ecn::from_bits(transmit.ecn.map_or(0, |ecn| ecn as u8)),
        };
        let length = transmit.segment_size.unwrap_or(transmit.contents.len());
        let packets = transmit.contents.chunks(length.max(1));
        let train: Vec<_> = packets
            .map(|payload| Outgoing {
                payload,
                to: Some(transmit.destination),
                from: transmit.src_ip,
                class,
            })
            .collect();
        self.readiness.try_io(Interest::WRITABLE, || {
            match self.socket.send_train(&train) {
                Ok(0) => Err(ErrorKind::WouldBlock.into()),
                // What the system did not take, or cannot send there, is lost as on any link, and the peer will not acknowledge it.
                Ok(_) | Err(_) => Ok(()),
            }
        })
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut batch = lock(&self.batch);
        loop {
            ready!(self.readiness.poll_recv_ready(context))?;
            let received = self.readiness.try_io(Interest::READABLE, || {
                match self.socket.recv(&mut batch) {
                    // What a system without memory cannot hand over is lost. An error would be the end of all connections.
                    Ok(0) | Err(_) => Err(ErrorKind::WouldBlock.into()),
                    Ok(count) => Ok(count),
                }
            });
            if received.is_ok() {
                return Poll::Ready(Ok(self.hand_over(&batch, buffers, metas)));
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr().map_err(io::Error::other)
    }

    fn max_transmit_segments(&self) -> usize {
        // Where the kernel cuts none, a part of one might find no room.
        if self.socket.sends_trains() { TRAIN } else { 1 }
    }

    fn max_receive_segments(&self) -> usize {
        MOST
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

impl Class {
    fn of(&self, peer: SocketAddr) -> Dscp {
        match self {
            Self::Fixed(dscp) => *dscp,
            Self::Returned(marks) => marks.of(peer),
        }
    }

    fn learn(&self, peer: SocketAddr, dscp: Dscp) {
        if let Self::Returned(marks) = self {
            marks.learn(peer, dscp);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for one connection until the socket has room.
struct Poller {
    socket: Arc<Marked>,
    writable: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>>,
}

impl UdpPoller for Poller {
    fn poll_writable(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, writable } = &mut *self;
        let waiting = writable.get_or_insert_with(|| {
            let socket = Arc::clone(socket);
            Box::pin(async move { socket.readiness.writable().await })
        });
        let polled = waiting.as_mut().poll(context);
        if polled.is_ready() {
            *writable = None;
        }
        polled
    }
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").finish_non_exhaustive()
    }
}
