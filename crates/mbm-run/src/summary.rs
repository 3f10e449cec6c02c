//! The figures of a run, from the counters of both ends.

use super::plan::Plan;
use super::run::Tested;
use mbm::diagnostic::onset;
use mbm::model::conservativeness;
use mbm::suite::{self, TestResult};
use mbm::verdict::Outcome as Says;
use record::RecordWriter;
use schema::LinkTruth;
use schema::mbm::{Summary, TestSummary};
use std::time::Duration;

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

/// Keeps the tests that are over: a run that is killed in the next one has these.
pub(crate) fn keep(
    record: &mut RecordWriter,
    plan: &Plan,
    tests: &[Tested],
    path_rtt: Option<Duration>,
    links: Vec<LinkTruth>,
) -> Result<(), record::Error> {
    let so_far = summarise(plan, tests, path_rtt, links).ok();
    let so_far = so_far.and_then(|summary| serde_json::to_value(summary).ok());
    so_far.map_or(Ok(()), |summary| record.keep(summary))
}

fn tested(plan: &Plan, tested: &Tested) -> TestSummary {
    let sender = &tested.sender;
    let has_rounds = !sender.rounds.is_empty();
    TestSummary {
        result: TestResult {
            figures: sender.figures.clone(),
            // All packets, by the receiver's counters.
            loss: tested
                .receiver
                .as_ref()
                .map(|counters| counters.loss.clone()),
            // Of single segments the kernel does not tell when they left.
            pattern: (sender.tcp.is_none() && sender.sent > 0 || sender.pattern.bursts > 0)
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
