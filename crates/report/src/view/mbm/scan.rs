//! A scanned window, and rounds of slow start: what the queue does (RFC 8337 sections 6.3, 8.2 and 8.3.2).

use super::asked::Asked;
use crate::number::{ms, short};
use mbm::stream::{FirstMark, Round, ScanReport, Step};
use schema::mbm::TestSummary;
use serde::Serialize;

/// The steps of a scan, one entry a window in each list.
#[derive(Default, Serialize)]
pub(super) struct Scan {
    window: Vec<u32>,
    /// Delivered, headers included; null where fewer than two packets were, or the packets' length is not known.
    mbps: Vec<Option<f64>>,
    packets_per_s: Vec<Option<f64>>,
    /// Mean and longest round trip.
    rtt_ms: Vec<Option<f64>>,
    rtt_max_ms: Vec<Option<f64>>,
    delivered: Vec<u64>,
    lost: Vec<u64>,
    ce: Vec<u64>,
    /// Where the queue began; null when none was seen.
    onset: Option<Onset>,
    /// The first loss or mark; null when there was none.
    first_mark: Option<Mark>,
    rtt_min_ms: Option<f64>,
    /// The window at which the scan was to stop.
    to: u32,
}

#[derive(Serialize)]
struct Onset {
    window: u32,
}

#[derive(Serialize)]
struct Mark {
    window: u32,
    queue_ms: f64,
    /// Losses and marks in the round trip that began with it.
    round_marks: u64,
}

impl Scan {
    /// Of a test; `None` for one without.
    pub(super) fn of(test: &TestSummary, asked: &Asked) -> Option<Self> {
        let found: &ScanReport = test.result.scan.as_ref()?;
        let onset = test.result.onset.map(|onset| onset.window);
        let mut scan = Self {
            onset: onset.map(|window| Onset { window }),
            first_mark: found.first_mark.as_ref().map(Mark::of),
            rtt_min_ms: found.rtt_min_ns.map(ms).map(short),
            to: found.to,
            ..Self::default()
        };
        for step in &found.steps {
            scan.add(step, asked);
        }
        Some(scan)
    }

    fn add(&mut self, step: &Step, asked: &Asked) {
        let some = |value: f64| (value > 0.0).then(|| short(value));
        let rate = some(step.packets_per_s);
        self.window.push(step.window);
        self.mbps.push(rate.and_then(|rate| asked.mbps(rate)));
        self.packets_per_s.push(rate);
        self.rtt_ms.push(some(step.rtt_ms));
        self.rtt_max_ms.push(some(step.rtt_max_ms));
        self.delivered.push(step.delivered);
        self.lost.push(step.lost);
        self.ce.push(step.ce);
    }
}

impl Mark {
    fn of(mark: &FirstMark) -> Self {
        Self {
            window: mark.window,
            queue_ms: short(ms(mark.queue_ns)),
            round_marks: mark.round_marks,
        }
    }
}

/// One round of slow start until a loss.
#[derive(Serialize)]
pub(super) struct SlowStart {
    sent: u64,
    /// Packets delivered before the first loss or mark.
    before_mark: u64,
    marks: u64,
    longest_row: u64,
    queue_max_ms: f64,
    /// How long the first packet behind the first loss had waited; null without a loss.
    waited_ms: Option<f64>,
}

impl SlowStart {
    pub(super) fn of(round: &Round) -> Self {
        Self {
            sent: round.sent,
            before_mark: round.before_mark,
            marks: round.marks,
            longest_row: round.longest_row,
            queue_max_ms: short(ms(round.queue_max_ns)),
            waited_ms: round.sojourn_ns.map(ms).map(short),
        }
    }
}
