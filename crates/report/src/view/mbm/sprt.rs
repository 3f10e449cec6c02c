//! The way of the sequential test, and the two lines that it ends at (RFC 8337 section 7.2).

use super::piece;
use crate::number::short;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Two parallel lines: `marks_per_packet n - below` passes, `marks_per_packet n + above` fails.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub(super) struct Lines {
    marks_per_packet: f64,
    below: f64,
    above: f64,
}

impl Lines {
    /// Those of a summary; `None` where it has none that can be drawn.
    pub(super) fn of(summary: &Value) -> Option<Self> {
        let lines: Self = piece(&summary["lines"])?;
        let all = [lines.marks_per_packet, lines.below, lines.above];
        all.iter().all(|x| *x > 0.0).then(|| Self {
            below: short(lines.below),
            above: short(lines.above),
            ..lines
        })
    }
}

/// The way of a test through packets, and losses and marks.
#[derive(Serialize)]
pub(super) struct Walk {
    packets: Vec<u64>,
    marks: Vec<u64>,
    /// Null when the record does not have them.
    lines: Option<Lines>,
    /// Fewest packets that would have passed.
    least_packets: Option<u64>,
}

#[derive(Deserialize)]
struct Point {
    n: u64,
    m: u64,
}

impl Walk {
    /// Of the figures of a test; `None` for one that its losses do not decide.
    pub(super) fn of(figures: &Value, lines: Option<Lines>) -> Option<Self> {
        let points: Vec<Point> = piece(&figures["walk"]["points"])?;
        Some(Self {
            packets: points.iter().map(|point| point.n).collect(),
            marks: points.iter().map(|point| point.m).collect(),
            lines,
            least_packets: figures["least_packets"].as_u64(),
        })
    }
}
