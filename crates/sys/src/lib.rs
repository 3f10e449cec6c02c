//! Where Isobath touches the operating system, and the only place where it may be unsafe.
//!
//! Everything above this crate is told the time, handed its bytes and asked for its deadlines. This
//! crate is where those come from: it reads clocks, waits for deadlines, moves datagrams with the
//! kernel's own time stamps, and asks TCP and the machine how they fare. It decides nothing; a
//! policy (how often to send, what to do about a loss) belongs above.
//!
//! Two habits run through it. An error names the operation and the object it failed on
//! ([`Error`]), because "permission denied" alone sends nobody to the right place. And a figure
//! that the kernel did not give is `None`, never a zero.
//!
//! Linux 5.11 or newer has all of it. Other systems have the same face and behind it, in `elsewhere/`, what is portable: clocks,
//! sockets, signals. What only Linux has is refused there ([`Error::OnlyLinux`]), and what only Linux tells is `None`.

#[cfg_attr(not(target_os = "linux"), path = "elsewhere/cgroup.rs")]
pub mod cgroup;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/clock.rs")]
pub mod clock;
#[cfg(target_os = "linux")]
mod control;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere/cpu.rs"]
mod cpu;
mod datagram;
mod error;
pub mod files;
mod handle;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/iface.rs")]
pub mod iface;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/lack.rs")]
mod lack;
pub mod local;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/netns.rs")]
pub mod netns;
pub mod pacer;
pub mod poll;
mod prefetch;

#[cfg_attr(not(target_os = "linux"), path = "elsewhere/priority.rs")]
pub mod priority;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/proc.rs")]
pub mod proc;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/process.rs")]
pub mod process;
pub mod scratch;
#[cfg(target_os = "linux")]
mod sockopt;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/tcp.rs")]
pub mod tcp;
mod tcp_info;
pub mod threads;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/tun.rs")]
pub mod tun;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/udp.rs")]
pub mod udp;

pub use error::{Error, require_linux};
pub use handle::{AsHandle, Handle, handle};
pub use lack::lack;
pub use prefetch::prefetch;
