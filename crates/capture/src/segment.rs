//! The IP and TCP headers of a segment that never was on a network: a simulated one.

use crate::dissect::Flags;
use crate::ip;
use std::net::SocketAddr;
use units::TrafficClass;

const TCP: u8 = 6;
const TCP_HEADER: usize = 20;
/// The most octets of options (RFC 9293 section 3.1: the header's length has four bits).
const MOST_OPTIONS: usize = 40;

/// A segment of TCP, whose payload is zeros.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// Whom it was sent to.
    pub to: SocketAddr,
    /// DSCP and ECN.
    pub class: TrafficClass,
    /// Time to live, or hop limit.
    pub hop_limit: u8,
    /// The number of its first octet, or of its SYN.
    pub seq: u32,
    /// The number that is expected next; with [`Flags::ACK`] only.
    pub ack: u32,
    /// SYN, FIN and so on.
    pub flags: Flags,
    /// The window as it stands in the header, shifted already.
    pub window: u16,
    /// Options as on the wire, whole words of four octets; no more than the header has room for is written.
    pub options: &'a [u8],
    /// Octets of payload.
    pub len: usize,
}

impl Segment<'_> {
    /// Appends the headers to `out`, with right checksums, and returns the octets that the packet had with its payload.
    pub fn write(&self, out: &mut Vec<u8>) -> usize {
        let words = self.options.len().min(MOST_OPTIONS) / 4;
        let header = TCP_HEADER + 4 * words;
        let payload = self
            .len
            .min(usize::from(u16::MAX) - header - ip::IPV4_HEADER);
        let octets = u16::try_from(header + payload).unwrap_or(u16::MAX);
        let ends = [self.from, self.to].map(|end| end.ip());
        let (ip, mut sum) = ip::header(ends, self.class, self.hop_limit, (TCP, octets), out);
        let begin = out.len();
        out.extend(self.from.port().to_be_bytes());
        out.extend(self.to.port().to_be_bytes());
        out.extend(self.seq.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        // At most 15 words.
        out.push(u8::try_from(header / 4).unwrap_or(15) << 4);
        out.push(self.flags.0);
        out.extend(self.window.to_be_bytes());
        out.extend([0; 4]);
        out.extend(&self.options[..4 * words]);
        sum.add(&out[begin..]);
        out[begin + 16..begin + 18].copy_from_slice(&sum.finish().to_be_bytes());
        ip + header + payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dissect::{Dissected, dissect};
    use crate::read::Packet;
    use proptest::prelude::*;

    /// `LINKTYPE_RAW`: an IP packet.
    const RAW: u16 = 101;

    proptest! {
        /// What is written is found again.
        #[test]
        fn a_segment_is_read_as_it_was_written(
            seq: u32, ack: u32, flags in 0_u8..=255, window: u16, len in 0_usize..1_461, v6: bool,
        ) {
            let address = if v6 { "[2001:db8::1]:1024" } else { "192.0.2.1:1024" };
            let mut octets = Vec::new();
            let original = Segment {
                from: address.parse().unwrap(),
                to: address.parse().unwrap(),
                class: TrafficClass::default(),
                hop_limit: 64,
                seq,
                ack,
                flags: Flags(flags),
                window,
                options: &[1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9],
                len,
            }
            .write(&mut octets);
            prop_assert_eq!(original, octets.len() + len);
            let packet = Packet {
                at_ns: 0,
                link: RAW,
                original_len: u32::try_from(original).unwrap(),
                octets: &octets,
            };
            let Dissected::Tcp(segment) = dissect(&packet) else {
                return Err(TestCaseError::fail("no segment"));
            };
            prop_assert_eq!((segment.seq, segment.ack, segment.flags), (seq, ack, Flags(flags)));
            prop_assert_eq!((segment.window, segment.payload as usize), (window, len));
            prop_assert_eq!(segment.options.timestamps, Some((7, 9)));
            // The sum over everything, its own field included, is zero (RFC 1071).
            let ip = if v6 { 40 } else { 20 };
            let mut sum = packet::Sum::default();
            let address_octets = if v6 { &octets[8..40] } else { &octets[12..20] };
            sum.add(address_octets);
            sum.add_u32(6);
            sum.add_u32(u32::try_from(original - ip).unwrap());
            sum.add(&octets[ip..]);
            prop_assert_eq!(sum.finish(), 0);
        }
    }
}
