use super::*;
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const ALL: Range<u64> = 0..u64::MAX;

/// One every 10 ms, of these delays in milliseconds; none for lost.
fn stream(delays_ms: impl IntoIterator<Item = Option<i64>>) -> Vec<Datagram> {
    (0..)
        .zip(delays_ms)
        .map(|(seq, delay)| Datagram {
            seq,
            sent_ns: seq * 10_000_000,
            delay_ns: delay.map(|ms| ms * MS),
        })
        .collect()
}

fn heard(delays_ms: impl IntoIterator<Item = Option<i64>>) -> Heard {
    Playout::of(&stream(delays_ms)).heard(&ALL).unwrap()
}

#[test]
fn a_still_path_is_played_at_its_delay() {
    let heard = heard(vec![Some(20); 3_000]);
    // 30 ms more in the first of thirty talkspurts.
    assert_eq!(heard.playout_ns, Some((20.0 + 30.0 / 30.0) * 1e6));
    assert_eq!((heard.late_pct, heard.missed_pct), (0.0, 0.0));
    assert_eq!(heard.burst_ratio, None);
}

#[test]
fn a_queue_that_fills_is_followed_within_a_talkspurt() {
    // 20 ms for 10 s, then 250 ms: the rest of one talkspurt is late, no more.
    let delays = (0..3_000).map(|seq| Some(if seq < 1_050 { 20 } else { 250 }));
    let playout = Playout::of(&stream(delays));
    let late = |seconds: Range<u64>| {
        let when = seconds.start * 1_000_000_000..seconds.end * 1_000_000_000;
        playout.heard(&when).map(|heard| heard.late_pct)
    };
    assert_eq!(late(0..10), Some(0.0));
    assert_eq!(late(10..11), Some(50.0));
    assert_eq!(late(11..30), Some(0.0));
    let loaded = playout.heard(&(11_000_000_000..30_000_000_000)).unwrap();
    assert_eq!(loaded.playout_ns, Some(250e6));
}

#[test]
fn a_queue_that_drains_is_forgotten_after_the_window() {
    let delays = (0..4_000).map(|seq| Some(if seq < 1_000 { 250 } else { 20 }));
    let playout = Playout::of(&stream(delays));
    let at = |second: u64| {
        let when = second * 1_000_000_000..(second + 1) * 1_000_000_000;
        playout.heard(&when).unwrap().playout_ns
    };
    assert_eq!(at(15), Some(250e6));
    assert_eq!(at(25), Some(20e6));
}

#[test]
fn one_in_a_hundred_is_let_go() {
    // Every 200th takes 300 ms: waiting for it would cost every talkspurt 280 ms.
    let delays = (0..6_000).map(|seq| Some(if seq % 200 == 77 { 300 } else { 20 }));
    let heard = heard(delays);
    assert_eq!((heard.late_pct, heard.missed_pct), (0.5, 0.5));
    assert!(heard.playout_ns.unwrap() < 22.5e6, "{heard:?}");
    assert!((heard.burst_ratio.unwrap() - 0.995).abs() < 1e-9);
}

#[test]
fn what_is_lost_is_missed_and_not_late() {
    let delays = (0..1_000).map(|seq| (seq % 10 != 3).then_some(20));
    let missed = heard(delays);
    assert_eq!((missed.late_pct, missed.missed_pct), (0.0, 10.0));
    let nothing = heard(vec![None; 50]);
    assert_eq!((nothing.playout_ns, nothing.missed_pct), (None, 100.0));
    assert_eq!(Playout::of(&[]).heard(&ALL), None);
    let playout = Playout::of(&stream([Some(20)]));
    assert_eq!(
        playout.heard(&(1..2)),
        None,
        "nothing was sent in that time"
    );
}

proptest! {
    #[test]
    fn an_offset_of_the_clocks_moves_the_delay_and_nothing_else(
        delays in prop::collection::vec(prop::option::weighted(0.9, 0_i64..400), 1..400),
        offset in -1_000_i64..1_000,
    ) {
        let near = heard(delays.clone());
        let far = heard(delays.iter().map(|delay| delay.map(|ms| ms + offset)));
        prop_assert!((near.missed_pct - far.missed_pct).abs() < 1e-9);
        match (near.playout_ns, far.playout_ns) {
            (Some(near), Some(far)) => prop_assert!((far - near - (offset * MS) as f64).abs() < 1.0),
            (near, far) => prop_assert_eq!(near, far),
        }
    }

    #[test]
    fn any_stream_is_played(
        datagrams in prop::collection::vec((any::<u64>(), any::<u64>(), any::<Option<i64>>()), 0..50),
    ) {
        let stream: Vec<_> = datagrams
            .into_iter()
            .map(|(seq, sent_ns, delay_ns)| Datagram { seq, sent_ns, delay_ns })
            .collect();
        let heard = Playout::of(&stream).heard(&ALL);
        prop_assert!(heard.is_none_or(|heard| (0.0..=100.0).contains(&heard.missed_pct)));
    }
}
