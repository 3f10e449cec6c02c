//! Suites: several tests for one target, and the form in which each leaves its result.
//!
//! "A path passes if each of the tests in its test suite passes" (thesis 3.1; RFC 8337 calls it a targeted IP diagnostic suite). One FAIL fails the path, whatever
//! else happened; without a FAIL, a test that did not work, or could not tell, leaves the question open.

use crate::diagnostic::{Onset, Test};
use crate::loss::LossReport;
use crate::stream::{PatternReport, Round, ScanReport};
use crate::verdict::{Outcome, Reason, TestFigures, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The thesis's suite: Basic Data Rate and Sustained Burst (thesis table 3.2).
pub const THESIS: &[Test] = &[Test::PacedFullRate, Test::SustainedBurst];
/// What decides whether the path carries the target: the capacity tests, the mildest first.
pub const CAPACITY: &[Test] = &[
    Test::PacedFullRate,
    Test::WindowedFullRate,
    Test::FullWindowSlowStart,
    Test::SenderRateBurst,
    Test::SustainedBurst,
];
/// Every test that sends at the target's rate: the capacity tests, then the engineering tests.
pub const FULL: &[Test] = &[
    Test::PacedFullRate,
    Test::WindowedFullRate,
    Test::FullWindowSlowStart,
    Test::SenderRateBurst,
    Test::SustainedBurst,
    Test::CongestionAvoidance,
    Test::Bufferbloat,
    Test::NonExcessiveLoss,
    Test::DuplexSelfInterference,
    Test::SlowStartAqm,
];

/// One test's result, in the form of a record. What a test does not have is null.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TestResult {
    /// Which test.
    pub test: Test,
    /// The verdict.
    pub verdict: Verdict,
    /// The sequential test, its way and its preconditions.
    pub figures: Option<TestFigures>,
    /// What became of the packets.
    pub loss: Option<LossReport>,
    /// How the sender kept the pattern.
    pub pattern: Option<PatternReport>,
    /// The scanned window.
    pub scan: Option<ScanReport>,
    /// Where its queue began.
    pub onset: Option<Onset>,
    /// Rounds of slow start.
    pub rounds: Option<Vec<Round>>,
}

impl TestResult {
    /// A verdict without figures yet.
    pub const fn new(test: Test, verdict: Verdict) -> Self {
        Self {
            test,
            verdict,
            figures: None,
            loss: None,
            pattern: None,
            scan: None,
            onset: None,
            rounds: None,
        }
    }
}

/// The verdict of `tests` together, which are all that was made of the `planned` ones.
pub fn verdict(tests: &[TestResult], planned: usize) -> Verdict {
    let first = |outcome: Outcome| {
        tests
            .iter()
            .find(|result| result.verdict.outcome == outcome)
    };
    let severest = [Outcome::Fail, Outcome::Error, Outcome::Inconclusive];
    if let Some(result) = severest.into_iter().find_map(first) {
        return Verdict {
            says: format!("{}: {}", result.test, result.verdict.says),
            ..result.verdict.clone()
        };
    }
    if tests.is_empty() {
        return Verdict::new(
            Outcome::Error,
            Reason::Composed,
            "no test was run",
            "at least one test",
        );
    }
    if tests.len() < planned {
        return Verdict::new(
            Outcome::Inconclusive,
            Reason::Composed,
            format!("{} of {planned} tests were made", tests.len()),
            "the tests that are missing",
        );
    }
    let names: Vec<&str> = tests.iter().map(|result| result.test.name()).collect();
    Verdict::new(
        Outcome::Pass,
        Reason::Composed,
        format!("all {} tests passed: {}", tests.len(), names.join(", ")),
        "one test that fails",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(outcomes: &[Outcome]) -> Vec<TestResult> {
        let result = |(outcome, test): (&Outcome, Test)| {
            TestResult::new(
                test,
                Verdict::new(*outcome, Reason::Timeout, "says", "would"),
            )
        };
        outcomes.iter().zip(Test::ALL).map(result).collect()
    }

    fn whole(outcomes: &[Outcome]) -> Verdict {
        verdict(&results(outcomes), outcomes.len())
    }

    /// Holds mbm/suite-verdict.
    #[test]
    fn a_suite_passes_when_every_test_does() {
        use Outcome::{Error, Fail, Inconclusive, Pass};
        assert_eq!(whole(&[Pass, Pass]).outcome, Pass);
        assert_eq!(whole(&[Pass, Inconclusive]).outcome, Inconclusive);
        assert_eq!(whole(&[Inconclusive, Error, Pass]).outcome, Error);
        let failed = whole(&[Error, Fail, Pass]);
        assert_eq!(failed.outcome, Fail);
        assert_eq!(failed.says, "windowed-full-rate: says");
        assert_eq!(whole(&[]).outcome, Error);
    }

    /// Holds mbm/suite-verdict.
    #[test]
    fn a_suite_that_was_not_made_to_its_end_can_fail_and_cannot_pass() {
        use Outcome::{Fail, Inconclusive, Pass};
        let early = verdict(&results(&[Pass, Pass]), 3);
        assert_eq!(early.outcome, Inconclusive);
        assert_eq!(early.says, "2 of 3 tests were made");
        assert_eq!(verdict(&results(&[Pass, Fail]), 3).outcome, Fail);
    }

    #[test]
    fn a_result_is_read_back_as_it_was_written() {
        let results = results(&[Outcome::Pass, Outcome::Fail]);
        let text = serde_json::to_string(&results).unwrap();
        assert_eq!(
            serde_json::from_str::<Vec<TestResult>>(&text).unwrap(),
            results
        );
    }
}
