//! Flows of UDP, counted apart.

use super::Udp;
use crate::{Side, Turn, Vector};
use core::time::Duration;

/// Sums over flows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flows {
    sums: Udp,
    /// The first start and the last end.
    span: Option<[Duration; 2]>,
}

impl Flows {
    pub(super) fn enter(&mut self, vector: &Vector) {
        let bytes = Side::BOTH.map(|side| vector.body.bytes(side));
        let turns = vector.body.turns().iter();
        let datagrams = turns.fold(0, |sum: u64, turn| {
            sum.saturating_add(datagrams(vector, turn))
        });
        let end = vector.start.saturating_add(lasting(vector));
        self.merge(&Self {
            sums: Udp {
                flows: 1,
                isochronous: (!vector.body.is_sequential()).into(),
                one_way: bytes.contains(&0).into(),
                datagrams,
                bytes: bytes[0].saturating_add(bytes[1]),
                mean_bps: None,
            },
            span: Some([vector.start, end]),
        });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let pairs = [
            (&mut self.sums.flows, other.sums.flows),
            (&mut self.sums.isochronous, other.sums.isochronous),
            (&mut self.sums.one_way, other.sums.one_way),
            (&mut self.sums.datagrams, other.sums.datagrams),
            (&mut self.sums.bytes, other.sums.bytes),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
        self.span = match (self.span, other.span) {
            (Some([start, end]), Some([from, to])) => Some([start.min(from), end.max(to)]),
            (one, two) => one.or(two),
        };
    }

    pub(super) fn describe(&self) -> Udp {
        let seconds = self
            .span
            .map(|[start, end]| end.saturating_sub(start).as_secs_f64());
        let mean_bps = seconds
            .filter(|&seconds| seconds > 0.0)
            .map(|seconds| self.sums.bytes as f64 * 8.0 / seconds);
        Udp {
            mean_bps,
            ..self.sums
        }
    }
}

/// Datagrams of an ADU: as many of the largest size as it takes.
fn datagrams(vector: &Vector, turn: &Turn) -> u64 {
    let largest = vector.mss.map_or(0, |mss| mss[turn.side.index()]);
    match u64::from(largest) {
        0 => 1,
        largest => turn.bytes.div_ceil(largest),
    }
}

/// From the start to the last ADU.
fn lasting(vector: &Vector) -> Duration {
    let sum = |sides: &[Side]| {
        let turns = vector.body.turns().iter();
        let waits = turns.filter(|turn| sides.contains(&turn.side));
        waits.fold(Duration::ZERO, |sum, turn| sum.saturating_add(turn.wait))
    };
    if vector.body.is_sequential() {
        sum(&Side::BOTH)
    } else {
        sum(&[Side::Initiator]).max(sum(&[Side::Acceptor]))
    }
}
