//! Numbers that are not what they seem, and packets that come after the end.

use super::stage::*;
use crate::extract::{Count, End};
use capture::dissect::Flags;

#[test]
fn a_keep_alive_that_is_seen_first_is_no_data() {
    // The capture begins in a silent connection, with its keep-alive or with the answer to one before.
    for answered in [false, true] {
        let mut stage = Stage::new();
        if answered {
            stage.at(0).ack(A);
        }
        stage.at(10).raw(I, Flags::ACK, 999, u32::MAX - 3_000, 0);
        stage.at(30).ack(A).close(100);
        let (found, counters) = stage.play();
        assert_eq!(found, []);
        assert_eq!(counters.no_data.connections, 1);
    }
    // Of both ends, and then data.
    let mut stage = Stage::new();
    stage.at(10).raw(I, Flags::ACK, 999, u32::MAX - 3_000, 0);
    stage.at(30).ack(A);
    stage.at(35).raw(A, Flags::ACK, u32::MAX - 3_001, 1_000, 0);
    stage
        .at(40)
        .ack(I)
        .at(50)
        .data(I, 7)
        .at(70)
        .data(A, 1)
        .close(100);
    let found = stage.one();
    let turns = [(I, 7, 0), (A, 1, 20)];
    assert_eq!(found.vector.body, sequential(&turns, Some(30)));
    assert_eq!(found.seen.unseen, [0; 2]);
}

#[test]
fn data_on_its_way_when_the_reset_came_is_data() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 10).at(60).data(A, 1_000);
    let next = stage.next[I.index()];
    stage.at(65).raw(I, Flags::RST, next, 0, 0);
    stage.at(66).data(A, 1_000).at(67).data(A, 500);
    stage.at(68).raw(I, Flags::RST, next, 0, 0);
    let (found, counters) = stage.play();
    let expected = sequential(&[(I, 10, 10), (A, 2_500, 20)], Some(0));
    assert_eq!(found[0].vector.body, expected);
    assert_eq!(
        (found[0].seen.end, found[0].seen.complete),
        (End::Closed, true)
    );
    assert_eq!(counters.late, Count::default());
    // A forged one ends nothing.
    stage.at(100).data(I, 20).at(120).data(A, 30).close(200);
    let turns = [(I, 10, 10), (A, 2_500, 20), (I, 20, 33), (A, 30, 20)];
    assert_eq!(stage.body(), sequential(&turns, Some(80)));
}

#[test]
fn a_connection_that_is_refused_three_times_is_one() {
    let mut stage = Stage::new();
    for at in [0, 500, 1_000] {
        stage.at(at).raw(I, Flags::SYN, 999, 0, 0);
        stage
            .at(at + 20)
            .raw(A, Flags::RST | Flags::ACK, 0, 1_000, 0);
    }
    let (found, counters) = stage.play();
    assert_eq!(found, []);
    assert_eq!((counters.all.connections, counters.no_data.packets), (1, 6));
    // With another number it is another, and so is one after a long time.
    stage.at(1_500).raw(I, Flags::SYN, 5_999, 0, 0);
    stage.at(1_520).raw(A, Flags::RST | Flags::ACK, 0, 6_000, 0);
    assert_eq!(stage.play().1.all.connections, 2);
    // It is accepted at last.
    stage.next = [5_999, 70];
    stage.at(2_000).syn(I).at(2_020).syn(A).at(2_030).ack(I);
    stage.at(2_040).data(I, 5).at(2_060).data(A, 6);
    let found = stage.one();
    assert_eq!(
        found.vector.body,
        sequential(&[(I, 5, 10), (A, 6, 20)], None)
    );
    assert_eq!((found.seen.end, found.seen.complete), (End::Capture, false));
}

#[test]
fn a_number_far_ahead_needs_two_to_be_believed() {
    let mut stage = Stage::new();
    stage
        .open()
        .at(40)
        .data(I, 100)
        .at(60)
        .data(A, 200)
        .at(70)
        .ack(I);
    let [ours, theirs] = stage.next;
    // A segment and an acknowledgement of nobody's.
    stage.at(80).raw(I, Flags::ACK, ours + 1_000_000, theirs, 0);
    stage
        .at(81)
        .raw(I, Flags::ACK, ours, theirs.wrapping_add(1_000_000), 0);
    stage.at(90).data(I, 50).at(110).data(A, 60).close(200);
    let (found, counters) = stage.play();
    let turns = [(I, 100, 10), (A, 200, 20), (I, 50, 30), (A, 60, 20)];
    assert_eq!(found[0].vector.body, sequential(&turns, Some(90)));
    assert_eq!((found[0].seen.unseen, counters.strange), ([0; 2], 2));
    assert_eq!((found[0].seen.end, found.len()), (End::Closed, 1));
}

#[test]
fn a_hole_of_megabytes_is_believed_by_its_other_side() {
    let gap = |then: fn(&mut Stage)| {
        let mut stage = Stage::new();
        stage
            .open()
            .at(40)
            .data(I, 100)
            .at(60)
            .data(A, 200)
            .at(70)
            .ack(I);
        stage.next[A.index()] = stage.next[A.index()].wrapping_add(5_000_000);
        then(&mut stage);
        let found = stage.one();
        let octets = found
            .vector
            .body
            .turns()
            .iter()
            .map(|turn| turn.bytes)
            .sum();
        (octets, found.seen.unseen[A.index()], found.seen.end)
    };
    // Two segments, a segment and its acknowledgement, two acknowledgements, a FIN and its acknowledgement.
    let two: (u64, u64, End) = gap(|stage| {
        stage
            .at(80)
            .data(A, 1_000)
            .data(A, 500)
            .at(90)
            .ack(I)
            .close(200);
    });
    assert_eq!(two, (5_001_800, 5_000_000, End::Closed));
    let acked = gap(|stage| {
        stage.at(80).data(A, 1_000).at(90).ack(I).close(200);
    });
    assert_eq!(acked, (5_001_300, 5_000_000, End::Closed));
    let unseen = gap(|stage| {
        stage.at(80).ack(I).at(90).ack(I).close(200);
    });
    assert_eq!(unseen, (5_000_300, 5_000_000, End::Closed));
    let closed = gap(|stage| {
        stage
            .at(80)
            .fin(A)
            .at(90)
            .ack(I)
            .at(91)
            .fin(I)
            .at(100)
            .ack(A);
    });
    assert_eq!(closed, (5_000_300, 5_000_000, End::Closed));
}
