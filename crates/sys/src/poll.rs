//! Waiting until one of several descriptors has something.
//!
//! For a handful, [`any_readable`] and [`wait_for_room`], which every system has. For thousands, [`Poll`]: each is entered once, and a
//! wait costs what has happened, not what is watched. That one, and the [`Bell`] by which a thread wakes another, only Linux has here.

#[cfg_attr(target_os = "linux", path = "poll/epoll.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/poll.rs")]
mod back;

pub use back::{Bell, Events, Poll};

use crate::{AsHandle, Handle};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::time::Duration;

/// What of a descriptor is waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Interest {
    /// Something to read; told at every wait until it is read.
    Read,
    /// Something to read; told once, when it comes.
    Arrival,
    /// Something to read, room to write, an end of the connection; each told once, when it comes about.
    Change,
}

/// What a wait found at one descriptor.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each can be without the others"
)]
pub struct Event {
    /// The number under which it was entered.
    pub number: u64,
    /// There is something to read.
    pub readable: bool,
    /// There is room to write.
    pub writable: bool,
    /// The peer sends no more, or the connection is gone.
    pub hung_up: bool,
    /// There is an error to be fetched.
    pub failed: bool,
}

/// Waits until there is something to read at one of them, at most for `timeout`; whether one has an error to tell. A signal ends it
/// early.
pub fn any_readable<'a>(handles: impl IntoIterator<Item = Handle<'a>>, timeout: Duration) -> bool {
    let handles = handles.into_iter();
    let mut fds: Vec<_> = handles
        .map(|handle| PollFd::from_borrowed_fd(handle, PollFlags::IN))
        .collect();
    let timeout = Timespec::try_from(timeout).ok();
    // Interrupted or not: whoever waits looks at all of them.
    let _ = poll(&mut fds, timeout.as_ref());
    fds.iter().any(|fd| fd.revents().contains(PollFlags::ERR))
}

/// Waits until `socket` takes more, at most for `timeout`. A signal ends it early.
///
/// # Errors
/// When the kernel cannot wait.
pub fn wait_for_room(socket: &impl AsHandle, timeout: Duration) -> io::Result<()> {
    let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
    let mut ready = [PollFd::new(socket, PollFlags::OUT)];
    match poll(&mut ready, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
