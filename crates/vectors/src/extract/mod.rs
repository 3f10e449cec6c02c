//! From the segments of a capture to connection vectors.
//!
//! # What is asked of the headers
//!
//! A capture says when segments passed a monitor somewhere on the path. What the programs did has to be told from what TCP
//! made of it, so times are used last and numbers first:
//!
//! - **Sizes** are distances between sequence numbers. A segment counts by how far it moves the highest number of its end, so
//!   retransmissions and reordering add nothing, and a hole in the capture hides nothing: the next segment, or the other
//!   end's acknowledgement, tells how much passed unseen.
//! - **Whose turn it is**: an ADU ends when the other end sends data.
//! - **Concurrency**: two segments with data, p and q, in opposite directions, were under way at the same time when neither
//!   sender had the other's: q acknowledges less than all of p, and p less than all of q. One such pair makes the connection
//!   concurrent (Hernandez-Campos 2006, section 3.2). A monitor that sees p for the first time knows that every q it saw before
//!   was sent without it, so it is enough to ask, of each segment with new data: is it not acknowledged yet, and does it leave
//!   data of the other end unacknowledged?
//! - **Quiet times** split what one end says in a row into ADUs: 500 ms in which it could have sent and did not. An end can
//!   not send while it waits for an acknowledgement, for a window, or for its retransmission timer; so the quiet time
//!   counts from its last segment or the last acknowledgement or window that reached it, and the way of these from the monitor to
//!   the end and back is not counted.
//!
//! # What else is known
//!
//! The **minimum round-trip time** is the sum of two halves: the shortest time in which each end answered a segment that
//! passed the monitor, by an acknowledgement or an echo of its clock (RFC 7323). Segments that were sent twice are not timed
//! (Karn). **Loss** of a direction is what had to be sent again: segments seen twice were lost behind the monitor, and segments
//! that filled a hole too late to have been overtaken were lost before it. Keep-alives and probes of a closed window are
//! neither data nor loss.
//!
//! # What becomes of a connection
//!
//! It ends with the acknowledged FINs of both ends, a SYN with another number, or a long silence. A RST closes it, but it is kept
//! for a while: data may be on its way, the SYN may be sent again, and a RST may be forged (RFC 5961 section 3). A connection of
//! which only one direction was seen, or that carried no data, is discarded and counted ([`Counters`]); all others become
//! vectors, also those whose beginning or end is not in the capture (Aikat 2010, section 3.1.1).
//!
//! # How to call
//!
//! [`Extractor::handle_segment`] for each segment, and [`Extractor::handle_datagram`] for each datagram of UDP ([`udp`]), in the order of the capture; [`Extractor::poll`] after each until there is
//! nothing more; [`Extractor::finish`] at the end of the capture, and poll again. Vectors come in the order in which connections end.
//! Memory grows with the connections that are open, of which there is a limit.

mod closed;
mod connection;
mod counters;
mod extractor;
mod finish;
mod half;
mod holes;
mod index;
mod key;
mod options;
mod round_trip;
mod shares;
mod sweep;
mod table;
mod talk;
pub mod udp;

pub use counters::{Count, Counters, UdpCounters};
pub use extractor::Extractor;
pub use finish::{End, Extracted, Seen};
pub use options::Options;
pub use shares::{SHARES, share};

/// Distance from `earlier` to `later` on the circle of sequence numbers, negative when `later` comes first
/// (RFC 9293 section 3.4).
const fn distance(earlier: u32, later: u32) -> i32 {
    later.wrapping_sub(earlier).cast_signed()
}

/// Nanoseconds of a span.
fn nanos(span: core::time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
