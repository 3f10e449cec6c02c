//! What a scan finds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Instant;

/// What one window (or a few neighbours) gave.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Step {
    /// The window, in packets; the smallest of the step.
    pub window: u32,
    /// Number of the first packet that left by it.
    pub first_seq: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets lost.
    pub lost: u64,
    /// Packets delivered with congestion experienced.
    pub ce: u64,
    /// Packets per second delivered; 0 with fewer than two.
    pub packets_per_s: f64,
    /// Mean round trip.
    pub rtt_ms: f64,
    /// Largest round trip.
    pub rtt_max_ms: f64,
}

/// The first loss or mark of a scan.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FirstMark {
    /// The packet's number.
    pub seq: u64,
    /// The window by which it left.
    pub window: u32,
    /// Standing queue before it: the last round trip less the shortest.
    pub queue_ns: u64,
    /// Losses and marks among the packets of one window, beginning with it.
    pub round_marks: u64,
}

/// What a scan found.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ScanReport {
    /// The steps, from the smallest window on.
    pub steps: Vec<Step>,
    /// Shortest round trip; null when nothing came back.
    pub rtt_min_ns: Option<u64>,
    /// The first loss or mark; null when there was none.
    pub first_mark: Option<FirstMark>,
    /// Longest standing queue that was seen: longest round trip less the shortest.
    pub queue_max_ns: u64,
    /// Packets that left.
    pub sent: u64,
    /// Window at which the scan was to stop, unless a queue stood there.
    pub to: u32,
    /// Whether the scan is over.
    pub is_done: bool,
}

/// A step that is being reckoned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) step: Step,
    first_ack: Option<Instant>,
    rtt_sum_ns: u128,
}

impl Tally {
    /// Of a step by which nothing has arrived.
    pub(super) const fn new(step: Step) -> Self {
        Self {
            step,
            first_ack: None,
            rtt_sum_ns: 0,
        }
    }

    /// A packet that left by the step arrived.
    pub(super) fn deliver(&mut self, rtt: Duration, ce: bool, now: Instant) {
        let step = &mut self.step;
        step.delivered += 1;
        step.ce += u64::from(ce);
        self.rtt_sum_ns += rtt.as_nanos();
        step.rtt_max_ms = step.rtt_max_ms.max(rtt.as_secs_f64() * 1e3);
        step.rtt_ms = self.rtt_sum_ns as f64 / step.delivered as f64 / 1e6;
        let first = *self.first_ack.get_or_insert(now);
        let span = now.since(first).as_secs_f64();
        if span > 0.0 {
            step.packets_per_s = (step.delivered - 1) as f64 / span;
        }
    }
}
