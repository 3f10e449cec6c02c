//! The traffic class of a connection, sent and received.

use super::name;
use crate::control::messages;
use crate::{Error, sockopt};
use socket2::{Domain, SockRef};
use std::io;
use std::os::fd::AsFd;
use units::TrafficClass;

/// Marks what the connection sends from now on; before `connect`, the SYN as well. On a listening
/// socket it marks the SYN-ACK and what accepted connections send.
///
/// TCP negotiates ECN itself, so the kernel takes the DSCP only.
///
/// # Errors
/// When the system forbids this class.
pub fn set_traffic_class(fd: &impl AsFd, class: TrafficClass) -> Result<(), Error> {
    let value = i32::from(class.octet());
    let set = || {
        // An IPv6 socket takes the IPv4 mark as well: its peer may have a mapped address.
        sockopt::set_int(fd, libc::IPPROTO_IP, libc::IP_TOS, value)?;
        if is_v6(fd)? {
            sockopt::set_int(fd, libc::IPPROTO_IPV6, libc::IPV6_TCLASS, value)?;
        }
        Ok(())
    };
    set().map_err(|e: io::Error| {
        Error::io(format!("set DSCP {} of", class.dscp), name(fd), e)
            .advise("choose a DSCP that this system lets its users set")
    })
}

/// The class with which the handshake of an *accepted* connection arrived: that of the segment that
/// completed it. `None` when the kernel does not tell.
///
/// This is what is left of the peer's mark after the path. It costs nothing later: asking the kernel
/// to follow the class of every segment makes it copy every segment's header (IPv6), and is
/// impossible on IPv4. On a connection that this host opened, IPv4 has no answer at all, and zero
/// would look like one; do not ask.
///
/// # Errors
/// When the kernel refuses to tell.
pub fn accepted_class(fd: &impl AsFd) -> Result<Option<TrafficClass>, Error> {
    read_class(fd).map_err(|e| Error::io("read received traffic class of", name(fd), e))
}

fn read_class(fd: &impl AsFd) -> io::Result<Option<TrafficClass>> {
    let peer = SockRef::from(fd).peer_addr()?;
    let v6 = peer
        .as_socket()
        .is_some_and(|peer| peer.ip().to_canonical().is_ipv6());
    let (level, follow, read, kind) = if v6 {
        (
            libc::IPPROTO_IPV6,
            libc::IPV6_RECVTCLASS,
            libc::IPV6_2292PKTOPTIONS,
            libc::IPV6_TCLASS,
        )
    } else {
        (
            libc::IPPROTO_IP,
            libc::IP_RECVTOS,
            libc::IP_PKTOPTIONS,
            libc::IP_TOS,
        )
    };
    let mut buffer = [0; 256];
    sockopt::set_int(fd, level, follow, 1)?;
    let told = sockopt::get_bytes(fd, level, read, &mut buffer);
    sockopt::set_int(fd, level, follow, 0)?;
    Ok(messages(told?)
        .find(|message| (message.level, message.kind) == (level, kind))
        .and_then(|message| message.octet())
        .map(TrafficClass::from_octet))
}

fn is_v6(fd: &impl AsFd) -> io::Result<bool> {
    Ok(SockRef::from(fd).domain()? == Domain::IPV6)
}
