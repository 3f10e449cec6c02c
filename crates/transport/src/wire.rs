//! Segments and acknowledgements as UDP datagrams.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      magic 'I' 'S' 'O' 'B'                    |  0
//! +---------------+---------------+---------------+---------------+
//! |  version = 1  |     kind      |     flags     |    blocks     |  4
//! +---------------+---------------+---------------+---------------+
//! |            stream             |            length             |  8
//! +-------------------------------+-------------------------------+
//! |             sequence, or the one that is expected             | 12
//! +---------------------------------------------------------------+
//! |                            session                            | 16
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                              tag                              | 24
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                      sent, or its echo (ns)                   | 32
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                        packet identifier                      | 40
//! |                                                               |
//! +=========== a segment: payload; an acknowledgement: ===========+
//! |            identifier of the packet with the highest          | 48
//! |                        sequence that came                     |
//! +---------------------------------------------------------------+
//! |                        echo delay (ns)                        | 56
//! +---------------------------------------------------------------+
//! |                       window (segments)                       | 60
//! +---------------------------------------------------------------+
//! |          block: first sequence of it, first after it          | 64
//! |                    (as many as `blocks` says)                 |
//! +---------------------------------------------------------------+
//! ```
//!
//! `kind` is 4 for a segment, 5 for an acknowledgement, 6 for a probe of the window (a segment without payload); 1 to 3
//! belong to `session`'s probes, which have magic number, version, kind, session and tag in the same places. `flags` of a
//! segment: 0x01 the transfer's last, 0x02 the echo of congestion has been answered; of an acknowledgement: 0x01
//! congestion was experienced. `blocks` is at most 4, and zero in a segment; `length` is the octets of payload, and zero
//! in an acknowledgement. Bits and fields without a meaning are zero: what has others is refused.
//!
//! **A datagram is as long as the TCP segment that it stands for.** TCP's header with time stamps takes 32 octets, UDP's
//! 8: so a segment of `length` octets is a datagram of `length` + 24, and a link, a queue or a policer sees the same
//! packets as TCP's. This header is longer than 24 octets; its rest takes the place of payload, which means nothing. Only a
//! segment with less payload than that is longer than TCP's. An acknowledgement is (64 octets against TCP's 24, both
//! and 8 for each block): narrow return paths will notice.
//!
//! **The tag** covers the header without the tag, all of an acknowledgement and none of a segment's payload. Nobody reads
//! the payload, so nothing is gained by changing it; and a hash over 1,472 octets takes some 2 us at either end, of
//! the 12 us that there are for a packet at 1 Gbit/s, where one over 40 octets takes 0.1 us. Here the tag is opaque: whoever has
//! the session's key asks [`covered`] what to hash, and [`tag_of`] and [`set_tag`] for its place.
//!
//! [`Datagram::parse`] takes any octets; what it returns has the form and is worth nothing until the tag was verified.

use crate::{Ack, PacketId, SackBlocks, Segment, SegmentFlags, Seq};
use thiserror::Error;
use units::Instant;

/// Octets at the head of every datagram of Isobath.
pub const MAGIC: [u8; 4] = *b"ISOB";
/// The version of these formats.
pub const VERSION: u8 = 1;
/// Octets of a segment's header: its shortest datagram.
pub const SEGMENT_HEADER: usize = 48;
/// Octets of an acknowledgement without blocks.
pub const ACK_HEADER: usize = 64;
/// Octets of an acknowledgement with all the blocks it may have.
pub const LONGEST_ACK: usize = ACK_HEADER + 8 * crate::segment::MAX_BLOCKS;
/// What a datagram has beside the payload where it is as long as TCP's segment: 20 octets of TCP's header and 12 of its
/// time stamps (RFC 7323 appendix A), less the 8 of UDP's.
pub const AS_TCP: usize = 24;
/// Octets of a tag.
pub const TAG_LEN: usize = 8;

const TAG_AT: usize = 24;
const AFTER_TAG: usize = TAG_AT + TAG_LEN;

const LAST: u8 = 0x01;
const CWR: u8 = 0x02;
const ECE: u8 = 0x01;

const SEGMENT: u8 = 4;
const ACK: u8 = 5;
const PROBE: u8 = 6;

/// Why octets are no datagram of a transfer.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum WireError {
    /// Another length than its fields say.
    #[error("a datagram of {0} octets whose header says something else")]
    Length(usize),
    /// Not our magic number.
    #[error("not an isobath datagram")]
    Magic,
    /// A field that says what this version does not know.
    #[error("field '{0}' of the datagram has no such value")]
    Field(&'static str),
    /// Too short for its header, or for what is to be written.
    #[error("datagram shorter than its header")]
    Short,
    /// A kind that is not of a transfer.
    #[error("kind of datagram {0} is not a transfer's")]
    UnknownKind(u8),
    /// A version that this program does not speak.
    #[error("unknown datagram version {0}")]
    UnknownVersion(u8),
}

/// To which transfer a datagram belongs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Address {
    /// The session's number.
    pub session: u64,
    /// Which of its streams.
    pub stream: u16,
}

/// What a datagram carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Datagram {
    /// Towards the receiver.
    Segment(Segment),
    /// Towards the sender.
    Ack(Ack),
}

impl Datagram {
    /// Reads a datagram; its tag is to be checked then.
    ///
    /// # Errors
    /// [`WireError`] for what no sender and no receiver of this version writes.
    pub fn parse(octets: &[u8]) -> Result<(Address, Self), WireError> {
        let header: &[u8; SEGMENT_HEADER] = match octets.first_chunk() {
            Some(header) => header,
            None if octets.first_chunk() == Some(&MAGIC) => return Err(WireError::Short),
            None => return Err(WireError::Magic),
        };
        if header[..4] != MAGIC {
            return Err(WireError::Magic);
        }
        if header[4] != VERSION {
            return Err(WireError::UnknownVersion(header[4]));
        }
        let address = Address {
            session: long(header, 16),
            stream: short(header, 8),
        };
        let datagram = match header[5] {
            SEGMENT | PROBE => Self::Segment(parse_segment(header, octets.len())?),
            ACK => Self::Ack(parse_ack(header, octets)?),
            other => return Err(WireError::UnknownKind(other)),
        };
        Ok((address, datagram))
    }

    /// The address of what may be a datagram of a transfer: as much as is needed to find the key.
    pub fn address_of(octets: &[u8]) -> Option<Address> {
        Self::parse(octets).ok().map(|(address, _)| address)
    }
}

fn parse_segment(header: &[u8; SEGMENT_HEADER], length: usize) -> Result<Segment, WireError> {
    let len = short(header, 10);
    let flags = header[6];
    let probe = header[5] == PROBE;
    if flags & !(LAST | CWR) != 0 {
        return Err(WireError::Field("flags"));
    }
    if header[7] != 0 {
        return Err(WireError::Field("blocks"));
    }
    if probe && len != 0 {
        return Err(WireError::Field("length"));
    }
    if length != segment_length(len) {
        return Err(WireError::Length(length));
    }
    Ok(Segment {
        seq: Seq(word(header, 12)),
        id: PacketId(long(header, 40)),
        len,
        flags: SegmentFlags {
            last: flags & LAST != 0,
            cwr: flags & CWR != 0,
            probe,
        },
        sent: Instant::from_nanos(long(header, 32)),
    })
}

fn parse_ack(header: &[u8; SEGMENT_HEADER], octets: &[u8]) -> Result<Ack, WireError> {
    let rest: &[u8; ACK_HEADER - SEGMENT_HEADER] = octets
        .get(SEGMENT_HEADER..)
        .and_then(<[u8]>::first_chunk)
        .ok_or(WireError::Short)?;
    if header[6] & !ECE != 0 {
        return Err(WireError::Field("flags"));
    }
    if short(header, 10) != 0 {
        return Err(WireError::Field("length"));
    }
    let count = usize::from(header[7]);
    if octets.len() != ACK_HEADER + 8 * count {
        return Err(WireError::Length(octets.len()));
    }
    let mut sack = SackBlocks::NONE;
    let (blocks, _) = octets[ACK_HEADER..].as_chunks::<8>();
    for block in blocks {
        if !sack.push(Seq(word(block, 0)), Seq(word(block, 4))) {
            return Err(WireError::Field("blocks"));
        }
    }
    Ok(Ack {
        ack: Seq(word(header, 12)),
        id: PacketId(long(header, 40)),
        highest: PacketId(long(rest, 0)),
        echo: Instant::from_nanos(long(header, 32)),
        delay_ns: word(rest, 8),
        window: word(rest, 12),
        ece: header[6] & ECE != 0,
        sack,
    })
}

/// Octets of the datagram of a segment with `len` octets of payload.
pub const fn segment_length(len: u16) -> usize {
    let as_tcp = len as usize + AS_TCP;
    if as_tcp < SEGMENT_HEADER {
        SEGMENT_HEADER
    } else {
        as_tcp
    }
}

/// Writes the header of `segment` to the start of `out`, its tag zero, and returns the length of its datagram; what stands
/// behind the header in `out` is the payload and is left as it is.
///
/// # Errors
/// [`WireError::Short`] when `out` has no room for the whole datagram.
pub fn emit_segment(
    segment: &Segment,
    address: Address,
    out: &mut [u8],
) -> Result<usize, WireError> {
    let length = segment_length(segment.len);
    if out.len() < length {
        return Err(WireError::Short);
    }
    let header: &mut [u8; SEGMENT_HEADER] = out.first_chunk_mut().ok_or(WireError::Short)?;
    let SegmentFlags { last, cwr, probe } = segment.flags;
    let flags = (if last { LAST } else { 0 }) | (if cwr { CWR } else { 0 });
    let kind = if probe { PROBE } else { SEGMENT };
    head(header, [kind, flags, 0], address, segment.len);
    header[12..16].copy_from_slice(&segment.seq.0.to_be_bytes());
    header[32..40].copy_from_slice(&segment.sent.as_nanos().to_be_bytes());
    header[40..48].copy_from_slice(&segment.id.0.to_be_bytes());
    Ok(length)
}

/// Writes `ack` to the start of `out`, its tag zero, and returns the length of its datagram.
///
/// # Errors
/// [`WireError::Short`] when `out` has no room for it; [`LONGEST_ACK`] octets always have.
pub fn emit_ack(ack: &Ack, address: Address, out: &mut [u8]) -> Result<usize, WireError> {
    let count = u8::try_from(ack.sack.iter().len()).map_err(|_| WireError::Short)?;
    let length = ACK_HEADER + 8 * usize::from(count);
    let out = out.get_mut(..length).ok_or(WireError::Short)?;
    let (header, blocks) = out
        .split_first_chunk_mut::<ACK_HEADER>()
        .ok_or(WireError::Short)?;
    let flags = if ack.ece { ECE } else { 0 };
    head(header, [ACK, flags, count], address, 0);
    header[12..16].copy_from_slice(&ack.ack.0.to_be_bytes());
    header[32..40].copy_from_slice(&ack.echo.as_nanos().to_be_bytes());
    header[40..48].copy_from_slice(&ack.id.0.to_be_bytes());
    header[48..56].copy_from_slice(&ack.highest.0.to_be_bytes());
    header[56..60].copy_from_slice(&ack.delay_ns.to_be_bytes());
    header[60..64].copy_from_slice(&ack.window.to_be_bytes());
    let (slots, _) = blocks.as_chunks_mut::<8>();
    for (slot, (first, end)) in slots.iter_mut().zip(ack.sack.iter()) {
        slot[..4].copy_from_slice(&first.0.to_be_bytes());
        slot[4..].copy_from_slice(&end.0.to_be_bytes());
    }
    Ok(length)
}

/// The parts of a datagram that its tag covers, before and after the tag; `None` for what is too short to have one.
pub fn covered(datagram: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = match datagram.get(5)? {
        &ACK => datagram.len(),
        _ => SEGMENT_HEADER,
    };
    Some((datagram.get(..TAG_AT)?, datagram.get(AFTER_TAG..end)?))
}

/// The tag of a datagram; `None` for what is too short to have one.
pub fn tag_of(datagram: &[u8]) -> Option<[u8; TAG_LEN]> {
    datagram.get(TAG_AT..)?.first_chunk().copied()
}

/// Writes the tag of a datagram.
///
/// # Errors
/// [`WireError::Short`] for what has no room for one.
pub fn set_tag(datagram: &mut [u8], tag: [u8; TAG_LEN]) -> Result<(), WireError> {
    datagram
        .get_mut(TAG_AT..AFTER_TAG)
        .ok_or(WireError::Short)?
        .copy_from_slice(&tag);
    Ok(())
}

/// What all kinds have in common.
fn head(header: &mut [u8], [kind, flags, blocks]: [u8; 3], address: Address, len: u16) {
    header[..4].copy_from_slice(&MAGIC);
    header[4..8].copy_from_slice(&[VERSION, kind, flags, blocks]);
    header[8..10].copy_from_slice(&address.stream.to_be_bytes());
    header[10..12].copy_from_slice(&len.to_be_bytes());
    header[16..24].copy_from_slice(&address.session.to_be_bytes());
    header[TAG_AT..AFTER_TAG].fill(0);
}

/// Numbers in network byte order at a place that the array's length vouches for.
fn short<const N: usize>(octets: &[u8; N], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

fn word<const N: usize>(octets: &[u8; N], at: usize) -> u32 {
    u32::from(short(octets, at)) << 16 | u32::from(short(octets, at + 2))
}

fn long<const N: usize>(octets: &[u8; N], at: usize) -> u64 {
    u64::from(word(octets, at)) << 32 | u64::from(word(octets, at + 4))
}

#[cfg(test)]
mod tests;
