//! Receiving in batches.

use super::address::Address;
use super::raw::header_length;
use super::{BATCH, Datagram, UdpSocket, is_icmp_report};
use crate::Error;
use crate::control::{Control, Message, messages};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use units::TrafficClass;

/// How often a receive is repeated that failed because of ICMP errors, before it counts as empty.
const RETRIES: usize = 4;

/// Buffers for the datagrams of one receive call.
#[derive(Debug)]
pub struct RecvBatch {
    size: usize,
    octets: Vec<u8>,
    addresses: Vec<Address>,
    controls: Vec<Control>,
    metas: Vec<Meta>,
    overflows: u32,
}

/// What is known of a datagram beside its octets.
#[derive(Clone, Copy, Debug)]
struct Meta {
    /// Which buffer holds it.
    index: usize,
    /// Octets of headers at its start.
    headers: usize,
    /// Octets behind them.
    length: usize,
    source: SocketAddr,
    marks: Marks,
}

/// What the control messages of a datagram said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Marks {
    pub(super) local: Option<IpAddr>,
    pub(super) class: Option<TrafficClass>,
    pub(super) wall_ns: Option<u64>,
    pub(super) hops_left: Option<u8>,
    pub(super) train: Option<u32>,
    /// Datagrams that the kernel has dropped on this socket for want of room.
    pub(super) overflows: Option<u32>,
}

impl RecvBatch {
    /// Room for `count` datagrams (1 to [`BATCH`]) of `size` octets each.
    pub fn new(count: usize, size: usize) -> Self {
        let (count, size) = (count.clamp(1, BATCH), size.max(1));
        Self {
            size,
            octets: vec![0; count * size],
            addresses: vec![Address::EMPTY; count],
            controls: vec![Control::EMPTY; count],
            metas: Vec::with_capacity(count),
            overflows: 0,
        }
    }

    /// The datagrams of the last receive call, in order of arrival.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Datagram<'_>> {
        self.metas.iter().map(|meta| Datagram {
            payload: &self.buffer(meta.index)[meta.headers..]
                [..meta.length.min(self.size - meta.headers)],
            length: meta.length,
            source: meta.source,
            local: meta.marks.local,
            class: meta.marks.class,
            wall_ns: meta.marks.wall_ns,
            hops_left: meta.marks.hops_left,
            train: meta.marks.train.and_then(|octets| octets.try_into().ok()),
        })
    }

    /// Datagrams that the kernel had dropped on this socket for want of buffer room when the last
    /// one arrived, modulo 2^32: loss that is the instrument's own, not the path's.
    pub fn overflows(&self) -> u32 {
        self.overflows
    }

    fn buffer(&self, index: usize) -> &[u8] {
        &self.octets[index * self.size..][..self.size]
    }

    /// One system call; the number of datagrams in the buffers.
    fn fill(&mut self, fd: BorrowedFd<'_>) -> io::Result<usize> {
        let mut vectors = [EMPTY_VECTOR; BATCH];
        let mut headers = empty_headers::<BATCH>();
        let mut count = 0;
        let buffers = self.octets.chunks_exact_mut(self.size);
        let names = self.addresses.iter_mut().zip(&mut self.controls);
        for (((header, vector), octets), (address, control)) in
            headers.iter_mut().zip(&mut vectors).zip(buffers).zip(names)
        {
            vector.iov_base = octets.as_mut_ptr().cast();
            vector.iov_len = octets.len();
            let header = &mut header.msg_hdr;
            header.msg_name = address.buffer().as_mut_ptr().cast();
            header.msg_namelen = 28;
            header.msg_iov = vector;
            header.msg_iovlen = 1;
            header.msg_control = control.buffer().as_mut_ptr().cast();
            header.msg_controllen = control.buffer().len() as _;
            count += 1;
        }
        #[expect(unsafe_code, reason = "rustix has no recvmmsg")]
        // SAFETY: the first `count` headers point to buffers of `self` and to `vectors`, with their
        // true lengths; each buffer belongs to one header only; all of them outlive the call.
        let received = unsafe {
            // Not by a C library's function: their types differ.
            libc::syscall(
                libc::SYS_recvmmsg,
                fd.as_raw_fd(),
                headers.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT | libc::MSG_TRUNC,
                std::ptr::null_mut::<libc::timespec>(),
            )
        };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        for (index, header) in headers.iter().take(received).enumerate() {
            self.controls[index].set_length(header.msg_hdr.msg_controllen as _);
            self.note(index, header.msg_len as usize);
        }
        Ok(received)
    }

    /// Reads what the kernel wrote beside the datagram in buffer `index`. One without an address
    /// that we know cannot be answered and is left out.
    fn note(&mut self, index: usize, length: usize) {
        let marks = marks(self.controls[index].as_bytes());
        // Until there was one the kernel says nothing.
        self.overflows = marks.overflows.unwrap_or(0);
        if let Some(source) = self.addresses[index].get() {
            self.metas.push(Meta {
                index,
                headers: 0,
                length,
                source,
                marks,
            });
        }
    }
}

impl RecvBatch {
    /// Takes IPv4 headers off. What has none that is whole is nobody's.
    fn strip(&mut self) {
        let mut metas = std::mem::take(&mut self.metas);
        metas.retain_mut(|meta| {
            let packet = &self.buffer(meta.index)[..meta.length.min(self.size)];
            let found = header_length(packet);
            meta.headers = found.unwrap_or(0);
            meta.length -= meta.headers;
            found.is_some()
        });
        self.metas = metas;
    }
}

impl UdpSocket {
    /// Receives what has arrived into `batch`, without waiting; returns the number of datagrams, 0
    /// when there is none.
    ///
    /// # Errors
    /// When the kernel refuses, other than for an ICMP error (which is an event).
    pub fn recv(&self, batch: &mut RecvBatch) -> Result<usize, Error> {
        batch.metas.clear();
        for _ in 0..RETRIES {
            match batch.fill(self.as_fd()) {
                Ok(_) => {
                    if self.is_raw && !self.v6 {
                        batch.strip();
                    }
                    let lengths = batch.iter().map(|datagram| datagram.payload.len() as u64);
                    self.meter.add(lengths.sum(), 0);
                    return Ok(batch.metas.len());
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                Err(e) if is_icmp_report(&e) || e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.error("receive from", e)),
            }
        }
        Ok(0)
    }
}

pub(super) const EMPTY_VECTOR: libc::iovec = libc::iovec {
    iov_base: std::ptr::null_mut(),
    iov_len: 0,
};

pub(super) fn empty_headers<const N: usize>() -> [libc::mmsghdr; N] {
    #[expect(
        unsafe_code,
        reason = "the C struct has private padding on some systems"
    )]
    // SAFETY: a message header of zeros is a valid one: null pointers with lengths of zero.
    let headers = unsafe { std::mem::zeroed() };
    headers
}

/// Reads the control messages of a datagram.
pub(super) fn marks(control: &[u8]) -> Marks {
    let mut marks = Marks::default();
    for message in messages(control) {
        match (message.level, message.kind) {
            (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) => marks.wall_ns = stamp(&message),
            (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => marks.overflows = message.word(0),
            (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                marks.class = message.octet().map(TrafficClass::from_octet);
            }
            (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
                marks.hops_left = message.octet();
            }
            (libc::SOL_UDP, libc::UDP_GRO) => marks.train = message.word(0),
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // struct in_pktinfo: interface index, local address, address in the header.
                marks.local = message
                    .bytes(4)
                    .map(|octets| Ipv4Addr::from_octets(octets).into());
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // struct in6_pktinfo: address in the header, interface index.
                marks.local = message
                    .bytes(0)
                    .map(|octets| IpAddr::from(Ipv6Addr::from_octets(octets)).to_canonical());
            }
            _ => {}
        }
    }
    marks
}

/// The software stamp of a `scm_timestamping`: the first of its three times, in nanoseconds. `None`
/// when the kernel left it empty.
fn stamp(message: &Message<'_>) -> Option<u64> {
    const WORD: usize = size_of::<libc::c_long>();
    let word = |offset| match WORD {
        8 => message.bytes(offset).map(u64::from_ne_bytes),
        _ => message.bytes(offset).map(u32::from_ne_bytes).map(u64::from),
    };
    let (seconds, nanos) = (word(0)?, word(WORD)?);
    let total = seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?;
    (total > 0).then_some(total)
}
