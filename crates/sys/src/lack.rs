//! What this machine lacks, when a system call fails for want of it.

use rustix::io::Errno;
use std::io;

/// What this machine lacks, and what to do, if that is why `error` came about: descriptors, memory, room on a disk.
pub fn lack(error: &io::Error) -> Option<&'static str> {
    match Errno::from_raw_os_error(error.raw_os_error()?) {
        Errno::MFILE | Errno::NFILE => Some(
            "this machine has no free file descriptors - raise 'ulimit -n', or use fewer streams",
        ),
        Errno::NOMEM | Errno::NOBUFS => Some(
            "this machine has no free memory for sockets - end other programs, or use fewer streams",
        ),
        Errno::NOSPC | Errno::DQUOT => {
            Some("this machine has no room on its disk - free some, or choose another --out")
        }
        _ => None,
    }
}
