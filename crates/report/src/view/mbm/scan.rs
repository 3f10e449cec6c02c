//! A scanned window, and rounds of slow start: what the queue does (RFC 8337 sections 6.3, 8.2 and 8.3.2).

use super::asked::Asked;
use super::piece;
use crate::number::{ms, short};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The steps of a scan, one entry a window in each list.
#[derive(Default, Serialize)]
pub(super) struct Scan {
    window: Vec<u64>,
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
    first_mark: Option<FirstMark>,
    rtt_min_ms: Option<f64>,
    /// The window at which the scan was to stop.
    to: Option<u64>,
}

#[derive(Deserialize, Serialize)]
struct Onset {
    window: u64,
}

#[derive(Serialize)]
struct FirstMark {
    window: u64,
    queue_ms: Option<f64>,
    /// Losses and marks in the round trip that began with it.
    round_marks: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Step {
    window: u64,
    delivered: u64,
    lost: u64,
    ce: u64,
    packets_per_s: f64,
    rtt_ms: f64,
    rtt_max_ms: f64,
}

impl Scan {
    /// Of a test; `None` for one without.
    pub(super) fn of(test: &Value, asked: &Asked) -> Option<Self> {
        let found = &test["scan"];
        let steps: Vec<Step> = piece(&found["steps"])?;
        let mut scan = Self {
            onset: piece(&test["onset"]),
            first_mark: first_mark(&found["first_mark"]),
            rtt_min_ms: found["rtt_min_ns"].as_u64().map(ms).map(short),
            to: found["to"].as_u64(),
            ..Self::default()
        };
        for step in &steps {
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

fn first_mark(mark: &Value) -> Option<FirstMark> {
    Some(FirstMark {
        window: mark["window"].as_u64()?,
        queue_ms: mark["queue_ns"].as_u64().map(ms).map(short),
        round_marks: mark["round_marks"].as_u64(),
    })
}

/// One round of slow start until a loss.
#[derive(Serialize)]
pub(super) struct Round {
    sent: Option<u64>,
    /// Packets delivered before the first loss or mark.
    before_mark: Option<u64>,
    marks: Option<u64>,
    longest_row: Option<u64>,
    queue_max_ms: Option<f64>,
    /// How long the first packet behind the first loss had waited; null without a loss.
    waited_ms: Option<f64>,
}

/// The rounds of a test; none for one without.
pub(super) fn rounds(test: &Value) -> Vec<Round> {
    let round = |round: &Value| {
        let ms = |key: &str| round[key].as_u64().map(ms).map(short);
        Round {
            sent: round["sent"].as_u64(),
            before_mark: round["before_mark"].as_u64(),
            marks: round["marks"].as_u64(),
            longest_row: round["longest_row"].as_u64(),
            queue_max_ms: ms("queue_max_ns"),
            waited_ms: ms("sojourn_ns"),
        }
    };
    let all = test["rounds"].as_array().into_iter().flatten();
    all.map(round).collect()
}
