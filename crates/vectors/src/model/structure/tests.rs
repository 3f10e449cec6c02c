use super::super::samples::{a, any_vector, b, concurrent, ms, sequential, vector};
use super::super::{Conserved, Footprint};
use super::*;
use proptest::prelude::*;

/// D's figure 3.3.1: three epochs of a persistent HTTP connection, with long and short waits.
fn http() -> Vector {
    let turns = [
        a(300, 20),
        b(1_000, 600),
        a(310, 499),
        b(2_000, 100),
        a(320, 9_000),
        b(3_000, 500),
    ];
    vector(sequential(&turns, Some(ms(15_000))))
}

/// D's figure 3.3.2: both ends send when they like.
fn chat() -> Vector {
    let turns = [
        a(10, 20),
        b(100, 900),
        a(20, 499),
        b(200, 500),
        a(30, 7_000),
    ];
    vector(concurrent(&turns, [Some(ms(1)), None]))
}

fn one(model: Structure, vector: Vector) -> Vector {
    let pieces = model.apply(vector, &Latencies::default());
    assert_eq!(pieces.back, None);
    pieces.forth.unwrap()
}

/// Holds tmix/harpoon.
#[test]
fn harpoon_opens_a_connection_from_each_side() {
    let pieces = Structure::Harpoon.apply(http(), &Latencies::default());
    let forth = pieces.forth.unwrap();
    let back = pieces.back.unwrap();
    assert_eq!(forth.body, sequential(&[a(930, 0)], Some(ms(0))));
    assert_eq!(back.body, sequential(&[a(6_000, 0)], Some(ms(0))));
    assert_eq!((forth.start, back.start), (ms(7_000), ms(7_000)));
    assert_eq!(back.windows, [8_192, 65_535]);
    assert_eq!(back.mss, Some([536, 1_460]));
    assert_eq!(back.loss[1], forth.loss[0]);
}

/// Holds tmix/harpoon.
#[test]
fn harpoon_opens_none_for_an_end_that_said_nothing() {
    let download = vector(sequential(&[b(5, 0)], None));
    let pieces = Structure::Harpoon.apply(download, &Latencies::default());
    assert_eq!(pieces.forth, None);
    assert_eq!(pieces.back.unwrap().body.bytes(Side::Initiator), 5);
}

/// Holds tmix/block-concurrent, tmix/block-sequential, tmix/tail.
#[test]
fn blocks_are_sent_at_once_or_in_turn() {
    let both = [a(930, 0), b(6_000, 0)];
    let closes = Some(ms(0));
    let conc = one(Structure::BlockConcurrent, http());
    assert_eq!(conc.body, concurrent(&both, [closes; 2]));
    let seq = one(Structure::BlockSequential, http());
    assert_eq!(seq.body, sequential(&both, closes));
    let chat = one(Structure::BlockSequential, chat());
    assert_eq!(chat.body, sequential(&[a(60, 0), b(300, 0)], closes));
}

/// Holds tmix/a-b.
#[test]
fn a_b_keeps_epochs_and_no_waits() {
    let expected = [
        a(300, 0),
        b(1_000, 0),
        a(310, 0),
        b(2_000, 0),
        a(320, 0),
        b(3_000, 0),
    ];
    let http = one(Structure::AB, http());
    assert_eq!(http.body, sequential(&expected, Some(ms(0))));
    assert_eq!(
        one(Structure::AB, chat()),
        one(Structure::BlockConcurrent, chat())
    );
}

/// Holds tmix/threshold, tmix/a-t-b.
#[test]
fn a_t_b_keeps_the_time_to_answer_from_500_ms_on() {
    let expected = [
        a(300, 0),
        b(1_000, 600),
        a(310, 0),
        b(2_000, 0),
        a(320, 0),
        b(3_000, 500),
    ];
    let http = one(Structure::ATB, http());
    assert_eq!(http.body, sequential(&expected, Some(ms(0))));
    assert_eq!(one(Structure::ATB, chat()), one(Structure::ATBT, chat()));
}

/// Holds tmix/a-t-b-t, tmix/threshold, tmix/tail.
#[test]
fn a_t_b_t_keeps_the_time_to_think_too() {
    let http = one(Structure::ATBT, http());
    let waits: Vec<_> = http.body.turns().iter().map(|turn| turn.wait).collect();
    assert_eq!(waits, [0, 600, 0, 0, 9_000, 500].map(ms));
    let chat = one(Structure::ATBT, chat());
    let expected = [a(10, 0), b(100, 0), a(20, 0), b(200, 500), a(30, 7_000)];
    assert_eq!(chat.body, concurrent(&expected, [Some(ms(0)); 2]));
}

#[test]
fn adus_without_the_wait_between_them_are_one() {
    let turns = [
        b(1, 0),
        b(2, 900),
        a(4, 900),
        a(8, 900),
        b(16, 900),
        b(32, 900),
    ];
    let twice = vector(sequential(&turns, None));
    let blocks = [b(3, 0), a(12, 0), b(48, 0)];
    let a_b = one(Structure::AB, twice.clone());
    assert_eq!(a_b.body, sequential(&blocks, Some(ms(0))));
    let a_t_b = one(Structure::ATB, twice.clone());
    let blocks = [b(3, 0), a(12, 0), b(48, 900)];
    assert_eq!(a_t_b.body, sequential(&blocks, Some(ms(0))));
    assert_eq!(one(Structure::ATBT, twice).body.turns().len(), 6);
}

/// Holds tmix/threshold, tmix/latencies.
#[test]
fn the_rule_for_waits_can_be_changed() {
    let all = Structure::ATBT.apply(http(), &Latencies::ALL);
    assert_eq!(all.forth, Some(http()));
    let less = Latencies {
        subtract_rtt: true,
        ..Latencies::ALL
    };
    let less = Structure::ATBT.apply(http(), &less).forth.unwrap();
    let waits: Vec<_> = less.body.turns().iter().map(|turn| turn.wait).collect();
    assert_eq!(waits, [20, 520, 499, 20, 9_000, 420].map(ms));
}

#[test]
fn names_are_read_and_written() {
    for model in Structure::ALL {
        assert_eq!(model.to_string().parse(), Ok(model));
    }
    assert_eq!("blk-seq".parse(), Ok(Structure::BlockSequential));
    assert!("a-b-t".parse::<Structure>().is_err());
}

#[test]
fn counters_that_do_not_balance_say_so() {
    let mut counters = Conserved::default();
    let before = Footprint::of(&http());
    counters.enter(before, &Structure::AB.apply(http(), &Latencies::default()));
    assert!(counters.holds());
    let mut wrong = Structure::Harpoon.apply(http(), &Latencies::default());
    wrong.back = None;
    wrong.forth.as_mut().unwrap().start = ms(1);
    counters.enter(before, &wrong);
    assert_eq!(
        (counters.resized, counters.moved, counters.connections),
        (1, 1, 2)
    );
    assert_eq!(counters.bytes_before, [1_860, 12_000]);
    assert_eq!(counters.bytes_after, [1_860, 6_000]);
}

/// The model that remains of two, applied in this order.
fn remains(first: Structure, then: Structure) -> Structure {
    let blocks = |model| model <= Structure::BlockSequential;
    if blocks(then) { then } else { first.min(then) }
}

proptest! {
    /// Holds tmix/conserved.
    #[test]
    fn no_octet_and_no_start_is_moved(vectors in prop::collection::vec(any_vector(), 0..8)) {
        for model in Structure::ALL {
            let mut counters = Conserved::default();
            for vector in &vectors {
                let pieces = model.apply(vector.clone(), &Latencies::default());
                counters.enter(Footprint::of(vector), &pieces);
                for (_, piece) in pieces.iter() {
                    prop_assert_eq!(piece.min_rtt, vector.min_rtt);
                    prop_assert_eq!(piece.ids, vector.ids);
                }
            }
            prop_assert!(counters.holds(), "{}: {:?}", model, counters);
            prop_assert_eq!(counters.vectors, vectors.len() as u64);
            if model != Structure::Harpoon {
                prop_assert_eq!(counters.connections, counters.vectors);
            }
        }
    }

    /// Twice is once, and a ladder is as low as its lowest step.
    #[test]
    fn models_compose(vector in any_vector()) {
        for first in &Structure::ALL[1..] {
            for then in &Structure::ALL[1..] {
                let both = one(*then, one(*first, vector.clone()));
                prop_assert_eq!(both, one(remains(*first, *then), vector.clone()), "{} {}", first, then);
            }
        }
    }

    #[test]
    fn everything_is_what_it_was(vector in any_vector()) {
        prop_assume!(!vector.body.turns().is_empty());
        let sequential = vector.body.is_sequential();
        let all = Structure::ATBT.apply(vector.clone(), &Latencies::ALL).forth.unwrap();
        if sequential {
            prop_assert_eq!(all, vector);
        } else {
            prop_assert_eq!(all.body.turns(), vector.body.turns());
        }
    }
}

#[test]
fn a_flow_of_udp_stays_as_it_is() {
    let flow = Vector {
        transport: Transport::Udp,
        ..http()
    };
    for structure in Structure::ALL {
        let pieces = structure.apply(flow.clone(), &Latencies::default());
        assert_eq!(pieces.forth.as_ref(), Some(&flow));
        assert_eq!(pieces.back, None);
    }
}
