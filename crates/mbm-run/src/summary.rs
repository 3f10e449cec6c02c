//! The figures of a run, from the books of both ends.

use super::books::TcpBooks;
use super::plan::Plan;
use super::run::Tested;
use kit::lab_counters::LinkTruth;
use mbm::diagnostic::onset;
use mbm::model::{Conservativeness, conservativeness};
use mbm::sequential::Lines;
use mbm::suite::{self, TestResult};
use mbm::verdict::Outcome as Says;
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a run of `isobath mbm` found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Summary {
    /// The target window: as many packets as must be under way to carry the rate.
    pub window_packets: u32,
    /// The target run length: packets between two losses, as asked for.
    pub run_length_packets: u64,
    /// The model's formula for it.
    pub formula: String,
    /// Where that comes from.
    pub source: String,
    /// A loss rate up to this is good, 0 to 1.
    pub p0: f64,
    /// A loss rate from this on is bad, 0 to 1.
    pub p1: f64,
    /// The lines of the sequential test between the two, by which losses are judged (RFC 8337 section 7.2).
    pub lines: Lines,
    /// What the model says a path with those loss rates would carry.
    pub conservativeness: Conservativeness,
    /// Least round trip of the path before the tests; null when none came back.
    pub path_rtt_ms: Option<f64>,
    /// Each test.
    pub tests: Vec<TestSummary>,
    /// In a lab: what its links carried, queued and dropped.
    pub links: Vec<LinkTruth>,
}

/// What one test found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct TestSummary {
    /// What the test says, and its figures.
    #[serde(flatten)]
    pub result: TestResult,
    /// Which of the streams side by side, from 1; null when it was the only one.
    #[serde(default)]
    pub stream: Option<u16>,
    /// The section of RFC 8337 that defines it.
    pub section: String,
    /// When it began, after the run's start.
    pub start_s: f64,
    /// How long it took.
    pub seconds: f64,
    /// Packets that left.
    pub packets_sent: u64,
    /// The same in octets, headers included.
    pub bytes_sent: u64,
    /// Round trips from a packet to the report of it, or TCP's smoothed ones every 10 ms; null when nothing came back.
    pub rtt_ms: Option<Distribution>,
    /// What TCP said, where it carried the test; null for datagrams.
    #[serde(default)]
    pub tcp: Option<TcpBooks>,
}

/// The summary of the `tests` that were made over a path of this idle round trip, in a lab with links that carried so much.
///
/// # Errors
/// When the plan has no run length, which it was checked for.
pub fn summarise(
    plan: &Plan,
    tests: &[Tested],
    path_rtt: Option<Duration>,
    links: Vec<LinkTruth>,
) -> Result<Summary, String> {
    let run = plan.run_length()?;
    let ruling = plan.ruling()?;
    let asked = ruling.sprt().hypotheses();
    Ok(Summary {
        window_packets: plan.target.window(),
        run_length_packets: run.packets,
        formula: plan.model.formula(),
        source: plan.model.source().to_owned(),
        p0: asked.p0,
        p1: asked.p1,
        lines: ruling.sprt().lines(),
        conservativeness: conservativeness(&plan.target, run),
        path_rtt_ms: path_rtt.map(|rtt| rtt.as_secs_f64() * 1e3),
        tests: tests.iter().map(|t| tested(plan, t)).collect(),
        links,
    })
}

fn tested(plan: &Plan, tested: &Tested) -> TestSummary {
    let sender = &tested.sender;
    let has_rounds = !sender.rounds.is_empty();
    TestSummary {
        result: TestResult {
            figures: sender.figures.clone(),
            // All packets, by the receiver's books.
            loss: tested.receiver.as_ref().map(|books| books.loss.clone()),
            // Of single segments the kernel does not tell when they left.
            pattern: (sender.tcp.is_none() || sender.pattern.bursts > 0)
                .then(|| sender.pattern.clone()),
            onset: sender.scan.as_ref().and_then(onset),
            scan: sender.scan.clone(),
            rounds: has_rounds.then(|| sender.rounds.clone()),
            ..TestResult::new(tested.test, sender.verdict.clone())
        },
        stream: tested.stream,
        section: tested.test.section().to_owned(),
        start_s: tested.start_ns as f64 / 1e9,
        seconds: sender.seconds,
        packets_sent: sender.sent,
        bytes_sent: sender.sent * u64::from(plan.target.mtu()),
        rtt_ms: sender.rtt_ms,
        tcp: sender.tcp.clone(),
    }
}

/// The verdict of all tests together; none without any.
pub fn verdict(plan: &Plan, tests: &[TestSummary]) -> Option<record::Verdict> {
    let results: Vec<_> = tests.iter().map(|test| test.result.clone()).collect();
    let verdict = suite::verdict(&results, plan.results());
    (!tests.is_empty()).then(|| kept(verdict.outcome))
}

/// An outcome as records have it.
pub const fn kept(outcome: Says) -> record::Verdict {
    match outcome {
        Says::Pass => record::Verdict::Pass,
        Says::Fail => record::Verdict::Fail,
        Says::Inconclusive => record::Verdict::Inconclusive,
        Says::Error => record::Verdict::Error,
    }
}

#[cfg(test)]
mod tests;
