//! Packets on disk: what an instrument saw, in a file that other people's tools open.
//!
//! [`read`] reads captures of other instruments, and [`dissect`] finds in a packet what a program sent. [`pcapng`] writes capture
//! files. What goes in is a packet from its IP header on. An instrument that works with sockets never
//! sees that header, so [`Datagram`] makes one up of what the socket knows: addresses, ports, marks and lengths are true,
//! checksums are right, and nothing is claimed that was not known. A simulation has no octets at all; [`Segment`] makes the headers of
//! its segments.
//!
//! ```
//! use isobath_capture::{Datagram, pcapng};
//! use units::TrafficClass;
//!
//! let section = pcapng::Section { application: "example", ..pcapng::Section::default() };
//! let mut file = pcapng::Writer::new(Vec::new(), &section)?;
//! let sender = file.interface(&pcapng::Interface { name: "sender", ..pcapng::Interface::default() })?;
//! let datagram = Datagram {
//!     from: ([10, 77, 0, 1], 40_000).into(),
//!     to: ([10, 77, 0, 2], 4_890).into(),
//!     class: TrafficClass::default(),
//!     hop_limit: 64,
//!     kept: b"a header",
//!     len: 1_472,
//! };
//! let mut octets = Vec::new();
//! let original_len = datagram.write(&mut octets);
//! assert_eq!(original_len, 1_500);
//! file.packet(sender, &pcapng::Packet { wall_ns: 0, octets: &octets, original_len, direction: None })?;
//! let octets = file.finish()?;
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

mod datagram;
pub mod dissect;
mod ip;
pub mod pcapng;
pub mod read;
mod segment;

pub use datagram::Datagram;
pub use segment::Segment;
