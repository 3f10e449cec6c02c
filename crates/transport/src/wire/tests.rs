use super::*;
use proptest::prelude::*;

const ADDRESS: Address = Address {
    session: 0x1011_1213_1415_1617,
    stream: 0x0809,
};

fn segment(len: u16) -> Segment {
    Segment {
        seq: Seq(0x0c0d_0e0f),
        id: PacketId(0x2829_2a2b_2c2d_2e2f),
        len,
        flags: SegmentFlags {
            last: true,
            cwr: false,
            probe: false,
        },
        sent: Instant::from_nanos(0x2021_2223_2425_2627),
    }
}

fn ack() -> Ack {
    let mut sack = SackBlocks::NONE;
    assert!(sack.push(Seq(0x4041_4243), Seq(0x4445_4647)));
    Ack {
        ack: Seq(0x0c0d_0e0f),
        id: PacketId(0x2829_2a2b_2c2d_2e2f),
        highest: PacketId(0x3031_3233_3435_3637),
        echo: Instant::from_nanos(0x2021_2223_2425_2627),
        delay_ns: 0x3839_3a3b,
        window: 0x3c3d_3e3f,
        ece: true,
        sack,
    }
}

fn emitted(datagram: &Datagram) -> Vec<u8> {
    let mut out = vec![0; 70_000];
    let length = match datagram {
        Datagram::Segment(segment) => emit_segment(segment, ADDRESS, &mut out),
        Datagram::Ack(ack) => emit_ack(ack, ADDRESS, &mut out),
    };
    out.truncate(length.unwrap());
    out
}

/// Holds btc/header-bits, btc/cap-identifiers.
#[test]
fn the_octets_of_a_segment_are_in_the_documented_places() {
    let mut out = emitted(&Datagram::Segment(segment(1_448)));
    assert_eq!(out.len(), 1_472, "a packet of 1,500 octets by IPv4");
    set_tag(&mut out, [0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f]).unwrap();
    let expected = b"ISOB\x01\x04\x01\x00\x08\x09\x05\xa8\x0c\x0d\x0e\x0f\
        \x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\
        \x20\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x2b\x2c\x2d\x2e\x2f";
    assert_eq!(&out[..48], expected);
}

/// Holds btc/cap-identifiers.
#[test]
fn the_octets_of_an_acknowledgement_are_in_the_documented_places() {
    let out = emitted(&Datagram::Ack(ack()));
    let expected = b"ISOB\x01\x05\x01\x01\x08\x09\x00\x00\x0c\x0d\x0e\x0f\
        \x10\x11\x12\x13\x14\x15\x16\x17\x00\x00\x00\x00\x00\x00\x00\x00\
        \x20\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x2b\x2c\x2d\x2e\x2f\
        \x30\x31\x32\x33\x34\x35\x36\x37\x38\x39\x3a\x3b\x3c\x3d\x3e\x3f\
        \x40\x41\x42\x43\x44\x45\x46\x47";
    assert_eq!(out, expected);
}

/// Holds btc/header-bits.
#[test]
fn a_segment_is_as_long_as_tcps_where_its_header_has_room() {
    assert_eq!(segment_length(0), 48);
    assert_eq!(segment_length(24), 48);
    assert_eq!(segment_length(25), 49);
    assert_eq!(segment_length(u16::MAX), 65_559);
}

/// Holds btc/interference.
#[test]
fn the_tag_covers_the_header_and_no_payload() {
    let mut out = emitted(&Datagram::Segment(segment(1_448)));
    let before = covered(&out).map(|(before, after)| (before.to_vec(), after.to_vec()));
    out[48..].fill(7);
    set_tag(&mut out, [9; 8]).unwrap();
    let after = covered(&out).map(|(before, after)| (before.to_vec(), after.to_vec()));
    assert_eq!(before, after);
    assert_eq!(tag_of(&out), Some([9; 8]));
    let ack = emitted(&Datagram::Ack(ack()));
    assert_eq!(covered(&ack).map(|(b, a)| b.len() + a.len()), Some(64));
}

#[test]
fn what_this_version_does_not_write_is_refused() {
    let good = emitted(&Datagram::Segment(segment(100)));
    let with = |at: usize, octet: u8| {
        let mut octets = good.clone();
        octets[at] = octet;
        Datagram::parse(&octets).unwrap_err()
    };
    assert_eq!(with(0, b'X'), WireError::Magic);
    assert_eq!(with(4, 2), WireError::UnknownVersion(2));
    assert_eq!(with(5, 1), WireError::UnknownKind(1));
    assert_eq!(with(6, 4), WireError::Field("flags"));
    assert_eq!(with(7, 1), WireError::Field("blocks"));
    assert_eq!(with(11, 99), WireError::Length(124));
    assert_eq!(with(5, 6), WireError::Field("length"));
    assert_eq!(Datagram::parse(&good[..47]), Err(WireError::Short));
    assert_eq!(Datagram::parse(b"ISO"), Err(WireError::Magic));
    let mut five = emitted(&Datagram::Ack(ack()));
    five[7] = 5;
    five.resize(ACK_HEADER + 40, 0);
    assert_eq!(Datagram::parse(&five), Err(WireError::Field("blocks")));
    let short = emit_segment(&segment(100), ADDRESS, &mut [0; 123]);
    assert_eq!(short, Err(WireError::Short));
    assert_eq!(
        emit_ack(&ack(), ADDRESS, &mut [0; 71]),
        Err(WireError::Short)
    );
}

prop_compose! {
    fn any_segment()(
        (seq, id, len, sent) in any::<(u32, u64, u16, u64)>(),
        (last, cwr, probe) in any::<(bool, bool, bool)>(),
    ) -> Segment {
        Segment {
            seq: Seq(seq),
            id: PacketId(id),
            len: if probe { 0 } else { len },
            flags: SegmentFlags { last, cwr, probe },
            sent: Instant::from_nanos(sent),
        }
    }
}

prop_compose! {
    fn any_ack()(
        (number, id, highest, echo) in any::<(u32, u64, u64, u64)>(),
        (delay_ns, window, ece) in any::<(u32, u32, bool)>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
    ) -> Ack {
        let mut sack = SackBlocks::NONE;
        for (first, end) in blocks {
            assert!(sack.push(Seq(first), Seq(end)));
        }
        Ack {
            ack: Seq(number),
            id: PacketId(id),
            highest: PacketId(highest),
            echo: Instant::from_nanos(echo),
            delay_ns,
            window,
            ece,
            sack,
        }
    }
}

proptest! {
    #[test]
    fn a_segment_survives_the_wire(segment in any_segment()) {
        let out = emitted(&Datagram::Segment(segment));
        prop_assert_eq!(Datagram::parse(&out), Ok((ADDRESS, Datagram::Segment(segment))));
    }

    #[test]
    fn an_acknowledgement_survives_the_wire(ack in any_ack()) {
        let out = emitted(&Datagram::Ack(ack));
        prop_assert!(out.len() <= LONGEST_ACK);
        prop_assert_eq!(Datagram::parse(&out), Ok((ADDRESS, Datagram::Ack(ack))));
    }

    #[test]
    fn any_octets_are_parsed_or_refused_and_what_is_parsed_is_written_the_same(
        mut octets in prop::collection::vec(any::<u8>(), 0..200),
        kind in 4_u8..7,
        ours: bool,
    ) {
        if ours && octets.len() >= 12 {
            octets[..6].copy_from_slice(&[b'I', b'S', b'O', b'B', 1, kind]);
            octets[6] &= 3;
            octets[7] &= 3;
        }
        let _ = (covered(&octets), tag_of(&octets));
        if let Ok((address, datagram)) = Datagram::parse(&octets) {
            let mut out = octets.clone();
            let length = match &datagram {
                Datagram::Segment(segment) => emit_segment(segment, address, &mut out),
                Datagram::Ack(ack) => emit_ack(ack, address, &mut out),
            };
            prop_assert_eq!(length, Ok(octets.len()));
            set_tag(&mut out, tag_of(&octets).unwrap()).unwrap();
            prop_assert_eq!(out, octets);
        }
    }
}
