//! What a path does to packets, without a socket, a clock or a thread.
//!
//! A path is a row of *elements*: a queue drained at a rate, a delay, a loss process. Each is an
//! [`Element`]: packets and `now` go in, packets come out, and the element says when it wants to be
//! called next. [`Pipeline`] puts elements in a row and is an element itself. The same values run in
//! virtual time (tests, `sim`) and behind network interfaces in real time (`lab`).
//!
//! Every packet carries its **logical time** ([`Packet::at`]): an element stamps each packet with
//! the exact instant at which it leaves, and the next element reckons from that stamp. A runner
//! that wakes 80 us late therefore delivers one packet late and shifts nothing behind it: lateness
//! never accumulates, and the decisions of queues do not depend on it.
#![forbid(unsafe_code)]

mod element;
mod packet;

pub use element::{Cause, Count, Counters, Element};
pub use packet::Packet;
