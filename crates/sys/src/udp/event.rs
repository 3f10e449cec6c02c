//! The error queue: when datagrams left, and what the path said about them.

use super::UdpSocket;
use super::address::{Address, parse};
use super::receive::{EMPTY_VECTOR, marks};
use crate::Error;
use crate::control::{Control, Message, messages};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

/// Octets of `struct sock_extended_err`; the address of whoever reported the error follows.
const EXTENDED_ERROR: usize = 16;
/// Octets of a returned datagram's payload that are kept: enough for a header to be recognised by.
pub const QUOTED: usize = 64;

/// Something about a datagram that was sent earlier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// An error came back.
    Icmp(IcmpError),
    /// The datagram left for the network.
    Sent {
        /// Which one: see [`super::Sent::first_id`].
        id: u32,
        /// When the kernel gave it to the interface: nanoseconds on the wall clock.
        wall_ns: u64,
    },
}

/// An error that the path, or this host in its place, returned for a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IcmpError {
    /// The operating system's number for it: `ECONNREFUSED`, `EHOSTUNREACH`, ...
    pub errno: i32,
    /// ICMP type and code (RFC 792, RFC 4443); `None` when this host itself found the error.
    pub kind: Option<(u8, u8)>,
    /// Where the datagram was going.
    pub to: Option<SocketAddr>,
    /// Who returned the error.
    pub reporter: Option<IpAddr>,
    /// The largest packet that fits, in octets, when the datagram was too long.
    pub mtu: Option<u32>,
    /// When the error arrived: nanoseconds on the wall clock; `None` when the kernel did not stamp it.
    pub wall_ns: Option<u64>,
    /// What the error quotes of the datagram's payload.
    pub quoted: Quoted,
}

/// The first octets of a datagram's payload, as an ICMP error brought them back: as few as none (RFC 792 asks for 8 octets
/// behind the IP header, which is the UDP header; RFC 1812 section 4.3.2.3 for as many as fit).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quoted {
    octets: [u8; QUOTED],
    length: usize,
}

impl Quoted {
    /// Nothing.
    pub const EMPTY: Self = Self {
        octets: [0; QUOTED],
        length: 0,
    };

    /// The first [`QUOTED`] of `octets`.
    pub fn of(octets: &[u8]) -> Self {
        let mut quoted = Self::EMPTY;
        quoted.length = octets.len().min(QUOTED);
        quoted.octets[..quoted.length].copy_from_slice(&octets[..quoted.length]);
        quoted
    }

    /// The octets.
    pub fn as_bytes(&self) -> &[u8] {
        &self.octets[..self.length]
    }
}

impl IcmpError {
    /// Whether a router gave the datagram up because it had lived for all its hops (RFC 792 and RFC 4443: time exceeded in
    /// transit).
    pub fn is_hop_limit(&self) -> bool {
        let v6 = self.reporter.is_some_and(|reporter| reporter.is_ipv6());
        self.kind == Some(if v6 { (3, 0) } else { (11, 0) })
    }
}

impl fmt::Display for IcmpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = io::Error::from_raw_os_error(self.errno);
        match self.to {
            Some(to) => write!(f, "datagram to {to}: {reason}")?,
            None => write!(f, "datagram: {reason}")?,
        }
        match self.reporter {
            Some(reporter) => write!(f, ", says {reporter}"),
            None => Ok(()),
        }
    }
}

impl UdpSocket {
    /// The next event, `None` when there is none.
    ///
    /// # Errors
    /// When the kernel refuses to tell.
    pub fn poll_event(&self) -> Result<Option<Event>, Error> {
        loop {
            let (mut address, mut control) = (Address::EMPTY, Control::EMPTY);
            let mut quoted = Quoted::EMPTY;
            match self.read_error_queue(&mut address, &mut control, &mut quoted) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) => return Err(self.error("read error queue of", e)),
            }
            // What is neither a stamp nor an error is not for us; the next one may be.
            match event(control.as_bytes(), address.get()) {
                Some(Event::Icmp(error)) => {
                    return Ok(Some(Event::Icmp(IcmpError { quoted, ..error })));
                }
                Some(event) => return Ok(Some(event)),
                None => {}
            }
        }
    }

    /// One message of the error queue, with the beginning of what it quotes.
    fn read_error_queue(
        &self,
        address: &mut Address,
        control: &mut Control,
        quoted: &mut Quoted,
    ) -> io::Result<()> {
        #[expect(
            unsafe_code,
            reason = "the C struct has private padding on some systems"
        )]
        // SAFETY: a message header of zeros is a valid one: null pointers with lengths of zero.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        let mut vector = EMPTY_VECTOR;
        vector.iov_base = quoted.octets.as_mut_ptr().cast();
        vector.iov_len = QUOTED;
        header.msg_name = address.buffer().as_mut_ptr().cast();
        header.msg_namelen = 28;
        header.msg_iov = &raw mut vector;
        header.msg_iovlen = 1;
        header.msg_control = control.buffer().as_mut_ptr().cast();
        header.msg_controllen = control.buffer().len() as _;
        #[expect(unsafe_code, reason = "rustix does not parse these control messages")]
        // SAFETY: the header points to `address`, `control` and a vector over `quoted`, with their
        // true lengths; all outlive the call.
        let status = unsafe {
            libc::recvmsg(
                self.socket.as_raw_fd(),
                &raw mut header,
                libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT,
            )
        };
        if status < 0 {
            return Err(io::Error::last_os_error());
        }
        control.set_length(header.msg_controllen as _);
        // Not negative, as was just seen; the kernel fills no more than it was given.
        quoted.length = usize::try_from(status).unwrap_or_default().min(QUOTED);
        Ok(())
    }
}

/// Reads a message of the error queue; `to` is the address that came with it.
pub(super) fn event(control: &[u8], to: Option<SocketAddr>) -> Option<Event> {
    let error = messages(control).find(|message| {
        matches!(
            (message.level, message.kind),
            (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR)
        )
    })?;
    // struct sock_extended_err: errno u32, origin u8, type u8, code u8, padding, info u32, data u32.
    let [origin, kind, code, _] = error.bytes(4)?;
    match origin {
        libc::SO_EE_ORIGIN_TIMESTAMPING => Some(Event::Sent {
            id: error.word(3)?,
            wall_ns: marks(control).wall_ns?,
        }),
        libc::SO_EE_ORIGIN_LOCAL => icmp(&error, None, to, None),
        libc::SO_EE_ORIGIN_ICMP | libc::SO_EE_ORIGIN_ICMP6 => {
            icmp(&error, Some((kind, code)), to, marks(control).wall_ns)
        }
        _ => None,
    }
}

fn icmp(
    error: &Message<'_>,
    kind: Option<(u8, u8)>,
    to: Option<SocketAddr>,
    wall_ns: Option<u64>,
) -> Option<Event> {
    let errno = error.word(0)?.cast_signed();
    Some(Event::Icmp(IcmpError {
        errno,
        kind,
        to,
        reporter: error
            .data
            .get(EXTENDED_ERROR..)
            .and_then(parse)
            .map(|address| address.ip()),
        mtu: (errno == libc::EMSGSIZE).then(|| error.word(2)).flatten(),
        wall_ns,
        quoted: Quoted::EMPTY,
    }))
}
