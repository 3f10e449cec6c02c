use super::stage::*;
use crate::Loss;
use crate::extract::{Count, Counters, End, Options};
use capture::dissect::Flags;

/// Holds tmix/vector, tmix/inference, tmix/latencies, tmix/min-rtt, tmix/incomplete.
#[test]
fn requests_and_responses_with_their_waits() {
    let mut stage = Stage::new();
    stage.open().at(35).data(I, 300).at(40).data(I, 60);
    stage
        .at(100)
        .data(A, 1_448)
        .data(A, 1_448)
        .at(111)
        .data(A, 52)
        .at(121)
        .ack(I);
    stage.at(900).data(I, 400).at(950).data(A, 7).close(2_000);
    let found = stage.one();
    let turns = [(I, 360, 5), (A, 2_948, 60), (I, 400, 789), (A, 7, 50)];
    assert_eq!(found.vector.body, sequential(&turns, Some(1_050)));
    assert_eq!(found.vector.min_rtt, Some(ms(30)));
    assert_eq!(found.seen.half_rtt, [Some(ms(20)), Some(ms(10))]);
    assert_eq!(found.vector.windows, [60_000; 2]);
    assert_eq!(found.vector.loss, [Loss::NONE; 2]);
    assert_eq!((found.seen.complete, found.seen.end), (true, End::Closed));
    assert_eq!(found.seen.packets, [8, 6]);
    assert_eq!(found.seen.ends.map(|end| end.port()), [40_000, 80]);
}

#[test]
fn a_silent_end_that_speaks_again_begins_another_unit() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 100).at(60).ack(A);
    // Free since 60 ms: 499 ms with the 10 ms to the end and back are not enough, 510 are.
    stage
        .at(569)
        .data(I, 10)
        .at(589)
        .ack(A)
        .at(1_099)
        .data(I, 1)
        .at(1_119)
        .ack(A);
    assert_eq!(stage.body(), sequential(&[(I, 110, 10), (I, 1, 530)], None));
}

/// Holds tmix/adu, tmix/latencies.
#[test]
fn an_end_that_waits_for_the_network_is_not_silent() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 1_000);
    // Nobody answers; a second later it is sent again, and everything goes on.
    stage
        .at(1_040)
        .raw(I, Flags::ACK, 1_001, u32::MAX - 2_999, 1_000)
        .at(1_060)
        .ack(A)
        .at(1_070)
        .data(I, 1_000);
    // The window closes for five seconds. A probe of one octet is refused.
    stage.window(0).at(1_090).ack(A);
    stage
        .at(3_000)
        .raw(I, Flags::ACK, 3_001, u32::MAX - 2_999, 1)
        .at(3_020)
        .ack(A);
    stage
        .window(60_000)
        .at(6_090)
        .ack(A)
        .at(6_100)
        .data(I, 500)
        .at(6_120)
        .ack(A);
    let found = stage.one();
    assert_eq!(found.vector.body, sequential(&[(I, 2_500, 10)], None));
    // One of five segments was sent twice.
    assert_eq!((found.seen.again, found.seen.segments), ([1, 0], [5, 0]));
    assert_eq!(found.vector.loss, [Loss::of(1, 5), Loss::NONE]);
}

#[test]
fn keep_alives_are_neither_data_nor_loss() {
    let mut stage = Stage::new();
    stage
        .open()
        .at(40)
        .data(I, 10)
        .at(60)
        .data(A, 20)
        .at(70)
        .ack(I);
    for at in 1..4 {
        stage
            .at(at * 60_000)
            .raw(I, Flags::ACK, 1_010, u32::MAX - 2_979, 1);
        stage.at(at * 60_000 + 20).ack(A);
        stage
            .at(at * 60_000 + 40)
            .raw(I, Flags::ACK, 1_010, u32::MAX - 2_979, 0);
    }
    let found = stage.one();
    assert_eq!(
        found.vector.body,
        sequential(&[(I, 10, 10), (A, 20, 20)], None)
    );
    assert_eq!((found.seen.again, found.seen.segments), ([0; 2], [1; 2]));
}

/// Holds tmix/concurrent, tmix/quiet-time.
#[test]
fn what_was_under_way_at_once_is_concurrent() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 100);
    let before = stage.next[0].wrapping_sub(100);
    // The acceptor speaks before it has the request.
    stage.at(45).data_with_ack(A, 50, before).at(70).ack(I);
    stage
        .at(100)
        .data(A, 7)
        .at(110)
        .ack(I)
        .at(2_000)
        .data(I, 8)
        .at(2_020)
        .data(A, 9)
        .close(3_000);
    let turns = [(I, 100, 10), (A, 57, 15), (I, 8, 1_960), (A, 9, 1_920)];
    assert_eq!(stage.body(), concurrent(&turns, [Some(1_000), Some(1_000)]));
}

/// Holds tmix/concurrent.
#[test]
fn what_becomes_concurrent_late_is_concurrent_from_the_beginning() {
    let mut stage = Stage::new();
    stage.open();
    for round in 0..3 {
        stage
            .at(100 + round * 100)
            .data(I, 10)
            .at(150 + round * 100)
            .data(A, 20)
            .at(160 + round * 100)
            .ack(I);
    }
    stage.at(1_000).data(I, 10);
    let before = stage.next[0].wrapping_sub(10);
    stage.at(1_001).data_with_ack(A, 20, before);
    let turns = [(I, 30, 70), (A, 60, 120), (I, 10, 700), (A, 20, 651)];
    assert_eq!(stage.body(), concurrent(&turns, [None, None]));
}

/// Holds tmix/adu.
#[test]
fn segments_that_are_overtaken_change_nothing() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 100);
    stage.at(60).data(A, 1_000).data(A, 1_000).data(A, 1_000);
    let last = stage.segments.len() - 1;
    stage.segments.swap(last, last - 1);
    stage.at(70).ack(I).close(100);
    let found = stage.one();
    assert_eq!(
        found.vector.body,
        sequential(&[(I, 100, 10), (A, 3_000, 20)], Some(40))
    );
    assert_eq!((found.seen.overtaken, found.seen.unseen), ([0, 1], [0; 2]));
    assert_eq!(found.vector.loss, [Loss::NONE; 2]);
}

/// Holds tmix/loss.
#[test]
fn loss_on_either_side_of_the_monitor_is_loss() {
    let mut stage = Stage::new();
    stage
        .open()
        .at(40)
        .data(I, 1_000)
        .data(I, 1_000)
        .missed()
        .data(I, 1_000)
        .data(I, 1_000);
    // The second was lost before the monitor and the fourth behind it.
    let [second, fourth] = [2_001, 4_001];
    stage
        .at(100)
        .raw(I, Flags::ACK, second, u32::MAX - 2_999, 1_000);
    stage
        .at(140)
        .raw(I, Flags::ACK, fourth, u32::MAX - 2_999, 1_000)
        .at(160)
        .ack(A);
    let found = stage.one();
    assert_eq!(found.vector.body, sequential(&[(I, 4_000, 10)], None));
    assert_eq!((found.seen.filled, found.seen.again), ([1, 0], [1, 0]));
    // Five passed, and one that did not.
    assert_eq!(found.vector.loss, [Loss::of(2, 6), Loss::NONE]);
}

/// Holds tmix/adu.
#[test]
fn a_capture_with_holes_has_all_octets() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 100).missed();
    stage
        .at(60)
        .data(A, 1_000)
        .data(A, 1_000)
        .missed()
        .data(A, 1_000)
        .at(70)
        .ack(I);
    stage
        .at(80)
        .data(I, 50)
        .at(100)
        .data(A, 40)
        .missed()
        .at(110)
        .ack(I)
        .close(200);
    let found = stage.one();
    let turns = [(I, 100, 30), (A, 3_000, 0), (I, 50, 20), (A, 40, 30)];
    assert_eq!(found.vector.body, sequential(&turns, Some(90)));
    assert_eq!(found.seen.unseen, [100, 1_040]);
    assert_eq!(found.vector.loss, [Loss::NONE; 2]);
}

/// Holds tmix/windows.
#[test]
fn windows_are_scaled_when_both_ends_want_that() {
    let scaled = |both: bool| {
        let mut stage = Stage::new();
        stage.window(40_000).open().at(40).data(I, 1).close(100);
        stage.segments[0].options.window_scale = Some(7);
        stage.segments[1].options.window_scale = both.then_some(2);
        stage.segments[0].options.mss = Some(1_460);
        stage.segments[1].options.mss = Some(536);
        stage.one().vector
    };
    assert_eq!(scaled(true).windows, [40_000 << 7, 40_000 << 2]);
    assert_eq!(scaled(false).windows, [40_000; 2]);
    assert_eq!(scaled(true).mss, Some([536, 1_460]));
}

#[test]
fn a_syn_that_is_sent_again_echoes_nothing() {
    let mut stage = Stage::new();
    // A path of 2 s in its first half: the SYN is sent again before the answer to the first arrives.
    let answered = Flags::SYN | Flags::ACK;
    stage.raw(I, Flags::SYN, 999, 0, 0);
    stage.at(900).raw(A, answered, 5_000, 1_000, 0);
    stage.at(1_000).raw(I, Flags::SYN, 999, 0, 0);
    stage.at(2_900).raw(I, Flags::ACK, 1_000, 5_001, 0);
    stage.at(2_901).raw(I, Flags::ACK, 1_000, 5_001, 100);
    stage.at(3_801).raw(A, Flags::ACK, 5_001, 1_100, 100);
    let clocks = [
        (7, 0),
        (3_000_000_000, 7),
        (8, 0),
        (9, 3_000_000_000),
        (9, 3_000_000_000),
        (3_000_000_001, 9),
    ];
    for (segment, clocks) in stage.segments.iter_mut().zip(clocks) {
        segment.options.timestamps = Some(clocks);
    }
    let found = stage.one();
    assert_eq!(found.seen.half_rtt, [Some(ms(900)), Some(ms(2_000))]);
}

/// Holds tmix/one-sided, tmix/incomplete.
#[test]
fn clocks_tell_the_half_that_never_acknowledges() {
    let mut stage = Stage::new();
    // From the middle: one end sends, the other acknowledges.
    for flight in 0..5 {
        let at = 100 + flight * 30;
        stage.at(at).data(A, 1_000).at(at + 10).ack(I);
    }
    for (segment, at) in stage.segments.iter_mut().zip(0..) {
        let (of_a, of_i) = (at / 2 + 500, at / 2 + 70);
        let clocks = if at % 2 == 0 {
            (of_a, of_i - 1)
        } else {
            (of_i, of_a)
        };
        segment.options.timestamps = Some(clocks);
    }
    let found = stage.one();
    // 10 ms to the end that acknowledges, and 20 ms from its acknowledgement to the next segment.
    assert_eq!(found.vector.min_rtt, Some(ms(30)));
    assert_eq!(
        (found.seen.initiator_known, found.seen.complete),
        (false, false)
    );
    assert_eq!(found.seen.ends[0].port(), 40_000);
    assert_eq!(found.vector.body, sequential(&[(A, 5_000, 0)], None));
}

/// Holds tmix/discarded.
#[test]
fn what_has_no_vector_is_counted_by_reason() {
    let mut stage = Stage::new();
    // A SYN and a RST.
    stage
        .at(0)
        .syn(I)
        .raw(A, Flags::RST | Flags::ACK, 0, 1_001, 0);
    // Two SYNs without an answer, of another.
    stage
        .ends(["10.0.0.3:5", "10.0.0.4:6"])
        .at(10)
        .raw(I, Flags::SYN, 7, 0, 0)
        .raw(I, Flags::SYN, 7, 0, 0);
    // Data in one direction, of a third.
    stage
        .ends(["[fd77::1]:5", "[fd77::2]:6"])
        .at(20)
        .raw(I, Flags::ACK, 7, 7, 1_000);
    let (found, counters) = stage.play();
    assert_eq!(found, []);
    assert_eq!(
        counters.no_data,
        Count {
            connections: 1,
            packets: 2,
            bytes: 80
        }
    );
    assert_eq!(
        counters.one_way,
        Count {
            connections: 2,
            packets: 3,
            bytes: 1_120
        }
    );
}

/// Holds tmix/start.
#[test]
fn packets_after_the_end_belong_to_nothing_and_a_syn_begins_another() {
    let mut stage = Stage::new();
    stage
        .open()
        .at(40)
        .data(I, 10)
        .at(60)
        .data(A, 20)
        .close(100);
    let fin = stage.segments[stage.segments.len() - 2];
    stage.segments.push(fin);
    stage.next = [77, 99];
    stage
        .at(1_000)
        .syn(I)
        .at(1_020)
        .syn(A)
        .at(1_030)
        .ack(I)
        .data(I, 5);
    // A new SYN while this one is open.
    stage.next = [777, 999];
    stage.at(2_000).syn(I).syn(I).segments.pop();
    stage.next[0] = 778;
    stage
        .at(2_020)
        .syn(A)
        .at(2_030)
        .ack(I)
        .data(I, 6)
        .at(2_050)
        .raw(A, Flags::RST, 1_000, 0, 0);
    let (found, counters) = stage.play();
    let ends: Vec<_> = found
        .iter()
        .map(|found| (found.seen.end, found.seen.complete))
        .collect();
    assert_eq!(
        ends,
        [
            (End::Closed, true),
            (End::Reused, false),
            (End::Closed, true)
        ]
    );
    assert_eq!(found[2].vector.body, sequential(&[(I, 6, 0)], Some(20)));
    assert_eq!(found[2].vector.start, ms(2_000));
    assert_eq!(counters.late.packets, 1);
}

#[test]
fn an_answer_to_a_syn_that_was_not_seen_begins_another() {
    // The capture begins within a connection; the next one's SYN is missing.
    let begun = |seq: u32| {
        let mut stage = Stage::new();
        stage.at(0).data(A, 500).at(20).ack(I);
        let first = stage.next[A.index()].wrapping_sub(500);
        stage.at(3_000);
        stage.raw(A, Flags::SYN | Flags::ACK, first.wrapping_add(seq), 7, 0);
        stage
    };
    let (found, counters) = begun(400_000).play();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].seen.end, End::Reused);
    assert_eq!(counters.all.connections, 2);
    // Its own, which its data overtook.
    let (found, counters) = begun(u32::MAX).play();
    assert_eq!((found.len(), counters.all.connections), (1, 1));
    assert_eq!(found[0].seen.end, End::Capture);
}

#[test]
fn a_syn_that_was_overtaken_or_sent_again_begins_nothing() {
    let mut stage = Stage::new();
    stage
        .open()
        .at(40)
        .data(I, 10)
        .at(60)
        .data(A, 20)
        .close(100);
    stage.segments.swap(0, 1);
    let syn = stage.segments[1];
    stage.segments.insert(4, syn);
    let found = stage.one();
    assert_eq!(
        found.vector.body,
        sequential(&[(I, 10, 10), (A, 20, 20)], Some(40))
    );
    assert!(found.seen.complete && found.seen.initiator_known);
}

#[test]
fn numbers_from_elsewhere_are_strange_and_three_in_a_row_another_connection() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 10).at(60).data(A, 20);
    stage
        .at(70)
        .raw(I, Flags::ACK, 0x9000_0000, 5, 100)
        .at(80)
        .data(I, 10);
    stage.at(100).data(A, 20);
    let (found, counters) = stage.play();
    assert_eq!((found.len(), counters.strange), (1, 1));
    for at in 0..4 {
        stage
            .at(200 + u64::from(at))
            .raw(I, Flags::ACK, 0x9000_0000 + at * 100, 5, 100);
    }
    stage.at(300).raw(A, Flags::ACK, 5, 0x9000_0190, 100);
    let (found, _) = stage.play();
    assert_eq!(found[0].seen.end, End::Reused);
    assert_eq!(
        found[1].vector.body,
        sequential(&[(I, 200, 0), (A, 100, 97)], None)
    );
}

#[test]
fn silence_ends_a_connection() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 10).at(60).data(A, 20);
    stage
        .ends(["10.0.0.3:5", "10.0.0.4:6"])
        .at(3_600_000)
        .syn(I);
    assert_eq!(stage.one().seen.end, End::Capture);
    stage.ends(["10.0.0.5:5", "10.0.0.6:6"]).at(8_000_000);
    for _ in 0..4 {
        stage.raw(I, Flags::SYN, 7, 0, 0);
    }
    let found = stage.one();
    assert_eq!(
        (found.seen.end, found.seen.duration),
        (End::Silence, ms(60))
    );
}

#[test]
fn connections_for_which_there_is_no_room_are_counted() {
    let mut stage = Stage::new();
    stage.open().at(40).data(I, 10);
    stage
        .ends(["10.0.0.3:5", "10.0.0.4:6"])
        .at(50)
        .syn(I)
        .syn(A);
    let options = Options {
        most_open: 1,
        ..Options::default()
    };
    let (found, counters) = play(&stage.segments, options);
    assert_eq!(found.len(), 1);
    assert_eq!(
        counters.refused,
        Count {
            connections: 0,
            packets: 2,
            bytes: 80
        }
    );
}

#[test]
fn nothing_comes_of_nothing() {
    assert_eq!(play(&[], Options::default()), (vec![], Counters::default()));
}
