//! The one option of a socket that no library sets: its datagrams are not to be cut into fragments.

use crate::AsHandle;
use std::io;

#[cfg(unix)]
mod option {
    pub(super) const V4: [i32; 2] = [libc::IPPROTO_IP, libc::IP_DONTFRAG];
    /// `IPV6_DONTFRAG`, which the library does not have.
    pub(super) const V6: [i32; 2] = [libc::IPPROTO_IPV6, 62];
}

#[cfg(windows)]
mod option {
    use windows_sys::Win32::Networking::WinSock;
    pub(super) const V4: [i32; 2] = [WinSock::IPPROTO_IP, WinSock::IP_DONTFRAGMENT];
    pub(super) const V6: [i32; 2] = [WinSock::IPPROTO_IPV6, WinSock::IPV6_DONTFRAG];
}

/// Forbids fragments of what `socket`, of IPv6 or not, sends.
#[expect(unsafe_code, reason = "no library sets this option")]
pub(super) fn forbid(socket: &impl AsHandle, is_v6: bool) -> io::Result<()> {
    let [level, name] = if is_v6 { option::V6 } else { option::V4 };
    let on = 1_i32;
    #[cfg(unix)]
    // SAFETY: the socket is open, and the kernel reads one integer, which `on` is.
    let status = unsafe {
        use std::os::fd::AsRawFd as _;
        let length = size_of::<i32>() as libc::socklen_t;
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const on).cast(),
            length,
        )
    };
    #[cfg(windows)]
    // SAFETY: the socket is open, and the system reads one integer, which `on` is.
    let status = unsafe {
        use std::os::windows::io::AsRawSocket as _;
        use windows_sys::Win32::Networking::WinSock::{SOCKET, setsockopt};
        setsockopt(
            socket.as_socket().as_raw_socket() as SOCKET,
            level,
            name,
            (&raw const on).cast(),
            size_of::<i32>() as i32,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
