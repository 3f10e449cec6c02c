//! The way of the sequential test, and the two lines that it ends at (RFC 8337 section 7.2).

use crate::number::short;
use mbm::sequential::Lines;
use mbm::verdict::TestFigures;
use serde::Serialize;

/// The lines as a page draws them; none where there is nothing to draw.
pub(super) fn drawn(lines: Lines) -> Option<Lines> {
    let all = [lines.marks_per_packet, lines.below, lines.above];
    all.iter().all(|x| *x > 0.0).then(|| Lines {
        below: short(lines.below),
        above: short(lines.above),
        ..lines
    })
}

/// The points of the way.
#[derive(Serialize)]
pub(super) struct Walk {
    packets: Vec<u64>,
    marks: Vec<u64>,
    lines: Option<Lines>,
    /// Fewest packets that would have passed.
    least_packets: u64,
}

impl Walk {
    pub(super) fn of(figures: &TestFigures, lines: Option<Lines>) -> Self {
        let points = &figures.walk.points;
        Self {
            packets: points.iter().map(|point| point.n).collect(),
            marks: points.iter().map(|point| point.m).collect(),
            lines,
            least_packets: figures.least_packets,
        }
    }
}
