//! UDP sockets for QUIC whose packets have a DSCP. The library sets a packet's ECN field alone, and clears the rest of the octet.

use super::ROOM;
use quinn::udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::collections::HashMap;
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

/// Octets of the longest train that comes, and of how many packets.
const LONGEST: usize = 65_535;
const MOST: usize = 64;
/// Trains, or single packets, that are taken at once.
const AT_ONCE: usize = 8;
/// Packets that are sent with one call.
const TRAIN: usize = 10;
/// Peers whose marks are known: more than a server has connections.
const MOST_PEERS: usize = 8_192;
/// The first bit of a packet with a long header: one of a handshake (RFC 9000 section 17.2).
const LONG: u8 = 0x80;

/// The DSCP of what is sent.
#[derive(Debug)]
enum Marks {
    /// The same for all.
    Fixed(Dscp),
    /// That with which the peer's own handshake came. All others have none.
    Returned(Mutex<HashMap<SocketAddr, Dscp>>),
}

#[derive(Debug)]
struct Marked {
    socket: Arc<UdpSocket>,
    /// The same socket, to be asked whether it is ready.
    readiness: tokio::net::UdpSocket,
    batch: Mutex<RecvBatch>,
    marks: Marks,
}

/// A socket on `local`, all of whose packets have this DSCP.
///
/// # Errors
/// When the system gives none.
pub(super) fn bind(local: SocketAddr, dscp: Dscp) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    let socket = UdpSocket::bind(local).map_err(io::Error::other)?;
    marked(Arc::new(socket), Marks::Fixed(dscp))
}

/// `socket`, which sends to each peer with the DSCP with which that peer's handshake came.
///
/// # Errors
/// When the system does not let it be used so.
pub(super) fn returning(socket: Arc<UdpSocket>) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    marked(socket, Marks::Returned(Mutex::default()))
}

fn marked(socket: Arc<UdpSocket>, marks: Marks) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    // What comes while its thread does something else has to wait there.
    let _ = socket.set_buffers(ROOM, ROOM);
    // The library finds out itself how long a packet may be (RFC 8899).
    socket.ignore_path_mtu().map_err(io::Error::other)?;
    socket.ignore_icmp().map_err(io::Error::other)?;
    // Without them every packet costs as much as a train.
    let _ = socket.receive_trains();
    let same = std::net::UdpSocket::from(socket.as_fd().try_clone_to_owned()?);
    Ok(Arc::new(Marked {
        socket,
        readiness: tokio::net::UdpSocket::from_std(same)?,
        batch: Mutex::new(RecvBatch::new(AT_ONCE.min(BATCH_SIZE), LONGEST)),
        marks,
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
                self.marks.learn(datagram.source, class.dscp);
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
            dscp: self.marks.of(transmit.destination),
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
                match self.socket.recv(&mut batch).map_err(io::Error::other)? {
                    0 => Err(ErrorKind::WouldBlock.into()),
                    count => Ok(count),
                }
            });
            match received {
                Ok(_) => return Poll::Ready(Ok(self.hand_over(&batch, buffers, metas))),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr().map_err(io::Error::other)
    }

    fn max_transmit_segments(&self) -> usize {
        TRAIN
    }

    fn max_receive_segments(&self) -> usize {
        MOST
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

impl Marks {
    fn of(&self, peer: SocketAddr) -> Dscp {
        match self {
            Self::Fixed(dscp) => *dscp,
            Self::Returned(known) => lock(known).get(&peer).copied().unwrap_or_default(),
        }
    }

    fn learn(&self, peer: SocketAddr, dscp: Dscp) {
        let Self::Returned(known) = self else { return };
        let mut known = lock(known);
        if known.len() >= MOST_PEERS {
            known.clear();
        }
        known.insert(peer, dscp);
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
