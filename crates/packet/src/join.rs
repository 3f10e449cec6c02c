//! Joining packets that leave together into one burst, as a network card with receive offload does.

use super::header::{self, VirtioHeader, be32, put16, tcp, v4, v6};
use super::{Frame, split};
use crate::header::VNET_HEADER;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;

/// Longest IP packet.
const MOST_BYTES: usize = 65_535;
/// Most packets in one burst: far below the kernel's limits on pieces of one write and of one buffer.
const MOST_PACKETS: usize = 64;
/// Longest IP and TCP headers together.
const MOST_HEADER: usize = 60 + 60;

/// The first packets of a queue that can go to the kernel in one write.
#[derive(Debug)]
pub struct Burst {
    /// How many packets.
    pub count: usize,
    /// The virtio-net header, and for more than one packet the amended IP and TCP headers.
    head: [u8; VNET_HEADER + MOST_HEADER],
    head_length: usize,
    /// Where in each packet its part of the burst begins.
    body_from: usize,
}

impl Burst {
    /// The pieces of the write: the header, then each packet's part.
    pub fn pieces<'a>(
        &'a self,
        frames: impl Iterator<Item = &'a Frame>,
        pieces: &mut Vec<IoSlice<'a>>,
    ) {
        pieces.push(IoSlice::new(&self.head[..self.head_length]));
        pieces.extend(
            frames
                .take(self.count)
                .map(|f| IoSlice::new(&f.bytes[self.body_from..])),
        );
    }
}

/// The longest burst at the front of `queue`, at most `within` packets. `None` when that is empty.
pub fn next_burst<T: AsRef<Frame>>(queue: &VecDeque<T>, within: usize) -> Option<Burst> {
    let first = queue.front().filter(|_| within > 0)?.as_ref();
    let rest = queue.iter().skip(1).take(within.min(MOST_PACKETS) - 1);
    let burst = Segment::new(first).and_then(|segment| {
        let followers = segment.followers(first, rest.map(AsRef::as_ref));
        (followers > 0).then(|| joined(queue, first, &segment, 1 + followers))
    });
    Some(burst.unwrap_or_else(|| single(first)))
}

fn single(frame: &Frame) -> Burst {
    let mut header = VirtioHeader::default();
    if let Some(partial) = frame.partial {
        header.flags = VirtioHeader::NEEDS_CHECKSUM;
        header.checksum_start = partial.start;
        header.checksum_offset = partial.offset;
    }
    let mut head = [0; VNET_HEADER + MOST_HEADER];
    head[..VNET_HEADER].copy_from_slice(&header.emit());
    Burst {
        count: 1,
        head,
        head_length: VNET_HEADER,
        body_from: 0,
    }
}

fn joined<T: AsRef<Frame>>(
    queue: &VecDeque<T>,
    first: &Frame,
    segment: &Segment,
    count: usize,
) -> Burst {
    let last = queue.get(count - 1).map_or(first, AsRef::as_ref);
    let payload: usize = queue
        .iter()
        .take(count)
        .map(|packet| packet.as_ref().bytes.len() - segment.header)
        .sum();
    let mut head = [0; VNET_HEADER + MOST_HEADER];
    let ip = &mut head[VNET_HEADER..][..segment.header];
    ip.copy_from_slice(&first.bytes[..segment.header]);
    // The end of the last packet is the end of the burst; all lengths are below 64 KiB.
    ip[segment.start + tcp::FLAGS] = last.bytes[segment.start + tcp::FLAGS];
    let tcp_header = segment.header - segment.start;
    let at = segment.start + tcp::CHECKSUM;
    let sum = header::be16(ip, at).unwrap_or_default();
    put16(
        ip,
        at,
        split::resum(sum, tcp_header + segment.payload, tcp_header + payload),
    );
    let gso_type = if ip[0] >> 4 == 4 {
        put16(ip, v4::TOTAL_LENGTH, (segment.header + payload) as u16);
        header::set_v4_checksum(ip);
        VirtioHeader::GSO_TCP4
    } else {
        put16(
            ip,
            v6::PAYLOAD_LENGTH,
            (segment.header - v6::LENGTH + payload) as u16,
        );
        VirtioHeader::GSO_TCP6
    };
    let header = VirtioHeader {
        flags: VirtioHeader::NEEDS_CHECKSUM,
        gso_type,
        header_length: segment.header as u16,
        gso_size: segment.payload as u16,
        checksum_start: segment.start as u16,
        checksum_offset: tcp::CHECKSUM as u16,
    };
    head[..VNET_HEADER].copy_from_slice(&header.emit());
    Burst {
        count,
        head,
        head_length: VNET_HEADER + segment.header,
        body_from: segment.header,
    }
}

/// Where things are in a TCP packet with data.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// Offset of the TCP header.
    start: usize,
    /// Length of all headers.
    header: usize,
    /// Octets of payload.
    payload: usize,
    sequence: u32,
    flags: u8,
}

impl Segment {
    /// Reads a TCP packet whose checksum is partial; `None` for any other, and for one without data.
    fn new(frame: &Frame) -> Option<Self> {
        let partial = frame
            .partial
            .filter(|p| usize::from(p.offset) == tcp::CHECKSUM)?;
        let (bytes, start) = (&frame.bytes, usize::from(partial.start));
        let header = start + usize::from(*bytes.get(start + tcp::DATA_OFFSET)? >> 4) * 4;
        let payload = bytes
            .len()
            .checked_sub(header)
            .filter(|&length| length > 0)?;
        if header > MOST_HEADER || start < 20 || header < start + 20 {
            return None;
        }
        let sequence = be32(bytes, start + tcp::SEQUENCE)?;
        let flags = *bytes.get(start + tcp::FLAGS)?;
        Some(Self {
            start,
            header,
            payload,
            sequence,
            flags,
        })
    }

    /// How many of `rest` continue the burst that `first`, this segment, begins.
    fn followers<'a>(&self, first: &Frame, rest: impl Iterator<Item = &'a Frame>) -> usize {
        let mut tail = *self;
        let mut total = self.header + self.payload;
        let joins = |frame: &Frame| {
            let next = Self::new(frame)?;
            total += next.payload;
            let fits = total <= MOST_BYTES && next.payload <= self.payload;
            // Only the last packet of a burst may be short, or carry a flag besides ACK.
            let open = tail.flags == tcp::ACK && tail.payload == self.payload;
            let in_sequence = next.sequence == tail.sequence.wrapping_add(tail.payload as u32);
            let joins = fits && open && in_sequence && self.same_stream(&next, first, frame);
            tail = next;
            joins.then_some(())
        };
        rest.map_while(joins).count()
    }

    /// Whether two packets differ only in what a burst may differ in: lengths, identification, sequence number,
    /// checksums, and the flags that end a burst.
    fn same_stream(&self, next: &Self, first: &Frame, frame: &Frame) -> bool {
        let (start, end) = (self.start, self.header);
        let same = |range: Range<usize>| first.bytes.get(range.clone()) == frame.bytes.get(range);
        let is_v4 = first.bytes[0] >> 4 == 4;
        let ip = if is_v4 {
            same(0..2) && same(v4::FRAGMENT..v4::CHECKSUM) && same(v4::ADDRESSES.start..start)
        } else {
            same(0..v6::PAYLOAD_LENGTH) && same(v6::NEXT_HEADER..start)
        };
        ip && (next.start, next.header) == (start, end)
            && next.flags & !(tcp::FIN | tcp::PSH) == tcp::ACK
            && same(start..start + tcp::SEQUENCE)
            && same(start + tcp::ACKNOWLEDGMENT..start + tcp::FLAGS)
            && same(start + tcp::WINDOW..start + tcp::CHECKSUM)
            && same(start + tcp::URGENT..end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pool, flow_of, split};
    use super::*;
    use crate::sum::fold;
    use path::Packet;
    use proptest::prelude::*;
    use units::{Dscp, Ecn, Instant, TrafficClass};

    const CE: TrafficClass = TrafficClass {
        dscp: Dscp::CS0,
        ecn: Ecn::Ce,
    };

    /// A burst of TCP as a TUN device hands it over.
    fn burst(ipv4: bool, payload: usize, size: u16, flags: u8) -> Vec<u8> {
        let start = if ipv4 { 20 } else { 40 };
        let header = start + 32;
        let mut ip = vec![0_u8; header];
        if ipv4 {
            ip[0] = 0x45;
            ip[v4::PROTOCOL] = 6;
            put16(&mut ip, v4::TOTAL_LENGTH, (header + payload) as u16);
            put16(&mut ip, v4::IDENTIFICATION, 65_535);
            header::set_v4_checksum(&mut ip);
        } else {
            ip[0] = 0x60;
            ip[v6::NEXT_HEADER] = 6;
            put16(&mut ip, v6::PAYLOAD_LENGTH, (32 + payload) as u16);
        }
        ip[start + tcp::SEQUENCE..][..4].copy_from_slice(&0xffff_fff0_u32.to_be_bytes());
        ip[start + tcp::DATA_OFFSET] = 8 << 4;
        ip[start + tcp::FLAGS] = flags;
        // The sum of a pseudo-header: a constant part and the segment's length.
        put16(
            &mut ip,
            start + tcp::CHECKSUM,
            fold(0x1234 + 32 + payload as u32),
        );
        let single = payload <= usize::from(size);
        let gso_type = match (single, ipv4) {
            (true, _) => VirtioHeader::GSO_NONE,
            (false, true) => VirtioHeader::GSO_TCP4,
            (false, false) => VirtioHeader::GSO_TCP6,
        };
        let virtio = VirtioHeader {
            flags: VirtioHeader::NEEDS_CHECKSUM,
            gso_type,
            header_length: if single { 0 } else { header as u16 },
            gso_size: if single { 0 } else { size },
            checksum_start: start as u16,
            checksum_offset: tcp::CHECKSUM as u16,
        };
        let mut read = virtio.emit().to_vec();
        read.extend(ip);
        read.extend((0..payload).map(|i| i as u8));
        read
    }

    fn cut(read: &[u8]) -> VecDeque<Packet<Frame>> {
        let mut packets = VecDeque::new();
        split(read, Instant::ZERO, &mut Pool::default(), |body| {
            let size = body.bytes().len() as u32;
            let flow = flow_of(body.bytes());
            packets.push_back(Packet {
                size,
                flow,
                family: body.family(),
                dscp: Dscp::CS0,
                ecn: Ecn::NotEct,
                at: Instant::ZERO,
                body,
            });
        });
        packets
    }

    fn write(queue: &VecDeque<Packet<Frame>>) -> (usize, Vec<u8>) {
        let burst = next_burst(queue, usize::MAX).unwrap();
        let mut pieces = Vec::new();
        burst.pieces(queue.iter().map(|packet| &packet.body), &mut pieces);
        (
            burst.count,
            pieces.iter().flat_map(|piece| piece.to_vec()).collect(),
        )
    }

    proptest! {
        #[test]
        fn cutting_and_joining_gives_the_burst_back(
            ipv4: bool,
            payload in 1_usize..60_000,
            size in 1_000_u16..9_000,
            push: bool,
        ) {
            let flags = tcp::ACK | if push { tcp::PSH } else { 0 };
            let read = burst(ipv4, payload, size, flags);
            let packets = cut(&read);
            prop_assert_eq!(packets.len(), payload.div_ceil(usize::from(size)));
            let (count, written) = write(&packets);
            prop_assert_eq!(count, packets.len().min(MOST_PACKETS));
            if count == packets.len() {
                prop_assert_eq!(written, read);
            }
        }

        #[test]
        fn any_octets_are_taken_without_a_panic(
            mut read in proptest::collection::vec(any::<u8>(), 0..200),
            gso_type in prop_oneof![Just(0_u8), Just(1), Just(4), any::<u8>()],
        ) {
            if let Some(field) = read.get_mut(1) {
                *field = gso_type;
            }
            let mut packets = cut(&read);
            for packet in &mut packets {
                packet.body.set_class(CE);
            }
            if !packets.is_empty() {
                write(&packets);
            }
        }
    }

    #[test]
    fn each_packet_is_what_a_network_card_would_send() {
        let packets = cut(&burst(true, 2_500, 1_000, tcp::ACK | tcp::PSH));
        let sequence = |i: usize| be32(&packets[i].body.bytes, 20 + tcp::SEQUENCE).unwrap();
        assert_eq!(
            packets.iter().map(|p| p.size).collect::<Vec<_>>(),
            [1_052, 1_052, 552]
        );
        assert_eq!(sequence(1), 0xffff_fff0_u32.wrapping_add(1_000));
        assert_eq!(
            packets[0].body.bytes[20 + tcp::FLAGS],
            tcp::ACK,
            "PSH is the last one's"
        );
        assert_eq!(packets[2].body.bytes[20 + tcp::FLAGS], tcp::ACK | tcp::PSH);
        for packet in &packets {
            let bytes = &packet.body.bytes;
            assert_eq!(
                header::be16(bytes, v4::TOTAL_LENGTH),
                Some(bytes.len() as u16)
            );
            let sum = bytes[..20].chunks(2).map(|w| u32::from(be(w))).sum();
            assert_eq!(fold(sum), 0xffff, "the IPv4 header checksum is right");
            let expected = fold(0x1234 + bytes.len() as u32 - 20);
            assert_eq!(header::be16(bytes, 20 + tcp::CHECKSUM), Some(expected));
        }
    }

    fn be(pair: &[u8]) -> u16 {
        u16::from_be_bytes([pair[0], pair[1]])
    }

    #[test]
    fn a_marked_packet_does_not_join_unmarked_ones() {
        let mut packets = cut(&burst(false, 4_000, 1_000, tcp::ACK));
        packets[2].body.set_class(CE);
        assert_eq!(packets[2].body.class(), CE);
        assert_eq!(write(&packets).0, 2);
        packets.drain(..2);
        assert_eq!(write(&packets).0, 1);
    }

    #[test]
    fn packets_of_two_classes_do_not_join_and_of_one_new_class_do() {
        for ipv4 in [true, false] {
            let mut packets = cut(&burst(ipv4, 4_000, 1_000, tcp::ACK));
            let ef = TrafficClass {
                dscp: Dscp::EF,
                ecn: Ecn::NotEct,
            };
            packets[0].body.set_class(ef);
            assert_eq!(write(&packets).0, 1);
            for packet in &mut packets {
                packet.body.set_class(ef);
            }
            let (count, written) = write(&packets);
            assert_eq!(count, 4);
            let joined = header::traffic_class(&written[VNET_HEADER..]);
            assert_eq!(joined, ef, "the burst has the class of its packets");
        }
    }

    proptest! {
        #[test]
        fn a_new_class_is_in_the_header_and_nothing_else_is(ipv4: bool, octet: u8) {
            let before = cut(&burst(ipv4, 500, 1_000, tcp::ACK))[0].body.clone();
            let mut after = before.clone();
            after.set_class(TrafficClass::from_octet(octet));
            prop_assert_eq!(after.class().octet(), octet);
            if ipv4 {
                let words = after.bytes[..20].chunks(2).map(|w| u32::from(be(w)));
                prop_assert_eq!(fold(words.sum()), 0xffff, "the header checksum is right");
            }
            after.set_class(before.class());
            prop_assert_eq!(after, before);
        }
    }

    #[test]
    fn a_gap_ends_the_burst() {
        let mut packets = cut(&burst(true, 4_000, 1_000, tcp::ACK));
        packets.remove(1);
        assert_eq!(write(&packets).0, 1);
    }
}
