//! What no honest peer sends: it does not panic, and what is refused changes nothing.

use isobath_transport::{
    Ack, Event, Options, PacketId, Receiver, Recovery, SackBlocks, Segment, SegmentFlags, Sender,
    Seq, Violation,
};
use proptest::prelude::*;
use std::time::Duration;
use units::{Ecn, Instant};

fn seq() -> impl Strategy<Value = Seq> {
    prop_oneof![
        (0_u32..80).prop_map(|n| Seq(n.wrapping_sub(20))),
        any::<u32>().prop_map(Seq)
    ]
}

fn id() -> impl Strategy<Value = PacketId> {
    prop_oneof![
        any::<u64>().prop_map(PacketId),
        (0_u64..60, any::<u32>()).prop_map(|(n, low)| PacketId(n << 32 | u64::from(low)))
    ]
}

fn segment() -> impl Strategy<Value = Segment> {
    (seq(), id(), 0_u16..2_000, any::<[bool; 3]>(), any::<u64>()).prop_map(
        |(seq, id, len, flags, sent)| Segment {
            seq,
            id,
            len,
            flags: SegmentFlags {
                last: flags[0],
                cwr: flags[1],
                probe: flags[2],
            },
            sent: Instant::from_nanos(sent),
        },
    )
}

/// An acknowledgement made up from what has been sent: `shown` are packets that the liar really received.
#[derive(Clone, Debug)]
struct Lie {
    ack: Seq,
    shown: (prop::sample::Index, prop::sample::Index),
    made_up: Option<PacketId>,
    blocks: Vec<(Seq, Seq)>,
    window: u32,
    echo: u64,
    ece: bool,
    wait: u64,
}

fn lie() -> impl Strategy<Value = Lie> {
    let blocks = prop::collection::vec((seq(), seq()), 0..5);
    let shown = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let window = prop_oneof![0_u32..50, any::<u32>()];
    (
        seq(),
        shown,
        prop::option::weighted(0.1, id()),
        blocks,
        window,
        any::<u64>(),
        any::<bool>(),
        0_u64..3_000_000_000,
    )
        .prop_map(
            |(ack, shown, made_up, blocks, window, echo, ece, wait)| Lie {
                ack,
                shown,
                made_up,
                blocks,
                window,
                echo,
                ece,
                wait,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_sender_survives_any_acknowledgements(
        lies in prop::collection::vec(lie(), 1..200),
        first_seq in prop_oneof![Just(0_u32), Just(u32::MAX - 10)],
        recovery in prop_oneof![Just(Recovery::Reno), Just(Recovery::NewReno), Just(Recovery::Sack)],
        switches in any::<[bool; 4]>(),
    ) {
        let [ecn, rack, prr, timestamps] = switches;
        let options = Options { first_seq, recovery, ecn, rack, prr, timestamps, ..Options::default() };
        let mut sender = Sender::new(&options, 3);
        sender.supply(u32::MAX);
        let (mut now, mut ids) = (Instant::from_millis(1), Vec::new());
        for lie in lies {
            for _ in 0..200 {
                let Some(segment) = sender.poll_transmit(now) else { break };
                ids.push(segment.id);
            }
            now += Duration::from_nanos(lie.wait);
            sender.handle_timeout(now);
            let mut sack = SackBlocks::NONE;
            for (first, end) in &lie.blocks {
                sack.push(*first, *end);
            }
            let ack = Ack {
                ack: lie.ack,
                id: lie.made_up.unwrap_or_else(|| *lie.shown.0.get(&ids)),
                highest: *lie.shown.1.get(&ids),
                echo: Instant::from_nanos(lie.echo),
                delay_ns: 0,
                window: lie.window,
                ece: lie.ece,
                sack,
            };
            let (before, violations) = (sender.snapshot(), sender.sent().violations);
            sender.handle_ack(&ack, now);
            if sender.sent().violations > violations {
                prop_assert_eq!(before, sender.snapshot());
            }
            let snapshot = sender.snapshot();
            prop_assert!(snapshot.cwnd >= 1.0);
            prop_assert!(!snapshot.next.before(snapshot.una));
            prop_assert!(i64::from(snapshot.flight) <= 2 * i64::from(snapshot.next.minus(snapshot.una)));
        }
    }

    #[test]
    fn a_receiver_survives_any_segments(
        segments in prop::collection::vec((segment(), any::<bool>(), 0_u64..100_000_000), 1..300),
        receive_window in prop_oneof![0_u32..40, Just(1 << 20), any::<u32>()],
    ) {
        let mut receiver = Receiver::new(&Options { receive_window, ..Options::default() });
        let mut now = Instant::ZERO;
        for (segment, is_held, wait) in segments {
            now += Duration::from_nanos(wait);
            receiver.handle_timeout(now);
            receiver.handle_segment(&segment, Ecn::Ce, now);
            receiver.hold(is_held, now);
            let receipts = receiver.receipts();
            prop_assert!(receipts.segments + receipts.duplicates + receipts.refused <= receipts.packets);
            while let Some(ack) = receiver.poll_transmit(now) {
                prop_assert_eq!(ack.ack, receiver.next());
                for (first, end) in ack.sack.iter() {
                    prop_assert!(first.before(end));
                }
            }
        }
    }
}

/// Octets of memory that this process has.
#[expect(clippy::unwrap_used, reason = "test helpers are tests too")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}

#[test]
fn what_waits_costs_nothing_for_what_is_missing() {
    let mut receiver = Receiver::new(&Options {
        receive_window: 1 << 30,
        ..Options::default()
    });
    let before = resident();
    // One datagram, whose number is half a billion after the first.
    receiver.handle_segment(
        &Segment {
            seq: Seq(1 << 29),
            id: PacketId(1 << 32),
            len: 1,
            flags: SegmentFlags::default(),
            sent: LATER,
        },
        Ecn::NotEct,
        LATER,
    );
    assert_eq!(receiver.receipts().refused, 0);
    let grown = resident().saturating_sub(before);
    assert!(grown < 100 << 20, "{grown} octets for one segment");
}

/// A sender whose first window has left.
struct Started {
    sender: Sender,
    ids: Vec<PacketId>,
}

const LATER: Instant = Instant::from_millis(10);

fn started() -> Started {
    let mut sender = Sender::new(&Options::default(), 42);
    sender.supply(30);
    let now = Instant::from_millis(1);
    let ids = std::iter::from_fn(|| sender.poll_transmit(now))
        .map(|segment| segment.id)
        .collect();
    Started { sender, ids }
}

fn ack_of(start: &Started, ack: u32, id: usize, highest: usize) -> Ack {
    Ack {
        ack: Seq(ack),
        id: start.ids[id],
        highest: start.ids[highest],
        echo: Instant::from_millis(1),
        delay_ns: 0,
        window: 1_000,
        ece: false,
        sack: SackBlocks::NONE,
    }
}

#[track_caller]
fn refuses(ack: &Ack, start: &mut Started, violation: Violation) {
    let before = start.sender.snapshot();
    start.sender.handle_ack(ack, LATER);
    assert_eq!(start.sender.poll_event(), Some(Event::Violation(violation)));
    assert_eq!(start.sender.snapshot(), before);
}

#[test]
fn an_acknowledgement_proves_no_more_than_the_packets_it_shows() {
    let mut start = started();
    let forged = |ack: Ack| Ack {
        id: PacketId(ack.id.0 ^ 1),
        ..ack
    };
    let honest = ack_of(&start, 4, 3, 3);
    refuses(&forged(honest), &mut start, Violation::UnknownPacket);
    refuses(&ack_of(&start, 5, 3, 3), &mut start, Violation::Unproven);
    refuses(&ack_of(&start, 11, 3, 9), &mut start, Violation::NeverSent);
    let mut sack = SackBlocks::NONE;
    sack.push(Seq(3), Seq(6));
    refuses(
        &Ack {
            sack,
            ..ack_of(&start, 2, 3, 3)
        },
        &mut start,
        Violation::Unproven,
    );
    start.sender.handle_ack(&honest, LATER);
    assert_eq!(
        (start.sender.sent().acked, start.sender.sent().violations),
        (4, 4)
    );
}

#[test]
fn an_old_acknowledgement_a_hundred_times_over_does_nothing() {
    let mut start = started();
    let (old, new) = (ack_of(&start, 2, 1, 1), ack_of(&start, 8, 7, 7));
    start.sender.handle_ack(&new, LATER);
    let before = start.sender.snapshot();
    for _ in 0..100 {
        start.sender.handle_ack(&old, LATER);
    }
    assert_eq!(start.sender.snapshot(), before);
}
