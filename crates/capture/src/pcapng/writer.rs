//! The file, block by block.

use super::block::Block;
use std::io::{self, Write};
use std::net::IpAddr;

/// Block types (sections 4.1, 4.2, 4.3 and 4.6).
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const STATISTICS: u32 = 5;

/// Says which end of a number comes first.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// The section's length is not given: it lasts to the end.
const UNKNOWN_LENGTH: u64 = u64::MAX;
const LINKTYPE_RAW: u16 = 101;
/// Times count in 10^-9 s.
const NANOSECONDS: u8 = 9;
const COMMENT: u16 = 1;

/// Who captured. An empty text is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Section<'a> {
    /// The machine.
    pub hardware: &'a str,
    /// Its operating system.
    pub os: &'a str,
    /// The program.
    pub application: &'a str,
    /// What a reader should know.
    pub comment: &'a str,
}

/// Where packets were seen. An empty text is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interface<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is.
    pub description: &'a str,
    /// Addresses of its host.
    pub addresses: &'a [IpAddr],
    /// The most octets that are kept of a packet; zero is no limit.
    pub snaplen: u32,
}

/// An interface of a file, in the order of description.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InterfaceId(u32);

/// Which way a packet went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// It arrived.
    In,
    /// It left.
    Out,
}

/// A packet from its IP header on.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// When, in nanoseconds since 1970.
    pub wall_ns: u64,
    /// As much of it as was kept.
    pub octets: &'a [u8],
    /// Octets that it had.
    pub original_len: usize,
    /// Which way it went.
    pub direction: Option<Direction>,
}

/// What an interface saw from the first packet to the last.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Statistics {
    /// When capturing began and ended, in nanoseconds since 1970.
    pub start_ns: u64,
    /// See `start_ns`.
    pub end_ns: u64,
    /// Packets that were seen.
    pub received: u64,
    /// Packets of these that are not in the file for want of room.
    pub dropped: u64,
}

/// Writes a file. Each method writes one block as a whole; give it something buffered.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    block: Block,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written; so in all methods.
    pub fn new(out: W, section: &Section<'_>) -> io::Result<Self> {
        let mut writer = Self {
            out,
            block: Block::default(),
            interfaces: 0,
        };
        let block = &mut writer.block;
        block.begin(SECTION);
        block.u32(BYTE_ORDER);
        // Version 1.0.
        block.u16(1);
        block.u16(0);
        block.padded(&UNKNOWN_LENGTH.to_le_bytes());
        let options = block.len();
        block.text(COMMENT, section.comment);
        block.text(2, section.hardware);
        block.text(3, section.os);
        block.text(4, section.application);
        writer.put(options)?;
        Ok(writer)
    }

    /// Describes an interface, to which packets may then belong.
    ///
    /// # Errors
    ///
    /// See [`Writer::new`].
    pub fn interface(&mut self, interface: &Interface<'_>) -> io::Result<InterfaceId> {
        let block = &mut self.block;
        block.begin(INTERFACE);
        block.u16(LINKTYPE_RAW);
        block.u16(0);
        block.u32(interface.snaplen);
        let options = block.len();
        block.text(2, interface.name);
        block.text(3, interface.description);
        for address in interface.addresses {
            // With the mask, or the length of the prefix, of one host.
            match address.to_canonical() {
                IpAddr::V4(v4) => block.option(4, &[v4.octets(), [255; 4]].concat()),
                IpAddr::V6(v6) => block.option(5, &[&v6.octets()[..], &[128]].concat()),
            }
        }
        block.option(9, &[NANOSECONDS]);
        self.put(options)?;
        let id = InterfaceId(self.interfaces);
        self.interfaces += 1;
        Ok(id)
    }

    /// Adds a packet; order is up to the caller.
    ///
    /// # Errors
    ///
    /// See [`Writer::new`].
    pub fn packet(&mut self, interface: InterfaceId, packet: &Packet<'_>) -> io::Result<()> {
        let original = packet.original_len.max(packet.octets.len());
        let block = &mut self.block;
        block.begin(PACKET);
        block.u32(interface.0);
        block.time(packet.wall_ns);
        block.u32(u32::try_from(packet.octets.len()).unwrap_or(u32::MAX));
        block.u32(u32::try_from(original).unwrap_or(u32::MAX));
        block.padded(packet.octets);
        let options = block.len();
        // The lowest two bits of the flags (section 4.3.1).
        match packet.direction {
            Some(Direction::In) => block.option(2, &1_u32.to_le_bytes()),
            Some(Direction::Out) => block.option(2, &2_u32.to_le_bytes()),
            None => {}
        }
        self.put(options)
    }

    /// Says what an interface saw.
    ///
    /// # Errors
    ///
    /// See [`Writer::new`].
    pub fn statistics(&mut self, interface: InterfaceId, seen: &Statistics) -> io::Result<()> {
        let block = &mut self.block;
        block.begin(STATISTICS);
        block.u32(interface.0);
        block.time(seen.end_ns);
        let options = block.len();
        block.time_option(2, seen.start_ns);
        block.time_option(3, seen.end_ns);
        block.count(4, seen.received);
        block.count(5, seen.dropped);
        self.put(options)
    }

    /// Gives back what was written to, flushed.
    ///
    /// # Errors
    ///
    /// See [`Writer::new`].
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, options: usize) -> io::Result<()> {
        self.out.write_all(self.block.finish(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Write as _;

    fn sample() -> Vec<u8> {
        let section = Section {
            hardware: "2 x AMD EPYC",
            os: "Linux 6.18",
            application: "isobath 0.1.0",
            comment: "times are the client's",
        };
        let mut file = Writer::new(Vec::new(), &section).unwrap();
        let sender = file
            .interface(&Interface {
                name: "sender",
                description: "10.77.0.1 to 10.77.0.2",
                addresses: &["10.77.0.1".parse().unwrap(), "fd77::1".parse().unwrap()],
                snaplen: 124,
            })
            .unwrap();
        let packet = Packet {
            wall_ns: 0x0102_0304_0506_0708,
            octets: b"\x45abcd",
            original_len: 1_500,
            direction: Some(Direction::Out),
        };
        file.packet(sender, &packet).unwrap();
        let seen = Statistics {
            start_ns: 0x0102_0304_0506_0708,
            end_ns: 0x0102_0304_0506_0709,
            received: 3,
            dropped: 2,
        };
        file.statistics(sender, &seen).unwrap();
        file.finish().unwrap()
    }

    /// Sixteen octets a row, as numbers and as text.
    fn rows(octets: &[u8]) -> String {
        let mut rows = String::new();
        for row in octets.chunks(16) {
            let mut text = String::new();
            for &octet in row {
                write!(rows, "{octet:02x} ").unwrap();
                text.push(if octet.is_ascii_graphic() {
                    octet.into()
                } else {
                    '.'
                });
            }
            writeln!(
                rows,
                "{text:>width$}",
                width = text.len() + 3 * (16 - row.len())
            )
            .unwrap();
        }
        rows
    }

    /// The blocks of a file, by the length in front, which must be that at the end.
    fn blocks(mut octets: &[u8]) -> Vec<(u32, &[u8])> {
        let mut blocks = Vec::new();
        while !octets.is_empty() {
            let word = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().unwrap());
            let length = word(4) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(word(length - 4) as usize, length);
            blocks.push((word(0), &octets[8..length - 4]));
            octets = &octets[length..];
        }
        blocks
    }

    #[test]
    fn the_octets_of_a_file() {
        insta::assert_snapshot!(rows(&sample()));
    }

    #[test]
    fn a_file_without_options_has_none() {
        let file = Writer::new(Vec::new(), &Section::default()).unwrap();
        let octets = file.finish().unwrap();
        assert_eq!(octets.len(), 28);
        assert_eq!(blocks(&octets), [(SECTION, &octets[8..24])]);
    }

    #[test]
    fn interfaces_are_numbered_in_order() {
        let mut file = Writer::new(Vec::new(), &Section::default()).unwrap();
        let first = file.interface(&Interface::default()).unwrap();
        let second = file.interface(&Interface::default()).unwrap();
        assert_eq!((first, second), (InterfaceId(0), InterfaceId(1)));
    }

    proptest! {
        #[test]
        fn any_packet_and_text_makes_blocks_that_can_be_walked(
            text in ".{0,40}",
            octets in prop::collection::vec(any::<u8>(), 0..200),
            original_len in 0_usize..2_000,
            wall_ns: u64,
        ) {
            let section = Section { comment: &text, ..Section::default() };
            let mut file = Writer::new(Vec::new(), &section).unwrap();
            let interface = Interface { name: &text, ..Interface::default() };
            let interface = file.interface(&interface).unwrap();
            let packet = Packet { wall_ns, octets: &octets, original_len, direction: None };
            file.packet(interface, &packet).unwrap();
            let written = file.finish().unwrap();
            let blocks = blocks(&written);
            let kinds: Vec<_> = blocks.iter().map(|(kind, _)| *kind).collect();
            prop_assert_eq!(kinds, [SECTION, INTERFACE, PACKET]);
            let body = blocks[2].1;
            prop_assert_eq!(&body[20..20 + octets.len()], &octets[..]);
            let original = u32::from_le_bytes(body[16..20].try_into().unwrap()) as usize;
            prop_assert_eq!(original, original_len.max(octets.len()));
        }

        #[test]
        fn a_text_that_is_too_long_is_cut_between_characters(length in 65_530_usize..65_545) {
            let text = "x".repeat(length) + "\u{1f30a}";
            let section = Section { comment: &text, ..Section::default() };
            let written = Writer::new(Vec::new(), &section).unwrap().finish().unwrap();
            let body = blocks(&written)[0].1;
            let cut = usize::from(u16::from_le_bytes([body[18], body[19]]));
            prop_assert!(cut <= 65_535);
            prop_assert!(std::str::from_utf8(&body[20..20 + cut]).is_ok());
        }
    }
}
