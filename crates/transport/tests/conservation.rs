//! Everything that was supplied arrives once and in order, whatever is lost, late or doubled.

mod link;

use isobath_transport::{CongestionControl, Growth, Options, Recovery};
use link::{Link, Verdict};
use proptest::prelude::*;
use std::time::Duration;

fn options() -> impl Strategy<Value = Options> {
    let recovery = prop_oneof![
        Just(Recovery::Reno),
        Just(Recovery::NewReno),
        Just(Recovery::Sack)
    ];
    let congestion_control = prop_oneof![
        Just(CongestionControl::Reno),
        Just(CongestionControl::Cubic)
    ];
    let growth = prop_oneof![
        Just(Growth::Bytes),
        Just(Growth::PerAck),
        Just(Growth::PerWindow)
    ];
    let switches = prop::collection::vec(any::<bool>(), 7);
    let first_seq = prop_oneof![Just(0), Just(u32::MAX - 20), any::<u32>()];
    let windows = (
        1_u32..20,
        2_u32..300,
        prop::option::of(1_u32..100),
        prop::option::of(1_u32..3),
    );
    (
        recovery,
        congestion_control,
        growth,
        switches,
        first_seq,
        windows,
    )
        .prop_map(
            |(recovery, congestion_control, growth, switches, first_seq, windows)| Options {
                recovery,
                congestion_control,
                growth,
                prr: switches[0],
                rack: switches[1],
                undo: switches[2],
                timestamps: switches[3],
                limited_transmit: switches[4],
                validate_window: switches[5],
                ecn: switches[6],
                first_seq,
                initial_window: windows.0,
                receive_window: windows.1,
                max_window: windows.2,
                abc: windows.3,
                ..Options::default()
            },
        )
}

/// So that a list does not meet the same retransmission for ever.
fn scattered(n: u64) -> usize {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    usize::from(u16::try_from((n ^ (n >> 27)) >> 48).unwrap_or(0))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Holds btc/unique-data.
    #[test]
    fn what_is_supplied_arrives_exactly_once(
        options in options(),
        segments in 1_u32..400,
        fates in prop::collection::vec(0_u8..16, 1..64),
        ack_fates in prop::collection::vec(0_u8..16, 1..64),
        loss in 0_u8..5,
    ) {
        let verdict = move |fate: u8| match fate {
            fate if fate < loss => Verdict::Drop,
            13 => Verdict::Late(Duration::from_millis(35)),
            14 => Verdict::Twice,
            15 => Verdict::Mark,
            _ => Verdict::Pass,
        };
        let mut link = Link::new(&options);
        let verdict_at = move |list: &[u8], n: u64| match list {
            list if list.iter().all(|fate| *fate < loss) => Verdict::Pass,
            list => verdict(list[scattered(n) % list.len()]),
        };
        link.fate = Box::new(move |n, _| verdict_at(&fates, n));
        link.ack_fate = Box::new(move |n, _| verdict_at(&ack_fates, n));
        link.sender.supply(segments);
        link.run(Duration::from_secs(10_000_000));
        let stuck = (link.sender.snapshot(), link.sender.sent(), link.receiver.receipts(), link.now, link.sender.next_timeout());
        prop_assert_eq!(link.receiver.receipts().segments, u64::from(segments), "{:?}", stuck);
        prop_assert_eq!(link.receiver.receipts().bytes, u64::from(segments) * 1_448);
        prop_assert_eq!(link.receiver.receipts().refused, 0);
        prop_assert!(link.receiver.is_complete());
        prop_assert_eq!(link.sender.sent().acked, u64::from(segments));
        prop_assert_eq!(link.sender.sent().violations, 0);
        let sent = link.sender.sent();
        prop_assert_eq!(sent.packets - sent.retransmits, u64::from(segments));
        link.sender.close();
        prop_assert!(link.sender.is_done());
    }
}
