//! pcapng (draft-ietf-opsawg-pcapng): blocks; packets belong to interfaces, each with a link and a clock of its own.

use super::reader::{Fault, Record};
use super::window::LIMIT;
use pcap_parser::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, SimplePacketBlock,
    parse_block_be, parse_block_le,
};

/// Interfaces of one section; merged captures have hundreds.
const MOST_INTERFACES: usize = 1 << 16;
/// Octets of an enhanced packet block before the packet, and of a simple one.
const BEFORE_ENHANCED: usize = 28;
const BEFORE_SIMPLE: usize = 12;
const NS: u64 = 1_000_000_000;
/// Kind of the block that begins a section, the same in either order of octets; the word by which it tells its own.
const SECTION: u32 = 0x0a0d_0d0a;
const BIG_ENDIAN: u32 = 0x1a2b_3c4d;
/// Kinds of blocks that matter here: sections, interfaces, simple and enhanced packets.
const KNOWN: [u32; 4] = [SECTION, 1, 3, 6];
/// Octets of the shortest block: its kind, and its length twice.
const LEAST: usize = 12;

/// The section that is being read.
#[derive(Debug, Default)]
pub(super) struct NextGeneration {
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Of the packet before, for those that have none.
    at_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u16,
    snaplen: u32,
    /// Units of its clock in a second.
    units: u64,
    /// Seconds to add.
    offset: i64,
}

impl NextGeneration {
    /// The first block of `octets`: a packet, if it is one, and how many octets it takes.
    pub(super) fn block(&mut self, octets: &[u8]) -> Result<(Option<Record>, usize), Fault> {
        let word = |at: usize, is_big: bool| {
            let word = octets.get(at..).and_then(|octets| octets.first_chunk());
            let word = word.ok_or(Fault::Incomplete)?;
            Ok(if is_big {
                u32::from_be_bytes(*word)
            } else {
                u32::from_le_bytes(*word)
            })
        };
        let kind = word(0, self.big_endian)?;
        let is_big = if kind == SECTION {
            word(8, true)? == BIG_ENDIAN
        } else {
            self.big_endian
        };
        let len = word(4, is_big)? as usize;
        if len > LIMIT {
            return Err(Fault::TooLarge);
        }
        if len < LEAST {
            return Err(Fault::Malformed);
        }
        let whole = octets.get(..len).ok_or(Fault::Incomplete)?;
        if !KNOWN.contains(&kind) {
            return Ok((None, len));
        }
        let parse = if is_big {
            parse_block_be
        } else {
            parse_block_le
        };
        // What is missing in a whole block will not come.
        let (_, block) = parse(whole).map_err(|_| Fault::Malformed)?;
        let record = match block {
            Block::SectionHeader(section) => {
                self.big_endian = section.big_endian();
                self.interfaces.clear();
                None
            }
            Block::InterfaceDescription(interface) => {
                self.describe(&interface)?;
                None
            }
            Block::EnhancedPacket(packet) => Some(self.enhanced(&packet)?),
            Block::SimplePacket(packet) => Some(self.simple(&packet)?),
            _ => None,
        };
        Ok((record, len))
    }

    fn describe(&mut self, block: &InterfaceDescriptionBlock<'_>) -> Result<(), Fault> {
        if self.interfaces.len() >= MOST_INTERFACES {
            return Err(Fault::Interfaces);
        }
        self.interfaces.push(Interface {
            link: super::reader::link(block.linktype),
            snaplen: block.snaplen,
            units: units(block.if_tsresol).ok_or(Fault::Clock)?,
            offset: self.offset(block),
        });
        Ok(())
    }

    /// Its `if_tsoffset`, in seconds. The parser's own figure is right for one order of octets only.
    fn offset(&self, block: &InterfaceDescriptionBlock<'_>) -> i64 {
        let mut options = block.options.iter();
        let option = options.find(|option| option.code == OptionCode::IfTsoffset);
        let octets = option.and_then(|option| option.value.first_chunk().copied());
        octets.map_or(0, |octets| {
            if self.big_endian {
                i64::from_be_bytes(octets)
            } else {
                i64::from_le_bytes(octets)
            }
        })
    }

    fn enhanced(&mut self, block: &EnhancedPacketBlock<'_>) -> Result<Record, Fault> {
        let interface = self.interfaces.get(block.if_id as usize);
        let interface = interface.ok_or(Fault::UnknownInterface)?;
        let time = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
        self.at_ns = interface.nanoseconds(time);
        Ok(Record {
            at_ns: self.at_ns,
            link: interface.link,
            original_len: block.origlen.max(block.caplen),
            skip: BEFORE_ENHANCED,
            len: block.data.len().min(block.caplen as usize),
        })
    }

    /// A packet of the first interface, without a time.
    fn simple(&mut self, block: &SimplePacketBlock<'_>) -> Result<Record, Fault> {
        let interface = self.interfaces.first().ok_or(Fault::UnknownInterface)?;
        let kept = if interface.snaplen == 0 {
            u32::MAX
        } else {
            interface.snaplen
        };
        Ok(Record {
            at_ns: self.at_ns,
            link: interface.link,
            original_len: block.origlen,
            skip: BEFORE_SIMPLE,
            len: block.data.len().min(block.origlen.min(kept) as usize),
        })
    }
}

/// Units in a second by an `if_tsresol`: a power of ten, or of two when the highest bit is set.
fn units(resolution: u8) -> Option<u64> {
    let power = u32::from(resolution & 0x7f);
    let base: u64 = if resolution & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(power)
}

impl Interface {
    /// A time of its clock in nanoseconds since 1970.
    fn nanoseconds(&self, time: u64) -> u64 {
        let ns = match self.units {
            NS => time,
            1_000_000 => time.saturating_mul(1_000),
            units => {
                let ns = u128::from(time) * u128::from(NS) / u128::from(units);
                u64::try_from(ns).unwrap_or(u64::MAX)
            }
        };
        // At most 585 years in nanoseconds: a second that does not fit is not one.
        ns.saturating_add_signed(self.offset.saturating_mul(NS.cast_signed()))
    }
}
