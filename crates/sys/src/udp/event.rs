//! The error queue: when datagrams left, and what the path said about them.

use super::address::{Address, parse};
use super::receive::{EMPTY_VECTOR, marks};
use super::{Event, IcmpError, QUOTED, Quoted, UdpSocket};
use crate::Error;
use crate::control::{Control, Message, messages};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

/// Octets of `struct sock_extended_err`; the address of whoever reported the error follows.
const EXTENDED_ERROR: usize = 16;

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
