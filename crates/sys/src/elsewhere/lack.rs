//! What this machine lacks, when a system call fails for want of it.

use std::io;

/// What this machine lacks, and what to do, if that is why `error` came about: memory, room on a disk.
pub fn lack(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::OutOfMemory => {
            Some("this machine has no free memory - end other programs, or use fewer streams")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("this machine has no room on its disk - free some, or choose another --out")
        }
        _ => None,
    }
}
