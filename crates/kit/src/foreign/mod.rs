//! Far ends of somebody else: found, asked, and heard.
//!
//! `far-ends` has their protocols as machines without I/O. Here are the sockets: [`Asking`] opens what a protocol wants (a datagram
//! socket, ICMP echo, a control connection, TLS), asks for consent where there is such a thing, sends numbered requests and takes the
//! replies, each with the moment it came. When to ask, and what the replies mean, is the measurement's.

mod asking;
mod control;
mod line;

pub use asking::{Asking, headers};
pub use line::Found;
