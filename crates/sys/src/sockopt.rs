//! Socket options that `socket2` and `rustix` do not know.

use socket2::SockFilter;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Sets an option whose value is an integer.
pub(crate) fn set_int(fd: &impl AsFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    set_bytes(fd, level, name, &value.to_ne_bytes())
}

/// Sets an option from the bytes of its value.
pub(crate) fn set_bytes(fd: &impl AsFd, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    set(fd, level, name, value)
}

/// Sets an option whose value is a program of the classic packet filter.
pub(crate) fn set_program(fd: &impl AsFd, name: i32, program: &[SockFilter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_ptr().cast_mut().cast(),
    };
    set(fd, libc::SOL_SOCKET, name, &program)
}

/// Sets an option from its value as the kernel knows it.
fn set<T: ?Sized>(fd: &impl AsFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of_val(value)).map_err(io::Error::other)?;
    #[expect(unsafe_code, reason = "no crate wraps these options")]
    // SAFETY: the pointer and the length are those of `value`, which lives through the call, and so do the instructions to which that of a
    // program points: as many as it says, and laid out as the kernel's (`SockFilter` is transparent).
    let status = unsafe {
        let value = (&raw const *value).cast();
        libc::setsockopt(fd.as_fd().as_raw_fd(), level, name, value, length)
    };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Reads an option into `buffer` and returns the part that the kernel filled: an older kernel knows
/// a shorter value.
pub(crate) fn get_bytes<'a>(
    fd: &impl AsFd,
    level: i32,
    name: i32,
    buffer: &'a mut [u8],
) -> io::Result<&'a [u8]> {
    let mut length = libc::socklen_t::try_from(buffer.len()).map_err(io::Error::other)?;
    #[expect(unsafe_code, reason = "no crate wraps these options")]
    // SAFETY: the kernel writes at most `length` octets, which is the length of `buffer`.
    let status = unsafe {
        libc::getsockopt(
            fd.as_fd().as_raw_fd(),
            level,
            name,
            buffer.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    let filled = buffer.len().min(length as usize);
    Ok(&buffer[..filled])
}
