use super::*;
use crate::transaction::{Gap, Offered, Probe, Riders, Spacing};
use core::net::{Ipv4Addr, Ipv6Addr};
use proptest::prelude::*;
use std::time::Duration;
use units::Instant;

fn emitted(message: &Message) -> Vec<u8> {
    let mut octets = Vec::new();
    message.emit(&mut octets).unwrap();
    octets
}

fn begin(header: &[u8]) -> Message {
    let probe = Probe {
        header: header.to_vec(),
        octets: 0x0102,
        gap: Duration::from_nanos(0x1112_1314_1516_1718),
        may_carry: true,
    };
    Message::Begin {
        id: 0x2122_2324,
        to: IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3)),
        transaction: Transaction {
            channel: 9,
            probes: vec![probe],
        },
    }
}

/// Holds manager/specification.
#[test]
fn the_octets_are_in_their_places() {
    let told = [
        0, 0, 0, 50, // octets that follow
        1, 0, 0, 0, // begin
        0x21, 0x22, 0x23, 0x24, // number
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3, // to
        9, 0, 0, 0, // channel
        0, 0, 0, 1, // probes
        1, 2, 0, 2, 1, 0, 0, 0, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, b'h', b'i',
    ];
    assert_eq!(emitted(&begin(b"hi")), told);
    // T section 8.3's semi-elastic train.
    let ranges = Ranges {
        channel: 9,
        count: [40, 100],
        octets: Some(300),
        spacing: Spacing::UpTo(Duration::from_micros(200)),
        patience: Duration::from_nanos(7),
    };
    let ranges = Message::BeginRanges {
        id: 6,
        to: IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3)),
        ranges,
    };
    let told = [
        0, 0, 0, 56, 4, 0, 0, 0, 0, 0, 0, 6, // length, kind, number
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3, // to
        9, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0, 100, // channel, least, most
        1, 44, 1, 0, // octets, up to
        0, 0, 0, 0, 0, 3, 0x0d, 0x40, 0, 0, 0, 0, 0, 0, 0, 7, // gap, patience
    ];
    assert_eq!(emitted(&ranges), told);
    let refused = Message::Refused {
        id: 5,
        reason: Refusal::Budget(1 << 40),
    };
    let told = [
        0, 0, 0, 20, 17, 0, 0, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
    ];
    assert_eq!(emitted(&refused), told);
}

#[test]
fn what_nobody_sends_is_refused() {
    let octets = emitted(&begin(b"hi"));
    let told = &octets[4..];
    for end in 0..told.len() {
        assert_eq!(Message::parse(&told[..end]), Err(MessageError::Short));
    }
    let changed = |at: usize, to: u8| {
        let mut octets = told.to_vec();
        octets[at] = to;
        Message::parse(&octets)
    };
    assert_eq!(changed(0, 77), Err(MessageError::Value), "a kind");
    assert_eq!(changed(1, 1), Err(MessageError::Value), "not zero");
    assert_eq!(
        changed(36, 2),
        Err(MessageError::Value),
        "neither yes nor no"
    );
    assert_eq!(changed(35, 1), Err(MessageError::Long), "a shorter header");
    let Message::Begin { id, to, .. } = begin(b"") else {
        panic!("it was one");
    };
    let long = Message::Begin {
        id,
        to,
        transaction: Transaction {
            channel: 0,
            probes: vec![
                Probe {
                    header: vec![0; 4_000],
                    ..Probe::default()
                };
                1_000
            ],
        },
    };
    let mut out = Vec::new();
    assert_eq!(long.emit(&mut out), Err(MessageError::Size(4_016_032)));
    assert!(out.is_empty(), "nothing of it was written");
}

/// Holds manager/barrier.
#[test]
fn a_message_comes_in_pieces_and_tells_how_long_it_took() {
    let octets = [emitted(&begin(b"hi")), emitted(&begin(b"you"))].concat();
    let mut frames = Frames::default();
    let mut taken = Vec::new();
    for (ms, piece) in (0..).zip(octets.chunks(30)) {
        frames.push(piece, Instant::from_millis(ms));
        while let Some(frame) = frames.poll().unwrap() {
            taken.push((frame.message.unwrap(), frame.took.as_millis()));
        }
    }
    // 54 octets and 55: from the first piece to the second, from the second to the fourth.
    assert_eq!(taken, [(begin(b"hi"), 1), (begin(b"you"), 2)]);
    assert_eq!(frames.kept(), 0);
}

#[test]
fn a_length_that_nobody_sends_ends_the_stream_and_an_unknown_message_does_not() {
    let mut frames = Frames::default();
    frames.push(&[0, 0, 0, 4, 99, 0, 0, 0], Instant::ZERO);
    frames.push(&emitted(&begin(b"")), Instant::ZERO);
    let first = frames.poll().unwrap().unwrap();
    assert_eq!(first.message, Err(MessageError::Value));
    assert_eq!(frames.poll().unwrap().unwrap().message, Ok(begin(b"")));
    frames.push(&[0, 16, 0, 1], Instant::ZERO);
    assert_eq!(frames.poll(), Err(MessageError::Size(1_048_577)));
    assert_eq!(frames.poll(), Err(MessageError::Size(1_048_577)));
}

fn address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(|octets| IpAddr::V4(Ipv4Addr::from(octets))),
        any::<[u8; 15]>().prop_map(|octets| {
            let mut whole = [0x20; 16];
            whole[1..].copy_from_slice(&octets);
            IpAddr::V6(Ipv6Addr::from(whole))
        }),
    ]
}

fn refusal() -> impl Strategy<Value = Refusal> {
    (0_u8..9, any::<u32>(), any::<u64>()).prop_map(|(which, small, large)| match which {
        0 => Refusal::Count(small),
        1 => Refusal::Duration,
        2 => Refusal::Gap(small),
        3 => Refusal::Length(small),
        4 => Refusal::Queue(small),
        5 => Refusal::Budget(large),
        6 => Refusal::Ranges,
        7 => Refusal::Long(small, u16::try_from(large >> 48).unwrap()),
        _ => Refusal::Peer,
    })
}

fn probes() -> impl Strategy<Value = Vec<Probe>> {
    let header = prop::collection::vec(any::<u8>(), 0..40);
    let probe = (header, any::<u16>(), any::<u64>(), any::<bool>());
    let probe = probe.prop_map(|(header, octets, gap, may_carry)| Probe {
        header,
        octets,
        gap: Duration::from_nanos(gap),
        may_carry,
    });
    prop::collection::vec(probe, 0..20)
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let gaps = prop::collection::vec(any::<[u64; 2]>(), 0..20);
    (any::<bool>(), any::<[u64; 10]>(), gaps).prop_map(|(is_called_off, figures, gaps)| Outcome {
        is_called_off,
        handover: Duration::from_nanos(figures[0]),
        transmission: Duration::from_nanos(figures[1]),
        planned: Duration::from_nanos(figures[2]),
        riders: Riders {
            probes: figures[3],
            octets: figures[4],
        },
        competing: Riders {
            probes: figures[5],
            octets: figures[6],
        },
        beside: figures[7],
        offered: Offered {
            octets: figures[8],
            at: Instant::from_nanos(figures[9]),
        },
        gaps: gaps
            .iter()
            .map(|gap| Gap {
                planned: Duration::from_nanos(gap[0]),
                actual: Duration::from_nanos(gap[1]),
            })
            .collect(),
        sent: Vec::new(),
    })
}

fn arrival() -> impl Strategy<Value = Arrival> {
    let header = prop::collection::vec(any::<u8>(), 0..40);
    (any::<u8>(), any::<u16>(), any::<[u64; 3]>(), header).prop_map(
        |(channel, octets, figures, header)| Arrival {
            channel,
            octets,
            sequence: figures[0],
            sent_ns: figures[1],
            arrived_ns: figures[2],
            header,
        },
    )
}

fn ranges() -> impl Strategy<Value = Ranges> {
    let octets = prop::option::of(1_u16..);
    let figures = (any::<u8>(), any::<[u32; 2]>(), octets, any::<bool>());
    (figures, any::<[u64; 2]>()).prop_map(|((channel, count, octets, is_fixed), times)| {
        let [gap, patience] = times.map(Duration::from_nanos);
        let spacing = if is_fixed {
            Spacing::Fixed
        } else {
            Spacing::UpTo
        };
        Ranges {
            channel,
            count,
            octets,
            spacing: spacing(gap),
            patience,
        }
    })
}

fn sent() -> impl Strategy<Value = Vec<Sent>> {
    let sent = (any::<u64>(), any::<u16>());
    let sent = sent.prop_map(|(sequence, octets)| Sent { sequence, octets });
    prop::collection::vec(sent, 0..20)
}

fn message() -> impl Strategy<Value = Message> {
    let begin = (any::<u32>(), address(), any::<u8>(), probes());
    prop_oneof![
        begin.prop_map(|(id, to, channel, probes)| Message::Begin {
            id,
            to,
            transaction: Transaction { channel, probes },
        }),
        (any::<u32>(), address(), ranges()).prop_map(|(id, to, ranges)| Message::BeginRanges {
            id,
            to,
            ranges
        }),
        (any::<u32>(), sent()).prop_map(|(id, sent)| Message::Sent { id, sent }),
        any::<u32>().prop_map(|id| Message::CallOff { id }),
        any::<u32>().prop_map(|id| Message::Accepted { id }),
        any::<u8>().prop_map(|channel| Message::Listen { channel }),
        (any::<u32>(), refusal()).prop_map(|(id, reason)| Message::Refused { id, reason }),
        (any::<u32>(), outcome()).prop_map(|(id, outcome)| Message::Outcome { id, outcome }),
        (address(), arrival()).prop_map(|(from, arrival)| Message::Arrival { from, arrival }),
    ]
}

proptest! {
    #[test]
    fn a_message_survives_the_socket_in_whatever_pieces(
        messages in prop::collection::vec(message(), 1..5),
        size in 1_usize..200,
    ) {
        let octets: Vec<u8> = messages.iter().flat_map(emitted).collect();
        let (mut frames, mut read) = (Frames::default(), Vec::new());
        for piece in octets.chunks(size) {
            frames.push(piece, Instant::ZERO);
            while let Some(frame) = frames.poll().unwrap() {
                read.push(frame.message.unwrap());
            }
        }
        prop_assert_eq!(read, messages);
        prop_assert_eq!(frames.kept(), 0);
    }

    #[test]
    fn any_octets_are_read_or_refused(kind in 0_u8..24, rest in prop::collection::vec(0_u8..3, 0..160)) {
        let octets = [&[kind, 0, 0, 0], &rest[..]].concat();
        if let Ok(message) = Message::parse(&octets) {
            prop_assert_eq!(&emitted(&message)[4..], &octets);
        }
    }

    #[test]
    fn a_changed_message_is_read_or_refused(message in message(), at: prop::sample::Index, to: u8) {
        let mut octets = emitted(&message).split_off(4);
        let place = at.index(octets.len());
        octets[place] = to;
        if let Ok(read) = Message::parse(&octets) {
            prop_assert_eq!(emitted(&read).len(), octets.len() + 4);
        }
    }
}
