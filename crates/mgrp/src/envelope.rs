//! What a packet travels in between two hosts that share keys.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------------------------------------------------------+
//! |                        session number                         |  0
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                              tag                              |  8
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                      a packet (MGRP) ...                      | 16
//! ```
//!
//! The same octets go into a UDP datagram, which crosses translators of addresses and firewalls, and right behind an IP header
//! with protocol 254 (RFC 3692, as in T section 4.1), where the hosts and all between them let it pass. The tag is a keyed hash over the session number,
//! the *epoch* and the packet. The epoch is the upper half of the packet's 64-bit number, of which the packet itself has
//! the lower half (RFC 4304 does the same for IPsec): it is known to both ends and never sent, so that a packet that somebody
//! kept does not pass when the 32 bits have come round, which at 2 Gbit/s they do in seven hours.
//!
//! Which hash it is, and the key, are the caller's: a function of two runs of octets, hashed one after the other. Each
//! direction has a key of its own, else a packet could be thrown back at its sender.
//!
//! The octets are not encrypted: an application's packet is as open in it as it was outside.

use crate::packet::{HEADER, Packet};

/// Octets of a tag.
pub const TAG: usize = 8;
/// Octets of the envelope: session number and tag.
pub const ENVELOPE: usize = 8 + TAG;
/// IP's number for protocols that are tried out, the second of two (RFC 3692).
pub const IP_PROTOCOL: u8 = 254;

/// What carries envelopes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Carrier {
    /// UDP in IPv4 without options.
    #[default]
    UdpV4,
    /// UDP in IPv6 without extension headers.
    UdpV6,
    /// IPv4 with [`IP_PROTOCOL`].
    RawV4,
    /// IPv6 with [`IP_PROTOCOL`].
    RawV6,
}

impl Carrier {
    /// Octets of the headers in front of the envelope: IP's, and UDP's.
    pub const fn outside(self) -> usize {
        match self {
            Self::UdpV4 => 20 + 8,
            Self::UdpV6 => 40 + 8,
            Self::RawV4 => 20,
            Self::RawV6 => 40,
        }
    }

    /// Octets of an IP packet that are neither probe nor payload nor padding: 60, 80, 52 and 72.
    pub const fn overhead(self) -> usize {
        self.outside() + ENVELOPE + HEADER
    }
}

/// An envelope that came, not yet believed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Envelope<'a> {
    /// Whose keys it claims to be made with.
    pub session: u64,
    /// The lower half of its packet's number.
    pub sequence: u32,
    tag: [u8; TAG],
    packet: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Reads an envelope; none when there is no room for its packet's number.
    pub fn parse(datagram: &'a [u8]) -> Option<Self> {
        let (session, rest) = datagram.split_first_chunk::<8>()?;
        let (tag, packet) = rest.split_first_chunk::<TAG>()?;
        Some(Self {
            session: u64::from_be_bytes(*session),
            sequence: u32::from_be_bytes(*packet.first_chunk::<4>()?),
            tag: *tag,
            packet,
        })
    }

    /// The packet, if the tag is right for one whose full number is `sequence`.
    pub fn open(&self, sequence: u64, tag: impl Fn(&[u8], &[u8]) -> [u8; TAG]) -> Option<&'a [u8]> {
        let right = tag(&before(self.session, sequence), self.packet);
        // As one word, so that the time taken does not tell how much of a guess was right.
        let differs = u64::from_ne_bytes(right) ^ u64::from_ne_bytes(self.tag);
        (differs == 0).then_some(self.packet)
    }
}

/// The envelope's octets for a packet that is appended next; the tag is left open.
pub fn begin(session: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&session.to_be_bytes());
    out.extend_from_slice(&[0; TAG]);
}

/// Stamps and tags a datagram whose packet has the full number `sequence`, as the last thing before it leaves. Octets that
/// are too short for an envelope stay as they are.
pub fn seal(
    datagram: &mut [u8],
    sequence: u64,
    stamp_ns: u64,
    tag: impl Fn(&[u8], &[u8]) -> [u8; TAG],
) {
    let Some((session, rest)) = datagram.split_first_chunk_mut::<8>() else {
        return;
    };
    let Some((room, packet)) = rest.split_first_chunk_mut::<TAG>() else {
        return;
    };
    Packet::stamp(packet, stamp_ns);
    *room = tag(&before(u64::from_be_bytes(*session), sequence), packet);
}

/// What is hashed before the packet: session number and epoch.
fn before(session: u64, sequence: u64) -> [u8; 12] {
    let mut octets = [0; 12];
    let (number, epoch) = octets.split_at_mut(8);
    number.copy_from_slice(&session.to_be_bytes());
    epoch.copy_from_slice(&sequence.to_be_bytes()[..4]);
    octets
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// No tag of any use, but one that every octet changes.
    pub(crate) fn tag(before: &[u8], after: &[u8]) -> [u8; TAG] {
        let octets = before.iter().chain(after);
        let hash = octets.fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| {
            (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3)
        });
        hash.to_be_bytes()
    }

    fn sealed(sequence: u64, stamp_ns: u64) -> Vec<u8> {
        let packet = Packet {
            sequence: u32::try_from(sequence & 0xffff_ffff).unwrap(),
            probe: Some(b"probe"),
            padding: 10,
            ..Packet::default()
        };
        let mut datagram = Vec::new();
        begin(0x0102_0304_0506_0708, &mut datagram);
        packet.emit(&mut datagram).unwrap();
        seal(&mut datagram, sequence, stamp_ns, tag);
        datagram
    }

    /// Holds manager/header.
    #[test]
    fn the_octets_are_in_their_places() {
        let datagram = sealed(7, 9);
        let before = [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0];
        assert_eq!(datagram[..8], before[..8]);
        assert_eq!(datagram[8..16], tag(&before, &datagram[16..]));
        assert_eq!(datagram.len(), ENVELOPE + HEADER + 5 + 10);
        assert_eq!(Carrier::UdpV4.overhead(), 60);
        assert_eq!(Carrier::RawV6.overhead(), 72);
    }

    #[test]
    fn a_packet_of_another_epoch_is_not_believed() {
        let number = 5 << 32 | 7;
        let datagram = sealed(number, 1 << 40);
        let envelope = Envelope::parse(&datagram).unwrap();
        let packet = Packet::parse(envelope.open(number, tag).unwrap()).unwrap();
        assert_eq!((packet.sequence, packet.stamp_ns), (7, 1 << 40));
        assert_eq!(envelope.open(6 << 32 | 7, tag), None);
    }

    proptest! {
        #[test]
        fn no_octet_can_be_changed(at in 0_usize..47, by in 1_u8..) {
            let mut datagram = sealed(3, 4);
            datagram[at] ^= by;
            let envelope = Envelope::parse(&datagram).unwrap();
            prop_assert_eq!(envelope.open(3, tag), None);
        }

        #[test]
        fn any_octets_are_read_or_refused(mut octets in prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assert_eq!(Envelope::parse(&octets).is_some(), octets.len() >= ENVELOPE + 4);
            seal(&mut octets, 5, 6, tag);
            if let Some(envelope) = Envelope::parse(&octets) {
                prop_assert!(envelope.open(5, tag).is_some());
            }
        }
    }
}
