//! The way of a test through the plane of packets and losses, for a plot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Points that a walk keeps, at most.
pub const MAX_POINTS: usize = 512;

/// One point of a walk.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Point {
    /// Packets so far.
    pub n: u64,
    /// Losses and marks among them.
    pub m: u64,
}

/// Points of a test's way, thinned evenly: however long the test, at most [`MAX_POINTS`] and the last.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Walk {
    /// The points, in order.
    pub points: Vec<Point>,
    /// Packets between two points, at least; doubles whenever there are too many.
    #[serde(skip)]
    step: u64,
    /// Where the walk is, if that is not among the points.
    #[serde(skip)]
    last: Option<Point>,
}

impl Walk {
    /// The walk is now at `n` packets and `m` marks. Counts that go back are left out.
    pub fn reach(&mut self, n: u64, m: u64) {
        let point = Point { n, m };
        let due = match self.points.last() {
            Some(before) if n <= before.n => return,
            Some(before) => n >= before.n.saturating_add(self.step),
            None => true,
        };
        if !due {
            self.last = Some(point);
            return;
        }
        self.last = None;
        self.points.push(point);
        if self.points.len() >= MAX_POINTS {
            self.thin();
        }
    }

    /// Keeps every second point.
    fn thin(&mut self) {
        let mut index = 0;
        self.points.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        let length = self.points.last().map_or(0, |last| last.n);
        self.step = (2 * length / MAX_POINTS as u64).max(2 * self.step).max(1);
    }

    /// Adds the point where the walk ended.
    pub fn finish(&mut self) {
        self.points.extend(self.last.take());
    }
}
