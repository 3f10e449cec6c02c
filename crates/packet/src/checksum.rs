//! Checksums that the kernel left to a network card (RFC 1071).

use super::Partial;
use super::header::{be16, tcp, v4, v4_length, v6};
use crate::sum::Sum;

/// The protocol number of TCP.
const TCP: u8 = 6;
/// The bits of IPv4's fragment field that are set in every fragment: more follow, and the offset.
const FRAGMENT: u16 = 0x3fff;

/// Completes a checksum that holds the sum of its pseudo-header only. A mark that points outside the packet changes nothing.
pub(super) fn complete(packet: &mut [u8], partial: Partial) {
    let (start, offset) = (usize::from(partial.start), usize::from(partial.offset));
    let Some(segment) = packet.get_mut(start..) else {
        return;
    };
    let sum = match sum(segment).finish() {
        // In UDP zero would say that there is none (RFC 768); in TCP both mean the same.
        0 => u16::MAX,
        sum => sum,
    };
    if let Some(field) = segment.get_mut(offset..offset + 2) {
        field.copy_from_slice(&sum.to_be_bytes());
    }
}

/// The opposite of [`complete`], for TCP whose checksum is right; none, and nothing is changed, for everything else.
pub(super) fn take_back(packet: &mut [u8]) -> Option<Partial> {
    let (start, addresses) = tcp_start(packet)?;
    let segment = packet.get(start..).filter(|segment| segment.len() >= 20)?;
    let mut pseudo = sum(packet.get(addresses)?);
    pseudo.add_u32(TCP.into());
    pseudo.add_u32(segment.len() as u32);
    let mut all = pseudo;
    all.add(segment);
    if all.folded() != u16::MAX {
        return None;
    }
    let field = packet.get_mut(start + tcp::CHECKSUM..)?;
    let field = field.first_chunk_mut::<2>()?;
    *field = pseudo.folded().to_be_bytes();
    Some(Partial {
        start: start as u16,
        offset: tcp::CHECKSUM as u16,
    })
}

/// Where the TCP header of a packet begins, and where its addresses are.
fn tcp_start(packet: &[u8]) -> Option<(usize, std::ops::Range<usize>)> {
    match packet.first()? >> 4 {
        4 => {
            let is_whole = be16(packet, v4::FRAGMENT)? & FRAGMENT == 0;
            let is_tcp = *packet.get(v4::PROTOCOL)? == TCP;
            let length = v4_length(packet).filter(|_| is_tcp && is_whole)?;
            Some((length, v4::ADDRESSES))
        }
        6 => {
            let is_tcp = *packet.get(v6::NEXT_HEADER)? == TCP;
            is_tcp.then_some((v6::LENGTH, v6::ADDRESSES))
        }
        _ => None,
    }
}

/// The sum of all 16-bit words, the last one filled up with zero.
fn sum(octets: &[u8]) -> Sum {
    let mut sum = Sum::default();
    sum.add(octets);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_complete_checksum_makes_the_sum_all_ones(
            mut packet in prop::collection::vec(any::<u8>(), 40..200),
            pseudo: u16,
        ) {
            let partial = Partial { start: 20, offset: 16 };
            packet[36..38].copy_from_slice(&pseudo.to_be_bytes());
            complete(&mut packet, partial);
            // What a receiver adds: the pseudo-header and the segment.
            let mut sum = sum(&packet[20..]);
            sum.add_u32(pseudo.into());
            prop_assert_eq!(sum.folded(), u16::MAX);
        }

        #[test]
        fn what_was_taken_back_is_completed_to_what_it_was(
            mut packet in prop::collection::vec(any::<u8>(), 60..200),
            ipv4: bool,
            is_right: bool,
        ) {
            let start = if ipv4 { 20 } else { 40 };
            packet[0] = if ipv4 { 0x45 } else { 0x60 };
            packet[v4::FRAGMENT..v4::FRAGMENT + 2].fill(0);
            packet[if ipv4 { v4::PROTOCOL } else { v6::NEXT_HEADER }] = TCP;
            let addresses = if ipv4 { v4::ADDRESSES } else { v6::ADDRESSES };
            let length = packet.len() - start;
            let mut pseudo = sum(&packet[addresses]);
            pseudo.add_u32(TCP.into());
            pseudo.add_u32(length as u32);
            let pseudo = pseudo.folded();
            packet[start + 16..start + 18].copy_from_slice(&pseudo.to_be_bytes());
            let (partial, marked) = (Partial { start: start as u16, offset: 16 }, packet.clone());
            complete(&mut packet, partial);
            packet[start + 7] ^= u8::from(!is_right);
            let came = packet.clone();
            let taken = take_back(&mut packet);
            prop_assert_eq!(taken, is_right.then_some(partial));
            if is_right {
                prop_assert_eq!(&packet, &marked);
                complete(&mut packet, partial);
            }
            prop_assert_eq!(packet, came);
        }

        #[test]
        fn any_octets_are_taken_back_or_left(mut octets in prop::collection::vec(any::<u8>(), 0..80), version in 4_u8..7) {
            if let Some(first) = octets.first_mut() {
                *first = version << 4 | *first & 0x0f;
            }
            let length = octets.len();
            let _ = take_back(&mut octets);
            prop_assert_eq!(octets.len(), length);
        }

        #[test]
        fn a_mark_outside_the_packet_does_no_harm(start: u16, offset: u16, mut packet in prop::collection::vec(any::<u8>(), 0..60)) {
            let length = packet.len();
            complete(&mut packet, Partial { start, offset });
            prop_assert_eq!(packet.len(), length);
        }
    }
}
