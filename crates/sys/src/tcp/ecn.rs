//! Whether this host's TCP negotiates ECN (RFC 3168): `net.ipv4.tcp_ecn`, for IPv6 as well.
//!
//! Linux has no option of a socket for it. The setting is that of the network namespace, and whoever opens a connection asks
//! for ECN or does not; the end that accepts agrees unless it is told not to.

use crate::{Error, netns};
use std::fs;

const SETTING: &str = "/proc/sys/net/ipv4/tcp_ecn";
/// The values with which connections that this host opens ask for ECN: classic (1 and, with `AccECN` for others, 4) or `AccECN` (3).
const REQUESTS: [u8; 3] = [1, 3, 4];

/// The setting of the namespace of the calling thread; `None` when the kernel does not tell.
pub fn ecn_setting() -> Option<u8> {
    fs::read_to_string(SETTING).ok()?.trim().parse().ok()
}

/// Whether connections that the calling thread opens ask for ECN; `None` when the kernel does not tell.
pub fn requests_ecn() -> Option<bool> {
    ecn_setting().map(|setting| REQUESTS.contains(&setting))
}

/// Makes all connections of the namespace of the calling thread ask for ECN and agree to it, or do neither.
///
/// # Errors
/// When the thread may not set it.
pub fn set_ecn(is_on: bool) -> Result<(), Error> {
    netns::set_sysctl("net.ipv4.tcp_ecn", if is_on { "1" } else { "0" })
}
