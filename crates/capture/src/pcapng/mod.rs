//! Capture files in pcapng (draft-ietf-opsawg-pcapng), written.
//!
//! A file is a row of *blocks*: a type, a length, a body, and the length again, so that a file can be read from both ends.
//! A section header says who captured; an interface description says where, and in which unit times are; then comes an
//! enhanced packet block for each packet, and at the end statistics: how many were seen and how many of these were not
//! kept. Bodies end with *options*, each a code, a length and octets padded to four.
//!
//! Ours are in little-endian octets on every machine, in nanoseconds since 1970, and of packets that begin with their IP
//! header (`LINKTYPE_RAW`, 101).

mod block;
mod writer;

pub use writer::{Direction, Interface, InterfaceId, Packet, Section, Statistics, Writer};
