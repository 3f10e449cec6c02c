//! What one test says.

use super::arrivals::Arrivals;
use super::asked::Asked;
use super::pieces::{Lost, Pattern};
use super::scan::{Scan, SlowStart};
use super::sprt::Walk;
use crate::number::short;
use mbm::loss::{Counts, ReorderingReport, Runs};
use mbm::sequential::Lines;
use mbm::verdict::{Check, Outcome, Reason};
use record::Distribution;
use schema::mbm::TestSummary;
use serde::Serialize;

/// One test.
#[derive(Default, Serialize)]
pub(crate) struct Tested {
    /// Its name, with the number of the stream where there were several at once.
    pub(crate) test: String,
    /// The section of RFC 8337 that defines it.
    section: Option<String>,
    /// `PASS`, `FAIL`, `INCONCLUSIVE` or `ERROR`; null when it was not finished.
    outcome: Option<Outcome>,
    reason: Option<Reason>,
    says: Option<String>,
    would_change: Option<String>,
    start_s: Option<f64>,
    seconds: Option<f64>,
    packets_sent: Option<u64>,
    bytes_sent: Option<u64>,
    rtt_ms: Option<Distribution>,
    /// All packets, by the receiver's counters.
    counts: Option<Counts>,
    share: Option<Lost>,
    /// Those of the test period, by which it was judged; null when losses do not decide.
    judged: Option<Counts>,
    growth_s: Option<f64>,
    test_s: Option<f64>,
    preconditions: Vec<Check>,
    runs: Option<Runs>,
    reordering: Option<ReorderingReport>,
    duplicates: Option<u64>,
    late: Option<u64>,
    pattern: Option<Pattern>,
    walk: Option<Walk>,
    scan: Option<Scan>,
    rounds: Vec<SlowStart>,
    /// What left and arrived when; null without rows of it.
    arrivals: Option<Arrivals>,
}

impl Tested {
    /// Of a test of the summary.
    pub(super) fn of(test: &TestSummary, asked: &Asked, lines: Option<Lines>) -> Self {
        let result = &test.result;
        let (verdict, loss) = (result.verdict.clone(), result.loss.as_ref());
        let figures = result.figures.as_ref();
        Self {
            test: name(test),
            section: Some(test.section.clone()),
            outcome: Some(verdict.outcome),
            reason: Some(verdict.reason),
            says: Some(verdict.says),
            would_change: Some(verdict.would_change),
            start_s: Some(short(test.start_s)),
            seconds: Some(short(test.seconds)),
            packets_sent: Some(test.packets_sent),
            bytes_sent: Some(test.bytes_sent),
            rtt_ms: test.rtt_ms,
            counts: loss.map(|loss| loss.counts),
            share: loss.and_then(|loss| loss.loss.as_ref()).map(Lost::of),
            judged: figures.map(|figures| figures.counts),
            growth_s: figures
                .and_then(|figures| figures.growth_ns)
                .map(in_seconds),
            test_s: figures.and_then(|figures| figures.test_ns).map(in_seconds),
            preconditions: figures.map_or_else(Vec::new, |of| of.preconditions.clone()),
            runs: loss.and_then(|loss| loss.runs.clone()),
            reordering: loss.and_then(|loss| loss.reordering),
            duplicates: loss.map(|loss| loss.duplicates),
            late: loss.map(|loss| loss.late),
            pattern: result.pattern.as_ref().map(Pattern::of),
            walk: figures.map(|figures| Walk::of(figures, lines)),
            scan: Scan::of(test, asked),
            rounds: result.rounds.iter().flatten().map(SlowStart::of).collect(),
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

fn name(test: &TestSummary) -> String {
    let name = test.result.test.name();
    match test.stream {
        Some(stream) => format!("{name}, stream {stream}"),
        None => name.to_owned(),
    }
}

fn in_seconds(ns: u64) -> f64 {
    short(ns as f64 / 1e9)
}
