//! Congestion control by name.

use super::name;
use crate::Error;
use socket2::{Domain, SockRef, Socket, Type};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::sync::{PoisonError, RwLock};

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// What [`pin_congestion`] said last.
static PINNED: RwLock<Option<String>> = RwLock::new(None);

/// Gives the TCP sockets that this process opens from now on the congestion control `control`, unless they choose one of their own:
/// those that call [`adopt_congestion`]. A kernel may not let it be the default of a network namespace, and take it socket by
/// socket all the same.
pub fn pin_congestion(control: &str) {
    let mut pinned = PINNED.write().unwrap_or_else(PoisonError::into_inner);
    *pinned = Some(control.to_owned());
}

/// Gives a socket the pinned congestion control, if there is one. A listening socket passes it on to what it accepts.
///
/// # Errors
/// As [`set_congestion`].
pub fn adopt_congestion(fd: &impl AsFd) -> Result<(), Error> {
    let pinned = PINNED.read().unwrap_or_else(PoisonError::into_inner);
    match pinned.as_deref() {
        Some(control) => set_congestion(fd, control),
        None => Ok(()),
    }
}

/// The congestion controls that the kernel has loaded. Others may be loaded when they are asked for.
///
/// # Errors
/// When the kernel does not tell.
pub fn available_congestion() -> Result<Vec<String>, Error> {
    let list = fs::read_to_string(AVAILABLE).map_err(|e| Error::io("read", AVAILABLE, e))?;
    Ok(list.split_whitespace().map(str::to_owned).collect())
}

/// The congestion control of a connection: `cubic`.
///
/// # Errors
/// When the kernel does not tell.
pub fn congestion(fd: &impl AsFd) -> Result<String, Error> {
    let octets = SockRef::from(fd)
        .tcp_congestion()
        .map_err(|e| Error::io("read congestion control of", name(fd), e))?;
    let text = octets.split(|octet| *octet == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Makes `control` the congestion control of all connections of this network namespace that choose none.
///
/// # Errors
/// As [`set_congestion`]; in a namespace of its own nobody may use what the kernel's policy does not allow all.
pub fn set_default_congestion(control: &str) -> Result<(), Error> {
    const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
    fs::write(DEFAULT, control)
        .map_err(|e| refused(&e, control).unwrap_or_else(|| Error::io("write", DEFAULT, e)))
}

/// Gives a connection the congestion control `control`.
///
/// # Errors
/// [`Error::UnknownCongestion`] with the list of what there is, [`Error::CongestionNotAllowed`] with
/// the list of what this process may use.
pub fn set_congestion(fd: &impl AsFd, control: &str) -> Result<(), Error> {
    SockRef::from(fd)
        .set_tcp_congestion(control.as_bytes())
        .map_err(|e| {
            let operation = || format!("set congestion control {control} of");
            refused(&e, control).unwrap_or_else(|| Error::io(operation(), name(fd), e))
        })
}

/// Whether this process's sockets can have the congestion control `control`.
///
/// # Errors
/// As [`set_congestion`].
pub fn try_congestion(control: &str) -> Result<(), Error> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)
        .map_err(|e| Error::io("open", "a TCP socket", e))?;
    set_congestion(&socket, control)
}

/// Why the kernel does not want `control`, if that is what `error` says.
fn refused(error: &io::Error, control: &str) -> Option<Error> {
    let name = control.to_owned();
    match error.raw_os_error() {
        Some(libc::ENOENT) => Some(Error::UnknownCongestion {
            name,
            available: list(AVAILABLE),
        }),
        Some(libc::EPERM) => Some(Error::CongestionNotAllowed {
            name,
            allowed: list(ALLOWED),
        }),
        _ => None,
    }
}

/// What `path` lists; the message is worth printing without it.
fn list(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|e| format!("{path}: {e}"), |text| text.trim().to_owned())
}
