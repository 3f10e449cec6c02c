//! Flows by script: who sends how many octets when.

use super::form::{FIRST, FULL};
use crate::extract::{Counters, End, Extracted, Extractor, Options};
use crate::{Body, MAX_ADUS, Side, Transport, Turn};
use capture::dissect::Datagram;
use core::net::SocketAddr;
use core::time::Duration;
use proptest::prelude::*;

use Side::{Acceptor as A, Initiator as I};

/// Datagrams of two ends: who, octets, when in microseconds.
fn datagrams(ends: [&str; 2], script: &[(Side, u32, u64)]) -> Vec<Datagram> {
    let ends = ends.map(|end| end.parse::<SocketAddr>().unwrap().into());
    let script = script.iter();
    script
        .map(|&(side, payload, at_us)| Datagram {
            at_ns: 1_000_000_000 + at_us * 1_000,
            from: ends[side.index()],
            to: ends[side.other().index()],
            payload,
            packet_len: payload + 28,
        })
        .collect()
}

fn play(datagrams: &[Datagram], options: Options) -> (Vec<Extracted>, Counters) {
    let mut extractor = Extractor::new(options);
    let mut found = Vec::new();
    for datagram in datagrams {
        extractor.handle_datagram(datagram);
        found.extend(core::iter::from_fn(|| extractor.poll()));
    }
    extractor.finish();
    found.extend(core::iter::from_fn(|| extractor.poll()));
    let counters = *extractor.counters();
    let udp = counters.udp;
    let mut sum = udp.exchange;
    for part in [udp.isochronous, udp.no_data, udp.refused] {
        sum += part;
    }
    assert_eq!(sum, udp.all);
    assert_eq!(udp.all.packets, datagrams.len() as u64);
    assert_eq!(counters.all.packets, 0);
    (found, counters)
}

const ENDS: [&str; 2] = ["10.0.0.1:40000", "10.0.0.2:443"];

#[track_caller]
fn one(script: &[(Side, u32, u64)]) -> Extracted {
    let (found, counters) = play(&datagrams(ENDS, script), Options::default());
    assert_eq!(found.len(), 1, "{counters:#?}");
    found.into_iter().next().unwrap()
}

fn turn(side: Side, bytes: u64, wait_us: u64) -> Turn {
    Turn {
        side,
        bytes,
        wait: Duration::from_micros(wait_us),
    }
}

fn exchange(turns: &[Turn]) -> Body {
    Body::Sequential {
        turns: turns.to_vec(),
        tail: None,
    }
}

/// Holds tmix/tcp-only, tmix/udp.
#[test]
fn a_question_and_its_answer() {
    // Both addresses of a name are asked for at once, and each answer is as long as it is.
    let found = one(&[(I, 40, 0), (I, 40, 50), (A, 56, 20_000), (A, 4_000, 21_000)]);
    let turns = [
        turn(I, 40, 0),
        turn(I, 40, 50),
        turn(A, 56, 19_950),
        turn(A, 4_000, 1_000),
    ];
    assert_eq!(found.vector.body, exchange(&turns));
    assert_eq!(found.vector.transport, Transport::Udp);
    assert_eq!(found.vector.mss, Some([40, 4_000]));
    assert_eq!(found.vector.min_rtt, None);
    assert_eq!(found.seen.ends, ENDS.map(|end| end.parse().unwrap()));
    assert_eq!(found.seen.packets, [2, 2]);
    assert_eq!(found.seen.bytes, [80 + 56, 4_056 + 56]);
}

#[test]
fn a_train_is_one_and_its_acknowledgements_are_none() {
    let mut script = vec![(I, 1_200, 0), (A, 1_200, 20_000), (I, 300, 40_000)];
    // 120 full datagrams and a rest, an acknowledgement for two.
    for at in 0..60 {
        let at_us = 60_000 + at * 1_000;
        script.extend([(A, 1_200, at_us), (A, 1_200, at_us + 10)]);
        script.push((I, 35, at_us + 20));
    }
    script.extend([(A, 700, 121_000), (I, 35, 121_500), (I, 280, 900_000)]);
    let found = one(&script);
    let turns = [
        turn(I, 1_200, 0),
        turn(A, 1_200, 20_000),
        turn(I, 300, 20_000),
        turn(A, 120 * 1_200 + 700, 20_000),
        turn(I, 280, 779_000),
    ];
    assert_eq!(found.vector.body, exchange(&turns));
    assert_eq!(found.vector.mss, Some([1_200, 1_200]));
    assert_eq!(found.seen.packets, [64, 122]);
}

#[test]
fn a_quiet_time_ends_a_train_and_an_acknowledgement() {
    let full = FULL;
    let found = one(&[
        (I, full, 0),
        (I, full, 499_000),
        (I, full, 999_000),
        (A, 35, 1_498_000),
        (I, full, 1_500_000),
        (A, 35, 2_000_000),
    ]);
    let f = u64::from(full);
    let turns = [
        turn(I, 2 * f, 0),
        turn(I, f, 500_000),
        turn(I, f, 501_000),
        turn(A, 35, 500_000),
    ];
    // The third and the fourth are 501 ms apart, whatever came between.
    assert_eq!(found.vector.body, exchange(&turns));
}

/// Holds tmix/udp.
#[test]
fn a_call_keeps_every_datagram_and_both_clocks() {
    let mut script = Vec::new();
    for at in 0..400 {
        script.push((I, 172, at * 20_000));
        script.push((A, 160 + u32::try_from(at % 7).unwrap(), at * 20_000 + 7_000));
    }
    let body = one(&script).vector.body;
    assert!(!body.is_sequential());
    assert_eq!((body.adus(I), body.adus(A)), (400, 400));
    let (first, rest) = body.turns().split_at(2);
    assert_eq!(first, [turn(I, 172, 0), turn(A, 160, 7_000)]);
    assert!(
        rest.iter()
            .all(|turn| turn.wait == Duration::from_millis(20))
    );
}

#[test]
fn who_needs_no_answer_is_isochronous() {
    let isochronous = |script: &[_]| !one(script).vector.body.is_sequential();
    let stream = |count: u64, octets: u32| (0..count).map(move |at| (I, octets, at * 1_000));
    // Television, with a report of its receiver now and then.
    let mut television: Vec<_> = stream(300, 1_316).collect();
    television.insert(64, (A, 60, 63_500));
    assert!(isochronous(&television));
    television.insert(63, (A, 60, 62_500));
    television.insert(120, (A, 60, 118_500));
    television.insert(180, (A, 60, 177_500));
    television.insert(240, (A, 60, 236_500));
    assert!(!isochronous(&television[..FIRST]));
    // One end alone, even with a single datagram.
    let found = one(&[(I, 100, 0)]);
    assert!(!found.vector.body.is_sequential());
    assert_eq!(found.vector.mss, Some([100, 0]));
    // Fifteen in time and sixteen.
    let mut game: Vec<_> = (0..16).map(|at| (I, 90, at * 400_000)).collect();
    game.insert(0, (A, 90, 0));
    assert!(isochronous(&game));
    game.pop();
    assert!(!isochronous(&game));
}

#[test]
fn the_first_datagrams_decide() {
    // An exchange that becomes a stream later stays one.
    let mut script: Vec<_> = (0..128)
        .flat_map(|at| [(I, 50, at * 1_100_000), (A, 60, at * 1_100_000 + 9)])
        .collect();
    assert_eq!(script.len(), FIRST);
    script.extend((0..100).map(|at| (A, 90, 140_800_000 + at * 1_000)));
    let body = one(&script).vector.body;
    assert!(body.is_sequential());
    assert_eq!(body.turns().len(), FIRST + 100);
}

#[test]
fn a_silence_ends_a_flow() {
    let script = [
        (I, 10, 0),
        (A, 10, 5),
        (I, 10, 60_000_005),
        (A, 10, 120_000_006),
    ];
    let (found, counters) = play(&datagrams(ENDS, &script), Options::default());
    let sizes: Vec<_> = found
        .iter()
        .map(|one| one.vector.body.turns().len())
        .collect();
    assert_eq!(sizes, [3, 1]);
    assert_eq!(
        [found[0].seen.end, found[1].seen.end],
        [End::Silence, End::Capture]
    );
    // The acceptor has the port of a service, though it is seen first.
    assert_eq!(found[1].vector.body.turns()[0].side, A);
    assert_eq!(found[1].vector.start, Duration::from_micros(120_000_006));
    assert_eq!(counters.udp.one_way.connections, 1);
}

#[test]
fn what_says_nothing_is_discarded_and_what_has_no_room_refused() {
    let (found, counters) = play(
        &datagrams(ENDS, &[(I, 0, 0), (A, 0, 1)]),
        Options::default(),
    );
    assert_eq!((found.len(), counters.udp.no_data.packets), (0, 2));
    let mut two = datagrams(ENDS, &[(I, 9, 0)]);
    two.extend(datagrams(["10.0.0.3:5000", "10.0.0.2:443"], &[(I, 9, 1)]));
    let options = Options {
        most_open: 1,
        ..Options::default()
    };
    let (found, counters) = play(&two, options);
    assert_eq!((found.len(), counters.udp.refused.packets), (1, 1));
}

#[test]
fn what_is_too_long_for_a_vector_is_cut() {
    let count = MAX_ADUS as u64 + 10;
    let script: Vec<_> = (0..count).map(|at| (I, 100, at)).collect();
    let (found, _) = play(&datagrams(ENDS, &script), Options::default());
    let sizes: Vec<_> = found
        .iter()
        .map(|one| one.vector.body.turns().len())
        .collect();
    assert_eq!(sizes, [MAX_ADUS, 10]);
    assert_eq!(found[0].seen.end, End::Full);
}

proptest! {
    #[test]
    fn octets_are_conserved_but_for_acknowledgements(
        script in prop::collection::vec((any::<bool>(), prop_oneof![0..100_u32, 1_150..1_300_u32], 0..700_000_u64), 1..600),
    ) {
        let mut at = 0;
        let script: Vec<_> = script.into_iter().map(|(ours, octets, gap)| {
            at += gap;
            (if ours { I } else { A }, octets, at)
        }).collect();
        let (found, counters) = play(&datagrams(ENDS, &script), Options::default());
        let said: u64 = found.iter().flat_map(|one| Side::BOTH.map(|side| one.vector.body.bytes(side))).sum();
        let sent: u64 = script.iter().map(|&(_, octets, _)| u64::from(octets)).sum();
        let small: u64 = script.iter().filter(|word| word.1 <= 64).map(|word| u64::from(word.1)).sum();
        prop_assert!(said <= sent && said + small >= sent, "{said} {sent} {small}");
        if counters.udp.exchange.connections == 0 {
            prop_assert_eq!(said, sent);
        }
        for one in &found {
            prop_assert!(one.vector.body.turns().iter().all(|turn| turn.bytes > 0));
            // Waits and nothing else make up the time of an isochronous flow.
            if !one.vector.body.is_sequential() {
                for side in Side::BOTH {
                    let turns = one.vector.body.turns().iter().filter(|turn| turn.side == side);
                    let lasts: Duration = turns.map(|turn| turn.wait).sum();
                    prop_assert!(lasts <= one.seen.duration);
                }
            }
        }
    }
}
