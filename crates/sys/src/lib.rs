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
//! Linux only, 5.11 or newer.

pub mod cgroup;
pub mod clock;
mod control;
mod error;
pub mod iface;
mod lack;
pub mod netns;
pub mod pacer;
pub mod priority;
pub mod proc;
pub mod process;
mod sockopt;
pub mod tcp;
pub mod tun;
pub mod udp;

pub use error::Error;
pub use lack::lack;
