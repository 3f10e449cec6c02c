//! The text formats of Tmix, as ns-2 reads them.
//!
//! A file is a row of vectors in ASCII lines; lines that begin with `#`, and empty ones, mean nothing. Times are in
//! microseconds. A vector begins with
//!
//! ```text
//! SEQ <start> <epochs> <id> <id>                    sequential: S in the alternate form
//! CONC <start> <ADUs> <ADUs> <id> <id>              concurrent: C; ADUs of initiator and acceptor
//! w <octets> <octets>                               largest windows of initiator and acceptor
//! r <us>                                            minimum round-trip time; 0 is unknown
//! l <share> <share>                                 loss from initiator to acceptor, and back
//! m <octets> <octets>                               optional: largest segments
//! ```
//!
//! and goes on with its ADUs. In the **original** form a wait is a line of its own, between the ADUs it separates; a wait at
//! the end is the time before the connection closes, and when it is missing that was not seen:
//!
//! ```text
//! > 253        the initiator sends         c> 169        concurrent: lines of initiator and acceptor
//! t 123693     and after this time         t> 2740219    are independent of each other
//! < 510        the acceptor answers        c< 219
//! t 6308497                                t< 2085676
//! ```
//!
//! In the **alternate** form an ADU and the wait before it share a line, in one of two places: after the last ADU that the
//! same end *sent*, or after the one that it *received*. An ADU of no octets is the end of the connection:
//!
//! ```text
//! I 0 0 253
//! A 0 123693 510
//! A 6308497 0 0
//! ```
//!
//! Zero in both places would not say what to wait for, so ns-2's converter writes one microsecond for none, and so do we; the
//! first ADU of all (in a concurrent connection: of each end) has nothing to wait for. Apart from that, and from the first
//! wait, which the original form cannot say, what is read is written again to the octet; empty lines are not, as they mean nothing.
//!
//! Why it cannot: a `t` before the first ADU would look like the place for it, but ns-2's reader begins in the state after a
//! wait and takes a wait after a wait for an error, in a sequential connection and of the acceptor of a concurrent one; it
//! leaves such a connection out. So none is written, and none is taken when read. Flows of UDP have no place in either form.
//!
//! Sources: ns-2 manual, "Tmix: Internet Traffic Generation", sections on the original and alternate connection vector
//! formats; the files, `cvec-orig2alt` and `Tmix::read_one_cvec_v1` of ns 2.35.

mod body;
mod line;
mod lines;
mod reader;
mod writer;

pub use reader::{Error, Problem, Reader};
pub use writer::Writer;

/// Which of the two.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Format {
    /// `SEQ` and `CONC`, waits on lines of their own.
    Original,
    /// `S` and `C`, waits beside the ADUs.
    Alternate,
}

#[cfg(test)]
mod tests;
