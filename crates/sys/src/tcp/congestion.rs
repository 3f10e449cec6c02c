//! Congestion control by name.

use super::name;
use crate::Error;
use socket2::SockRef;
use std::fs;
use std::os::fd::AsFd;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

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

/// Gives a connection the congestion control `control`.
///
/// # Errors
/// [`Error::UnknownCongestion`] with the list of what there is, [`Error::CongestionNotAllowed`] with
/// the list of what this process may use.
pub fn set_congestion(fd: &impl AsFd, control: &str) -> Result<(), Error> {
    SockRef::from(fd)
        .set_tcp_congestion(control.as_bytes())
        .map_err(|e| match e.raw_os_error() {
            Some(libc::ENOENT) => Error::UnknownCongestion {
                name: control.to_owned(),
                available: list(AVAILABLE),
            },
            Some(libc::EPERM) => Error::CongestionNotAllowed {
                name: control.to_owned(),
                allowed: list(ALLOWED),
            },
            _ => Error::io(format!("set congestion control {control} of"), name(fd), e),
        })
}

/// What `path` lists; the message is worth printing without it.
fn list(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|e| format!("{path}: {e}"), |text| text.trim().to_owned())
}
