//! What one test says.

use super::arrivals::Arrivals;
use super::asked::Asked;
use super::piece;
use super::pieces::{Check, Counts, Pattern, Reordering, Runs, Share, Spread};
use super::scan::{Round, Scan, rounds};
use super::sprt::{Lines, Walk};
use crate::number::short;
use serde::Serialize;
use serde_json::Value;

/// One test.
#[derive(Default, Serialize)]
pub(crate) struct Tested {
    /// Its name, with the number of the stream where there were several at once.
    pub(crate) test: String,
    /// The section of RFC 8337 that defines it.
    section: Option<String>,
    /// `PASS`, `FAIL`, `INCONCLUSIVE` or `ERROR`; null when it was not finished.
    pub(crate) outcome: Option<String>,
    reason: Option<String>,
    says: Option<String>,
    would_change: Option<String>,
    start_s: Option<f64>,
    seconds: Option<f64>,
    packets_sent: Option<u64>,
    bytes_sent: Option<u64>,
    rtt_ms: Option<Spread>,
    /// All packets, by the receiver's books.
    counts: Option<Counts>,
    share: Option<Share>,
    /// Those of the test period, by which it was judged; null when losses do not decide.
    judged: Option<Counts>,
    growth_s: Option<f64>,
    test_s: Option<f64>,
    preconditions: Vec<Check>,
    runs: Option<Runs>,
    reordering: Option<Reordering>,
    duplicates: Option<u64>,
    late: Option<u64>,
    pattern: Option<Pattern>,
    walk: Option<Walk>,
    scan: Option<Scan>,
    rounds: Vec<Round>,
    /// What left and arrived when; null without rows of it.
    arrivals: Option<Arrivals>,
}

fn name(test: &Value) -> String {
    let name = test["test"].as_str().unwrap_or_default();
    match test["stream"].as_u64() {
        Some(stream) if !name.is_empty() => format!("{name}, stream {stream}"),
        _ => name.to_owned(),
    }
}

impl Tested {
    /// Of a test of the summary.
    pub(super) fn of(test: &Value, asked: &Asked, lines: Option<Lines>) -> Self {
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let (verdict, figures, loss) = (&test["verdict"], &test["figures"], &test["loss"]);
        let ns = |key: &str| figures[key].as_u64().map(|ns| short(ns as f64 / 1e9));
        Self {
            test: name(test),
            section: word(&test["section"]),
            outcome: word(&verdict["outcome"]),
            reason: word(&verdict["reason"]),
            says: word(&verdict["says"]),
            would_change: word(&verdict["would_change"]),
            start_s: test["start_s"].as_f64().map(short),
            seconds: test["seconds"].as_f64().map(short),
            packets_sent: test["packets_sent"].as_u64(),
            bytes_sent: test["bytes_sent"].as_u64(),
            rtt_ms: piece(&test["rtt_ms"]),
            counts: piece(&loss["counts"]),
            share: piece::<Share>(&loss["loss"]).map(Share::short),
            judged: piece(&figures["counts"]),
            growth_s: ns("growth_ns"),
            test_s: ns("test_ns"),
            preconditions: piece(&figures["preconditions"]).unwrap_or_default(),
            runs: piece(&loss["runs"]),
            reordering: piece(&loss["reordering"]),
            duplicates: loss["duplicates"].as_u64(),
            late: loss["late"].as_u64(),
            pattern: piece::<Pattern>(&test["pattern"]).map(Pattern::in_ms),
            walk: Walk::of(figures, lines),
            scan: Scan::of(test, asked),
            rounds: rounds(test),
            arrivals: None,
        }
    }

    /// A test of which the summary says nothing.
    pub(super) fn unknown() -> Self {
        Self::default()
    }

    /// Packets in a burst; one when nothing is known of bursts.
    pub(super) fn burst_packets(&self) -> u64 {
        self.pattern
            .as_ref()
            .map_or(1, |pattern| u64::from(pattern.burst_packets.max(1)))
    }

    /// Rows tell of it.
    pub(super) fn saw(&mut self, name: &str, arrivals: Arrivals) {
        if self.test.is_empty() {
            name.clone_into(&mut self.test);
        }
        self.arrivals = Some(arrivals);
    }

    pub(super) const fn is_known(&self) -> bool {
        !self.test.is_empty()
    }
}
