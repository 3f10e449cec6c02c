//! Vectors for tests.

use crate::{Body, Loss, Side, Transport, Turn, Vector};
use core::time::Duration;
use proptest::prelude::*;

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// An ADU of the initiator.
pub(crate) const fn a(bytes: u64, wait_ms: u64) -> Turn {
    Turn {
        side: Side::Initiator,
        bytes,
        wait: ms(wait_ms),
    }
}

/// An ADU of the acceptor.
pub(crate) const fn b(bytes: u64, wait_ms: u64) -> Turn {
    Turn {
        side: Side::Acceptor,
        bytes,
        wait: ms(wait_ms),
    }
}

pub(crate) fn sequential(turns: &[Turn], tail: Option<Duration>) -> Body {
    Body::Sequential {
        turns: turns.to_vec(),
        tail,
    }
}

pub(crate) fn concurrent(turns: &[Turn], tails: [Option<Duration>; 2]) -> Body {
    Body::Concurrent {
        turns: turns.to_vec(),
        tails,
    }
}

/// A connection over 80 ms that began in second 7.
pub(crate) fn vector(body: Body) -> Vector {
    Vector {
        transport: Transport::Tcp,
        start: ms(7_000),
        ids: [3, 9],
        windows: [65_535, 8_192],
        min_rtt: Some(ms(80)),
        loss: [Loss::from_millionths(10), Loss::NONE],
        mss: Some([1_460, 536]),
        body,
    }
}

fn any_wait() -> impl Strategy<Value = Duration> {
    prop_oneof![
        4 => (0..5_000_000_u64).prop_map(Duration::from_micros),
        1 => Just(Duration::ZERO),
        1 => Just(Duration::MAX),
    ]
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let bytes = prop_oneof![6 => 1..100_000_u64, 1 => Just(0), 1 => Just(u64::MAX)];
    (any::<bool>(), bytes, any_wait()).prop_map(|(ours, bytes, wait)| Turn {
        side: Side::BOTH[usize::from(ours)],
        bytes,
        wait,
    })
}

fn any_body() -> impl Strategy<Value = Body> {
    let tail = || prop::option::of(any_wait());
    let turns = || prop::collection::vec(any_turn(), 0..20);
    prop_oneof![
        (turns(), tail()).prop_map(|(turns, tail)| Body::Sequential { turns, tail }),
        (turns(), [tail(), tail()]).prop_map(|(turns, tails)| Body::Concurrent { turns, tails }),
    ]
}

/// Vectors of every kind, those among them that no file can hold.
pub(crate) fn any_vector() -> impl Strategy<Value = Vector> {
    let network = (
        any::<[u32; 2]>(),
        prop::option::of(any_wait()),
        any::<[u32; 2]>().prop_map(|loss| loss.map(Loss::from_millionths)),
        prop::option::of(any::<[u32; 2]>()),
    );
    (any_wait(), any::<[u64; 2]>(), network, any_body()).prop_map(
        |(start, ids, (windows, min_rtt, loss, mss), body)| Vector {
            transport: Transport::Tcp,
            start,
            ids,
            windows,
            min_rtt,
            loss,
            mss,
            body,
        },
    )
}
