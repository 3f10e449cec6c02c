//! The IP and UDP headers that a datagram had, made up of what its socket knows.

use crate::ip;
use packet::Sum;
use std::net::SocketAddr;
use units::TrafficClass;

const UDP: u8 = 17;
const UDP_HEADER: usize = 8;

/// A UDP datagram as a socket knows it.
///
/// The headers that [`Datagram::write`] makes say what is known. What is not is as it would be on a Linux host: the
/// datagram is not fragmented and not to be (DF), so its IPv4 identification means nothing and is zero (RFC 6864 section
/// 4.1); the IPv6 flow label is zero. An IPv4-mapped address is written as the IPv4 address that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// Whom it was sent to.
    pub to: SocketAddr,
    /// DSCP and ECN: as sent in a sender's capture, as received in a receiver's.
    pub class: TrafficClass,
    /// Time to live, or hop limit.
    pub hop_limit: u8,
    /// The beginning of its payload, as much as was kept.
    pub kept: &'a [u8],
    /// Octets of payload that it carried; less than `kept` counts as that many.
    pub len: usize,
}

impl Datagram<'_> {
    /// Appends the packet to `out`, from its IP header to the last octet that was kept, and returns the octets that it had
    /// on the network.
    ///
    /// Both checksums are right for a payload whose octets that were not kept are zero; where they were not, UDP's is that of
    /// another payload, which nobody can tell who has not got the octets.
    pub fn write(&self, out: &mut Vec<u8>) -> usize {
        let most = usize::from(u16::MAX) - UDP_HEADER - ip::IPV4_HEADER;
        let payload = self.len.max(self.kept.len()).min(most);
        let kept = &self.kept[..self.kept.len().min(payload)];
        // At most 65,535 with the header, as was just seen.
        let udp_len = u16::try_from(UDP_HEADER + payload).unwrap_or(u16::MAX);
        let ends = [self.from, self.to].map(|end| end.ip());
        let (header, pseudo) = ip::header(ends, self.class, self.hop_limit, (UDP, udp_len), out);
        self.udp(udp_len, kept, pseudo, out);
        header + UDP_HEADER + payload
    }

    /// RFC 768, with the sum of its pseudo header (RFC 8200 section 8.1 has the other form of it; the sum is the same).
    fn udp(&self, udp_len: u16, kept: &[u8], pseudo: Sum, out: &mut Vec<u8>) {
        let mut header = [0; UDP_HEADER];
        header[0..2].copy_from_slice(&self.from.port().to_be_bytes());
        header[2..4].copy_from_slice(&self.to.port().to_be_bytes());
        header[4..6].copy_from_slice(&udp_len.to_be_bytes());
        let mut sum = pseudo;
        sum.add(&header);
        sum.add(kept);
        // Zero says that there is none.
        let checksum = match sum.finish() {
            0 => 0xffff,
            other => other,
        };
        header[6..8].copy_from_slice(&checksum.to_be_bytes());
        out.extend(header);
        out.extend(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn datagram<'a>(from: &str, to: &str, kept: &'a [u8], len: usize) -> Datagram<'a> {
        Datagram {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
            class: TrafficClass::from_octet(0xb9),
            hop_limit: 64,
            kept,
            len,
        }
    }

    fn written(datagram: &Datagram<'_>) -> (Vec<u8>, usize) {
        let mut octets = Vec::new();
        let original = datagram.write(&mut octets);
        (octets, original)
    }

    /// The sum over a header, its checksum included, is all ones (RFC 1071 section 1).
    fn is_right(parts: &[&[u8]]) -> bool {
        let mut sum = Sum::default();
        for part in parts {
            sum.add(part);
        }
        sum.finish() == 0
    }

    #[test]
    fn an_ipv4_packet_has_the_octets_that_the_kernel_would_send() {
        let (octets, original) = written(&datagram(
            "10.77.0.1:40000",
            "10.77.0.2:4890",
            b"ISOB\x01",
            5,
        ));
        assert_eq!(original, 33);
        let header =
            b"\x45\xb9\x00\x21\x00\x00\x40\x00\x40\x11\x25\x77\x0a\x4d\x00\x01\x0a\x4d\x00\x02";
        assert_eq!(octets[..20], header[..]);
        assert_eq!(octets[20..26], *b"\x9c\x40\x13\x1a\x00\x0d");
        assert_eq!(octets[28..], *b"ISOB\x01");
    }

    #[test]
    fn an_ipv6_packet_has_its_class_and_length_in_place() {
        let (octets, original) =
            written(&datagram("[fd77::1]:40000", "[fd77::2]:4890", b"ISOB", 4));
        assert_eq!((octets.len(), original), (52, 52));
        assert_eq!(octets[..8], *b"\x6b\x90\x00\x00\x00\x0c\x11\x40");
    }

    #[test]
    fn a_mapped_address_travels_in_ipv4() {
        let (octets, original) = written(&datagram(
            "[::ffff:10.77.0.1]:40000",
            "[::ffff:10.77.0.2]:4890",
            b"",
            100,
        ));
        assert_eq!((octets.len(), original), (28, 128));
        assert_eq!(octets[0], 0x45);
    }

    #[test]
    fn a_checksum_of_zero_is_written_as_ones() {
        // Protocol and both lengths make 0x2d, the port 2, the payload the rest of 0xffff.
        let kept = b"\xff\xd0\x00\x00\x00\x00";
        let (octets, _) = written(&datagram("0.0.0.0:0", "0.0.0.0:2", kept, 6));
        assert_eq!(octets[26..28], [0xff, 0xff]);
    }

    proptest! {
        #[test]
        fn both_checksums_are_right_over_headers_and_a_padded_payload(
            v6: bool,
            kept in prop::collection::vec(any::<u8>(), 0..120),
            more in 0_usize..1_400,
            ports: (u16, u16),
            octet: u8,
        ) {
            let (from, to) = if v6 { ("[fd77::1]", "[fd77::2]") } else { ("10.77.0.1", "10.77.0.2") };
            let len = kept.len() + more;
            let mut datagram = datagram(&format!("{from}:{}", ports.0), &format!("{to}:{}", ports.1), &kept, len);
            datagram.class = TrafficClass::from_octet(octet);
            let (octets, original) = written(&datagram);
            let header = if v6 { 40 } else { 20 };
            prop_assert_eq!(original, header + 8 + len);
            prop_assert_eq!(octets.len(), header + 8 + kept.len());
            let addresses = if v6 { &octets[8..40] } else { &octets[12..20] };
            let udp_len = u32::try_from(8 + len).unwrap().to_be_bytes();
            prop_assert!(v6 || is_right(&[&octets[..20]]));
            prop_assert!(is_right(&[addresses, &udp_len, &[0, 17], &octets[header..]]));
        }

        #[test]
        fn no_length_is_too_long(len in 0_usize..1 << 40, kept in 0_usize..70_000) {
            let kept = vec![7; kept];
            let (octets, original) = written(&datagram("10.77.0.1:1", "10.77.0.2:2", &kept, len));
            prop_assert!(octets.len() <= original && original <= 65_535);
        }
    }
}
