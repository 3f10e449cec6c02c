//! Captures, read: whatever a sniffer left, packet by packet.
//!
//! A [`Reader`] looks at the first octets of what it is given and finds out by itself whether it is compressed (gzip, zstd)
//! and whether it is pcap or pcapng, in either order of octets and any unit of time. It reads from anything that can be
//! [`Read`](std::io::Read), so a pipe is as good as a file, and holds one piece of the capture in memory, which grows to the largest packet
//! and never above 16 MiB. Packets are lent out of that piece: nothing is copied.
//!
//! What a capture says is not believed: a length beyond the limit, a packet of an interface that was never described or a
//! file that ends within a packet are errors with the offset at which they were found. Every whole packet before it has
//! been handed out by then, so a reader of a capture that was cut short may take what it got.
//!
//! The containers are parsed by `pcap-parser`; which packets follow each other and when they were seen is ours.

mod legacy;
mod next_generation;
mod reader;
mod source;
mod window;

pub use reader::{Error, Packet, Reader};

#[cfg(test)]
mod tests;
