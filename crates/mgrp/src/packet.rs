//! One packet on the wire: at most a probe and a piece of somebody's payload, and padding.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------------------------------------------------------+
//! |                        sequence number                        |  0
//! +---------------------------------------------------------------+
//! |                    time stamp, ns, modulo 2^48                |  4
//! |                               +---------------+---------------+
//! |                               |     flags     |    channel    |  8
//! +-------------------------------+---------------+---------------+
//! |             TUN 0             |             TUN 1             | 12
//! +-------------------------------+-------------------------------+
//! ```
//!
//! Flags: the number of TUNs (transport units) in the two lowest bits, then `HAS_UNUSED_PADDING`. A TUN's sub-header has its protocol in the two
//! highest bits (1 probe, 2 whole packet, 3 fragment) and its length in the twelve lowest. The units follow the header in their order,
//! and padding follows them (T section 4.2, whose figure does not give the widths within a sub-header). A fragment begins with
//! eight octets of its own: identifier (32 bits), offset (16), flags (8, of which the lowest says that it is the last), and
//! the IP protocol of the packet that was cut (8). The channel, unused in T, says which of the receiver's tools a probe is for.

use thiserror::Error;

/// Octets of the header.
pub const HEADER: usize = 16;
/// Octets of the header of a fragment.
pub const FRAGMENT_HEADER: usize = 8;
/// The longest unit.
pub const MOST_UNIT: usize = 0x0fff;
/// Time stamps are told modulo this, in nanoseconds: 78 hours.
pub const STAMPS: u64 = 1 << 48;

const TUNS: u8 = 0b11;
const HAS_UNUSED_PADDING: u8 = 0b100;
const LAST: u8 = 1;
const PROBE: u16 = 1;
const WHOLE: u16 = 2;
const FRAGMENT: u16 = 3;

/// Why octets are no packet.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum PacketError {
    /// Shorter than its header, or than its header says.
    #[error("packet shorter than it says")]
    Short,
    /// Neither probe nor payload, more than one of either, or units out of their order.
    #[error("packet with units that do not go together")]
    Units,
    /// Padding where the flags say that there is none, or the other way round.
    #[error("padding that the flags do not tell of")]
    Padding,
    /// To be written: longer than a unit can be.
    #[error("a unit of {0} octets, at most {MOST_UNIT} can be carried")]
    Long(usize),
}

/// A piece of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fragment<'a> {
    /// Which packet, among those of its sender.
    pub id: u32,
    /// Where in it.
    pub offset: u16,
    /// Whether nothing follows.
    pub is_last: bool,
    /// The protocol of that packet, as IP numbers it.
    pub protocol: u8,
    /// Its octets.
    pub octets: &'a [u8],
}

/// What a packet carries beside a probe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Payload<'a> {
    /// A whole packet, from its IP header on.
    Whole(&'a [u8]),
    /// A piece of one.
    Fragment(Fragment<'a>),
}

/// A packet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Packet<'a> {
    /// Counts a sender's packets.
    pub sequence: u32,
    /// When it left, in nanoseconds, modulo [`STAMPS`].
    pub stamp_ns: u64,
    /// Which of the receiver's tools the probe is for.
    pub channel: u8,
    /// The probe's own octets, without padding.
    pub probe: Option<&'a [u8]>,
    /// What it carries.
    pub payload: Option<Payload<'a>>,
    /// Octets of padding.
    pub padding: usize,
}

impl<'a> Packet<'a> {
    /// Reads a packet; any octets are read or refused.
    ///
    /// # Errors
    /// [`PacketError`] for what no sender makes.
    pub fn parse(octets: &'a [u8]) -> Result<Self, PacketError> {
        let (header, mut rest) = octets
            .split_first_chunk::<HEADER>()
            .ok_or(PacketError::Short)?;
        let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let flags = header[10];
        let mut packet = Packet {
            sequence: u32::from_be_bytes([header[0], header[1], header[2], header[3]]),
            stamp_ns: u64::from(word(4)) << 32 | u64::from(word(6)) << 16 | u64::from(word(8)),
            channel: header[11],
            ..Packet::default()
        };
        let tuns = [word(12), word(14)];
        let count = usize::from(flags & TUNS);
        for tun in tuns.get(..count).ok_or(PacketError::Units)? {
            let length = usize::from(tun & 0x0fff);
            let (unit, after) = rest.split_at_checked(length).ok_or(PacketError::Short)?;
            packet.enter(tun >> 14, unit)?;
            rest = after;
        }
        let is_padded = flags & HAS_UNUSED_PADDING != 0;
        if count == 0 || is_padded == rest.is_empty() {
            let error = if count == 0 {
                PacketError::Units
            } else {
                PacketError::Padding
            };
            return Err(error);
        }
        packet.padding = rest.len();
        Ok(packet)
    }

    /// A unit of this protocol is in it.
    fn enter(&mut self, protocol: u16, unit: &'a [u8]) -> Result<(), PacketError> {
        match protocol {
            // A probe comes first.
            PROBE if self.probe.is_none() && self.payload.is_none() => self.probe = Some(unit),
            WHOLE if self.payload.is_none() => self.payload = Some(Payload::Whole(unit)),
            FRAGMENT if self.payload.is_none() => {
                self.payload = Some(Payload::Fragment(Fragment::parse(unit)?));
            }
            _ => return Err(PacketError::Units),
        }
        Ok(())
    }

    /// Octets that it takes on the wire.
    pub fn length(&self) -> usize {
        let probe = self.probe.map_or(0, <[u8]>::len);
        let payload = self.payload.as_ref().map_or(0, Payload::length);
        HEADER + probe + payload + self.padding
    }

    /// Appends it to `out`.
    ///
    /// # Errors
    /// [`PacketError::Long`] and [`PacketError::Units`] for what cannot be told; then nothing is appended.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), PacketError> {
        let probe = self.probe.map(|probe| tun(PROBE, probe.len()));
        let payload = self.payload.as_ref().map(|payload| {
            let protocol = match payload {
                Payload::Whole(_) => WHOLE,
                Payload::Fragment(_) => FRAGMENT,
            };
            tun(protocol, payload.length())
        });
        let mut tuns = [0_u16; 2];
        let mut count = 0;
        for (slot, unit) in tuns.iter_mut().zip(probe.into_iter().chain(payload)) {
            *slot = unit?;
            count += 1;
        }
        if count == 0 {
            return Err(PacketError::Units);
        }
        let padded = if self.padding > 0 {
            HAS_UNUSED_PADDING
        } else {
            0
        };
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&self.stamp_ns.to_be_bytes()[2..]);
        out.extend_from_slice(&[count | padded, self.channel]);
        for tun in tuns {
            out.extend_from_slice(&tun.to_be_bytes());
        }
        out.extend_from_slice(self.probe.unwrap_or_default());
        if let Some(payload) = &self.payload {
            payload.emit(out);
        }
        out.resize(out.len() + self.padding, 0);
        Ok(())
    }

    /// Writes a time stamp into a packet's octets, as the last thing before it leaves (T section 3.2.1). Octets that are too short for a
    /// header stay as they are.
    pub fn stamp(octets: &mut [u8], stamp_ns: u64) {
        if let Some(field) = octets.get_mut(4..10) {
            field.copy_from_slice(&stamp_ns.to_be_bytes()[2..]);
        }
    }
}

fn tun(protocol: u16, length: usize) -> Result<u16, PacketError> {
    if length > MOST_UNIT {
        return Err(PacketError::Long(length));
    }
    Ok(protocol << 14 | u16::try_from(length).unwrap_or_default())
}

impl Payload<'_> {
    /// Octets that it takes in a packet.
    pub const fn length(&self) -> usize {
        match self {
            Self::Whole(octets) => octets.len(),
            Self::Fragment(fragment) => FRAGMENT_HEADER + fragment.octets.len(),
        }
    }

    fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Whole(octets) => out.extend_from_slice(octets),
            Self::Fragment(fragment) => {
                out.extend_from_slice(&fragment.id.to_be_bytes());
                out.extend_from_slice(&fragment.offset.to_be_bytes());
                out.extend_from_slice(&[u8::from(fragment.is_last) * LAST, fragment.protocol]);
                out.extend_from_slice(fragment.octets);
            }
        }
    }
}

impl<'a> Fragment<'a> {
    fn parse(unit: &'a [u8]) -> Result<Self, PacketError> {
        let (header, octets) = unit
            .split_first_chunk::<FRAGMENT_HEADER>()
            .ok_or(PacketError::Short)?;
        Ok(Self {
            id: u32::from_be_bytes([header[0], header[1], header[2], header[3]]),
            offset: u16::from_be_bytes([header[4], header[5]]),
            is_last: header[6] & LAST != 0,
            protocol: header[7],
            octets,
        })
    }
}

/// The full time of a stamp: of all that end in it, the one that is nearest to `near_ns`.
pub const fn whole_stamp(stamp_ns: u64, near_ns: u64) -> u64 {
    const HALF: u64 = STAMPS / 2;
    let ahead = stamp_ns.wrapping_sub(near_ns) % STAMPS;
    if ahead < HALF {
        near_ns.wrapping_add(ahead)
    } else {
        near_ns.wrapping_sub(STAMPS - ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Holds manager/header, manager/flags, manager/unit, manager/fragments.
    #[test]
    fn the_octets_are_in_their_places() {
        let packet = Packet {
            sequence: 0x0102_0304,
            stamp_ns: 0x1112_1314_1516,
            channel: 0x17,
            probe: Some(b"pr"),
            payload: Some(Payload::Fragment(Fragment {
                id: 0x2122_2324,
                offset: 0x3132,
                is_last: true,
                protocol: 0x33,
                octets: b"rest",
            })),
            padding: 3,
        };
        let mut out = Vec::new();
        packet.emit(&mut out).unwrap();
        let head = [
            1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0b110, 0x17, 0x40, 2, 0xc0, 12,
        ];
        assert_eq!(out[..HEADER], head);
        assert_eq!(
            &out[HEADER..],
            b"pr\x21\x22\x23\x24\x31\x32\x01\x33rest\0\0\0"
        );
        assert_eq!(out.len(), packet.length());
        Packet::stamp(&mut out, STAMPS + 5);
        let stamped = Packet {
            stamp_ns: 5,
            ..packet
        };
        assert_eq!(Packet::parse(&out), Ok(stamped));
        Packet::stamp(&mut [0; 9], 5);
    }

    /// Holds manager/flags.
    #[test]
    fn what_no_sender_makes_is_refused() {
        let mut out = Vec::new();
        assert_eq!(Packet::default().emit(&mut out), Err(PacketError::Units));
        let long = vec![0; MOST_UNIT + 1];
        let packet = Packet {
            payload: Some(Payload::Whole(&long)),
            ..Packet::default()
        };
        assert_eq!(packet.emit(&mut out), Err(PacketError::Long(4_096)));
        assert!(out.is_empty(), "nothing of it was written");
        let packet = Packet {
            probe: Some(b"x"),
            ..Packet::default()
        };
        packet.emit(&mut out).unwrap();
        assert_eq!(Packet::parse(&out[..16]), Err(PacketError::Short));
        out[10] |= HAS_UNUSED_PADDING;
        assert_eq!(Packet::parse(&out), Err(PacketError::Padding));
        out[10] = 2;
        assert_eq!(
            Packet::parse(&out),
            Err(PacketError::Units),
            "a unit of no protocol"
        );
        out[10] = 3;
        assert_eq!(Packet::parse(&out), Err(PacketError::Units), "three units");
    }

    fn payload(octets: &[u8], kind: u8, id: u32, offset: u16) -> Option<Payload<'_>> {
        match kind {
            0 => None,
            1 => Some(Payload::Whole(octets)),
            _ => Some(Payload::Fragment(Fragment {
                id,
                offset,
                is_last: kind == 2,
                protocol: id.to_be_bytes()[0],
                octets,
            })),
        }
    }

    proptest! {
        /// Holds manager/unit.
        #[test]
        fn a_packet_survives_the_wire(
            sequence: u32,
            stamp_ns in 0..STAMPS,
            probe in prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
            octets in prop::collection::vec(any::<u8>(), 0..1_500),
            (kind, id, offset) in (0_u8..4, any::<u32>(), any::<u16>()),
            padding in 0_usize..60,
        ) {
            let packet = Packet {
                sequence,
                stamp_ns,
                channel: sequence.to_be_bytes()[3],
                probe: probe.as_deref(),
                payload: payload(&octets, kind, id, offset),
                padding,
            };
            prop_assume!(packet.probe.is_some() || packet.payload.is_some());
            let mut out = Vec::new();
            packet.emit(&mut out).unwrap();
            prop_assert_eq!(out.len(), packet.length());
            prop_assert_eq!(Packet::parse(&out), Ok(packet));
        }

        #[test]
        fn any_octets_are_read_or_refused(octets in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(packet) = Packet::parse(&octets) {
                prop_assert_eq!(packet.length(), octets.len());
            }
        }

        /// Holds manager/stamp.
        #[test]
        fn a_stamp_is_told_whole_by_who_knows_the_hour(at in STAMPS..u64::MAX / 2, off in -(1_i64 << 46)..1 << 46) {
            let near = at.saturating_add_signed(off);
            prop_assert_eq!(whole_stamp(at % STAMPS, near), at);
        }
    }
}
