//! Any talk of two ends, cut into segments and disturbed, comes back as it was.

use super::stage::*;
use crate::extract::Options;
use crate::{Body, Side, Turn};
use capture::dissect::{Flags, Segment, TcpOptions};
use core::time::Duration;
use proptest::prelude::*;

const MSS: u64 = 1_448;

/// What is done to the capture of an ADU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Trouble {
    None,
    /// Two neighbours change places.
    Swap(usize),
    /// One is sent again at the end.
    Again(usize),
    /// One is not in the capture.
    Missed(usize),
}

fn trouble() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        3 => Just(Trouble::None),
        1 => (0..8_usize).prop_map(Trouble::Swap),
        1 => (0..8_usize).prop_map(Trouble::Again),
        1 => (0..8_usize).prop_map(Trouble::Missed),
    ]
}

/// Turns that alternate or, after a quiet time, go on; with the trouble of each.
fn talk() -> impl Strategy<Value = Vec<(Turn, Trouble)>> {
    // A last segment of one octet, unless it is in the capture, cannot be told from a FIN.
    let bytes = (2..12_000_u64).prop_map(|bytes| bytes + u64::from(bytes % MSS == 1));
    let turn = (any::<bool>(), bytes, 1..700_u64, trouble());
    (any::<bool>(), prop::collection::vec(turn, 1..12)).prop_map(|(first, turns)| {
        let mut side = if first { I } else { A };
        let mut talk = Vec::new();
        for (other, bytes, wait, trouble) in turns {
            let mut wait_ms = wait;
            if other || talk.is_empty() {
                side = side.other();
            } else {
                // From the acknowledgement on, and to the end and back.
                wait_ms += 600;
            }
            talk.push((
                Turn {
                    side,
                    bytes,
                    wait: ms(wait_ms),
                },
                trouble,
            ));
        }
        talk
    })
}

/// Plays turns on a stage whose ends acknowledge after 20 and 10 ms.
fn act(stage: &mut Stage, talk: &[(Turn, Trouble)]) {
    stage.open();
    let mut now = 30;
    for (turn, trouble) in talk {
        now += u64::try_from(turn.wait.as_millis()).unwrap();
        stage.at(now);
        let begin = stage.segments.len();
        let mut left = turn.bytes;
        while left > 0 {
            let piece = left.min(MSS);
            stage.data(turn.side, u32::try_from(piece).unwrap());
            left -= piece;
        }
        disturb(&mut stage.segments, begin, *trouble);
        // The acknowledgement does not move time: the next ADU waits from the end of this one.
        let after = if turn.side == I { 20 } else { 10 };
        stage.at(now + after.min(1)).ack(turn.side.other());
    }
    stage.close(now + 100);
}

fn disturb(segments: &mut Vec<Segment>, begin: usize, trouble: Trouble) {
    let count = segments.len() - begin;
    match trouble {
        Trouble::Swap(at) if count > 1 => {
            segments.swap(begin + at % (count - 1), begin + at % (count - 1) + 1);
        }
        Trouble::Again(at) => {
            let again = segments[begin + at % count];
            segments.push(again);
        }
        Trouble::Missed(at) => {
            segments.remove(begin + at % count);
        }
        Trouble::None | Trouble::Swap(_) => {}
    }
}

proptest! {
    /// Holds tmix/inference.
    #[test]
    fn it_comes_back(talk in talk()) {
        let mut stage = Stage::new();
        act(&mut stage, &talk);
        let found = stage.one();
        let body = &found.vector.body;
        prop_assert!(body.is_sequential());
        let sizes = |turns: &[Turn]| turns.iter().map(|turn| (turn.side, turn.bytes)).collect::<Vec<_>>();
        let expected: Vec<_> = talk.iter().map(|(turn, _)| *turn).collect();
        prop_assert_eq!(sizes(body.turns()), sizes(&expected));
        // What is missing was seen late, by a millisecond.
        for (turn, expected) in body.turns().iter().zip(&expected) {
            prop_assert!(turn.wait.abs_diff(expected.wait) <= ms(1), "{turn:?} {expected:?}");
        }
        let Body::Sequential { tail, .. } = body else { unreachable!() };
        prop_assert!(tail.unwrap().abs_diff(ms(100)) <= ms(1));
        for side in Side::BOTH {
            let again = talk.iter().filter(|(turn, trouble)| turn.side == side && matches!(trouble, Trouble::Again(_)));
            prop_assert_eq!(found.seen.again[side.index()], again.count() as u64);
        }
    }

    #[test]
    fn any_segments_are_accounted_for(
        segments in prop::collection::vec((0..3_u16, any::<bool>(), any::<u8>(), 0..5_u32, 0..5_u32, 0..3_u32, 0..100_u64), 0..200),
        far: bool,
        most_open in 0..4_usize,
    ) {
        let step = if far { 0x3000_0000 } else { 700 };
        let segments: Vec<_> = segments.into_iter().map(|(port, back, flags, seq, ack, payload, at)| {
            let mut ends = [([10, 0, 0, 1], port), ([10, 0, 0, 2], 80)]
                .map(|(address, port)| core::net::SocketAddr::from((address, port)).into());
            if back {
                ends.reverse();
            }
            Segment {
                at_ns: at * 10_000_000_000,
                from: ends[0],
                to: ends[1],
                seq: seq.wrapping_mul(step),
                ack: ack.wrapping_mul(step),
                payload: payload * 700,
                packet_len: payload * 700 + 40,
                window: 500,
                flags: Flags(flags),
                options: TcpOptions { timestamps: Some((seq, ack)), ..TcpOptions::default() },
            }
        }).collect();
        let options = Options { most_open, ..Options::default() };
        let (found, _) = play(&segments, options);
        for found in &found {
            prop_assert!(!found.vector.body.turns().is_empty());
            prop_assert!(found.vector.body.turns().iter().all(|turn| turn.bytes > 0));
            prop_assert!(found.seen.duration <= Duration::from_secs(1_000));
        }
        // The seed of the hash changes nothing.
        let again = play(&segments, Options { seed: 99, ..options });
        prop_assert_eq!(found, again.0);
    }
}
