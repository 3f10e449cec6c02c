use super::*;
use crate::pcapng;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::{self, Read, Write};

/// Time, link, original length and octets of every packet, and how it ended.
type Found = (Vec<(u64, u16, u32, Vec<u8>)>, Result<(), String>);

fn read(input: impl Read) -> Found {
    let mut found = Vec::new();
    let mut reader = match Reader::new(input) {
        Ok(reader) => reader,
        Err(error) => return (found, Err(error.to_string())),
    };
    loop {
        match reader.packet() {
            Ok(Some(packet)) => found.push((
                packet.at_ns,
                packet.link,
                packet.original_len,
                packet.octets.to_vec(),
            )),
            Ok(None) => return (found, Ok(())),
            Err(error) => return (found, Err(error.to_string())),
        }
    }
}

/// A pcap file with two packets, at 3 s and 4 s and a half, the second cut from 1,500 octets to four.
fn legacy(magic: u32, big_endian: bool, half: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut words = |words: &[u32]| {
        for word in words {
            file.extend(if big_endian {
                word.to_be_bytes()
            } else {
                word.to_le_bytes()
            });
        }
    };
    let version = if big_endian { 2 << 16 | 4 } else { 4 << 16 | 2 };
    words(&[magic, version, 0, 0, 4, 101]);
    words(&[3, 0, 2, 2]);
    file.extend(b"ab");
    let mut words = |words: &[u32]| {
        for word in words {
            file.extend(if big_endian {
                word.to_be_bytes()
            } else {
                word.to_le_bytes()
            });
        }
    };
    words(&[4, half, 4, 1_500]);
    file.extend(b"cdef");
    file
}

fn expected() -> Found {
    let packets = vec![
        (3_000_000_000, 101, 2, b"ab".to_vec()),
        (4_500_000_000, 101, 1_500, b"cdef".to_vec()),
    ];
    (packets, Ok(()))
}

const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;

/// Holds tmix/headers.
#[test]
fn pcap_in_either_order_and_unit() {
    for big_endian in [false, true] {
        assert_eq!(read(&legacy(MICRO, big_endian, 500_000)[..]), expected());
        assert_eq!(read(&legacy(NANO, big_endian, 500_000_000)[..]), expected());
    }
}

/// Our writer's file.
fn next_generation() -> Vec<u8> {
    let mut file = pcapng::Writer::new(Vec::new(), &pcapng::Section::default()).unwrap();
    let interface = file.interface(&pcapng::Interface::default()).unwrap();
    for (wall_ns, _, original_len, octets) in &expected().0 {
        let packet = pcapng::Packet {
            wall_ns: *wall_ns,
            octets,
            original_len: *original_len as usize,
            direction: Some(pcapng::Direction::In),
        };
        file.packet(interface, &packet).unwrap();
    }
    file.finish().unwrap()
}

#[test]
fn pcapng_as_we_write_it() {
    assert_eq!(read(&next_generation()[..]), expected());
}

/// A block of pcapng in big-endian octets.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(body.len() + 12).unwrap().to_be_bytes();
    [&kind.to_be_bytes(), &len[..], body, &len[..]].concat()
}

/// Sections with clocks of their own: 2^-1 s with an offset of 10 s, and microseconds; a packet without a time.
fn sections() -> Vec<u8> {
    let section = block(
        0x0a0d_0d0a,
        &[
            0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
        ],
    );
    let halves = block(
        1,
        &[
            0, 101, 0, 0, 0, 0, 0, 0, // link, snaplen
            0, 9, 0, 1, 0x81, 0, 0, 0, // if_tsresol
            0, 14, 0, 8, 0, 0, 0, 0, 0, 0, 0, 10, // if_tsoffset
            0, 0, 0, 0,
        ],
    );
    let micros = block(1, &[0, 1, 0, 0, 0, 0, 0, 2]);
    let packet = |interface: u8, time: u8| {
        let mut body = vec![0, 0, 0, interface, 0, 0, 0, 0, 0, 0, 0, time];
        body.extend([0, 0, 0, 3, 0, 0, 0, 3, b'x', b'y', b'z', 0]);
        block(6, &body)
    };
    let simple = block(3, &[0, 0, 0, 9, b'p', b'q', 0, 0]);
    let unknown = block(0x0bad, &[1, 2, 3, 4]);
    [
        &section,
        &halves,
        &packet(0, 3),
        &unknown,
        &section,
        &micros,
        &packet(0, 7),
        &simple,
    ]
    .into_iter()
    .flatten()
    .copied()
    .collect()
}

#[test]
fn interfaces_have_clocks_of_their_own_and_end_with_their_section() {
    let (packets, end) = read(&sections()[..]);
    assert_eq!(
        packets,
        [
            (11_500_000_000, 101, 3, b"xyz".to_vec()),
            (7_000, 1, 3, b"xyz".to_vec()),
            (7_000, 1, 9, b"pq".to_vec()),
        ]
    );
    assert_eq!(end, Ok(()));
}

#[test]
fn a_packet_of_no_interface_is_an_error() {
    let mut file = sections();
    // The interface of the first packet, in the third block.
    let at = 28 + 44 + 8 + 3;
    file[at] = 1;
    let (packets, end) = read(&file[..]);
    assert_eq!(packets, []);
    assert_eq!(
        end.unwrap_err(),
        "at octet 72: a packet of an interface that was not described"
    );
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(octets).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_captures_are_recognised() {
    let plain = legacy(MICRO, false, 500_000);
    assert_eq!(read(&gzip(&plain)[..]), expected());
    // Two members, as `cat a.gz b.gz` makes them.
    let (one, two) = plain.split_at(30);
    assert_eq!(read(&[gzip(one), gzip(two)].concat()[..]), expected());
    let squeezed = zstd::encode_all(&next_generation()[..], 0).unwrap();
    assert_eq!(read(&squeezed[..]), expected());
    let (packets, end) = read(&squeezed[..squeezed.len() - 3]);
    assert!(packets.len() < 3);
    assert_eq!(end.unwrap_err(), "after 0 octets: incomplete frame");
    let squeezed = gzip(&plain);
    let (packets, end) = read(&squeezed[..squeezed.len() - 9]);
    assert!(packets.len() < 2);
    assert_eq!(
        end.unwrap_err(),
        "the capture is cut off within the packet at octet 42"
    );
}

/// Gives one octet at a time, as a pipe may.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min(1);
        self.0.read(&mut into[..count])
    }
}

#[test]
fn a_slow_pipe_is_as_good_as_a_file() {
    for file in [legacy(MICRO, false, 500_000), next_generation()] {
        assert_eq!(read(Drops(&file)), expected());
        assert_eq!(read(Drops(&gzip(&file))), expected());
    }
}

#[test]
fn a_capture_that_was_cut_short_gives_what_it_has() {
    let file = legacy(MICRO, false, 500_000);
    let (packets, end) = read(&file[..file.len() - 1]);
    assert_eq!(packets, expected().0[..1]);
    assert_eq!(
        end.unwrap_err(),
        "the capture is cut off within the packet at octet 42"
    );
}

#[test]
fn what_is_no_capture_is_refused() {
    for octets in [
        &b""[..],
        b"hello, world, this is not a capture",
        &[0xd4, 0xc3, 0xb2, 0xa1],
    ] {
        let message = "neither pcap nor pcapng (nor one of them in gzip or zstd)";
        assert_eq!(read(octets), (vec![], Err(message.to_owned())));
    }
}

#[test]
fn packets_that_cross_the_window_are_whole() {
    let mut file = legacy(MICRO, false, 500_000)[..24].to_vec();
    let sizes = [100_000_u32, 200_000, 700_000, 3];
    for size in sizes {
        for word in [1, 2, size, size] {
            file.extend(word.to_le_bytes());
        }
        file.extend((0..size).map(|at| at.to_le_bytes()[0]));
    }
    let (packets, end) = read(&file[..]);
    assert_eq!(end, Ok(()));
    for ((_, _, _, octets), size) in packets.iter().zip(sizes) {
        assert_eq!(octets.len(), size as usize);
        assert!(
            octets
                .iter()
                .enumerate()
                .all(|(at, &octet)| octet == at.to_le_bytes()[0])
        );
    }
    assert_eq!(packets.len(), sizes.len());
}

#[test]
fn a_packet_larger_than_any_is_refused() {
    let mut file = legacy(MICRO, false, 500_000)[..24].to_vec();
    for word in [1_u32, 2, 1 << 30, 1 << 30] {
        file.extend(word.to_le_bytes());
    }
    // However little follows.
    for octets in [0, 100, 20 << 20] {
        let (_, end) = read((&file[..]).chain(io::repeat(0).take(octets)));
        assert_eq!(
            end.unwrap_err(),
            "at octet 24: a packet or block of more than 16 MiB"
        );
    }
}

#[test]
fn blocks_that_claim_what_cannot_be_are_damage() {
    let after = |block: &[u32]| {
        let mut file = next_generation();
        let at = file.len();
        file.extend(block.iter().flat_map(|word| word.to_le_bytes()));
        (at, read(&file[..]).1.unwrap_err())
    };
    // A process's block of 8 octets; an enhanced packet longer than its block; a block of 1 GiB.
    let (at, end) = after(&[0x8000_0001, 8, 8, 0]);
    assert_eq!(end, format!("at octet {at}: not a packet or block"));
    let (at, end) = after(&[6, 32, 0, 0, 0, 4_000, 4_000, 32]);
    assert_eq!(end, format!("at octet {at}: not a packet or block"));
    let (at, end) = after(&[6, 1 << 30, 0]);
    assert_eq!(
        end,
        format!("at octet {at}: a packet or block of more than 16 MiB")
    );
}

proptest! {
    #[test]
    fn no_damage_makes_it_panic(
        which in 0..4_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut: prop::sample::Index,
    ) {
        let mut file = match which {
            0 => legacy(MICRO, true, 500_000),
            1 => legacy(NANO, false, 500_000),
            2 => next_generation(),
            _ => sections(),
        };
        for (at, octet) in damage {
            let at = at.index(file.len());
            file[at] = octet;
        }
        file.truncate(cut.index(file.len() + 1));
        let (packets, _) = read(&file[..]);
        prop_assert!(packets.iter().all(|packet| packet.3.len() <= file.len()));
    }
}
