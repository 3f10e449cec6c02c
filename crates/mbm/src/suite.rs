//! Suites: several tests for one target, and the form in which each leaves its result.
//!
//! "A path passes if each of the tests in its test suite passes" (thesis 3.1; RFC 8337 calls it a targeted IP diagnostic suite). One FAIL fails the path, whatever
//! else happened; without a FAIL, a test that did not work, or could not tell, leaves the question open.

use crate::diagnostic::{Onset, Test};
use crate::loss::LossReport;
use crate::model::{Model, RunLength};
use crate::stream::{PatternReport, Round, ScanReport};
use crate::target::Target;
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

/// What a test was for.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Question {
    /// The target.
    pub target: Target,
    /// The model that turned it into a run length.
    pub model: Model,
    /// The run length.
    pub run_length: RunLength,
}

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

/// A suite's result, in the form of a record.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SuiteResult {
    /// What was asked.
    pub question: Question,
    /// Of all tests together.
    pub verdict: Verdict,
    /// Each test.
    pub tests: Vec<TestResult>,
}

impl SuiteResult {
    /// Of `tests`, all for `question`.
    pub fn new(question: Question, tests: Vec<TestResult>) -> Self {
        Self {
            question,
            verdict: together(&tests),
            tests,
        }
    }
}

/// The verdict of several tests.
fn together(tests: &[TestResult]) -> Verdict {
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
    use crate::target::NamedTarget;

    fn suite(outcomes: &[Outcome]) -> SuiteResult {
        let named = NamedTarget::find("video-hd").unwrap();
        let run_length = named.model.run_length(&named.target).unwrap();
        let question = Question {
            target: named.target,
            model: named.model,
            run_length,
        };
        let result = |(outcome, test): (&Outcome, Test)| {
            TestResult::new(
                test,
                Verdict::new(*outcome, Reason::Timeout, "says", "would"),
            )
        };
        SuiteResult::new(
            question,
            outcomes.iter().zip(Test::ALL).map(result).collect(),
        )
    }

    #[test]
    fn a_suite_passes_when_every_test_does() {
        use Outcome::{Error, Fail, Inconclusive, Pass};
        assert_eq!(suite(&[Pass, Pass]).verdict.outcome, Pass);
        assert_eq!(suite(&[Pass, Inconclusive]).verdict.outcome, Inconclusive);
        assert_eq!(suite(&[Inconclusive, Error, Pass]).verdict.outcome, Error);
        let failed = suite(&[Error, Fail, Pass]).verdict;
        assert_eq!(failed.outcome, Fail);
        assert_eq!(failed.says, "windowed-full-rate: says");
        assert_eq!(suite(&[]).verdict.outcome, Error);
    }

    #[test]
    fn a_result_is_read_back_as_it_was_written() {
        let suite = suite(&[Outcome::Pass, Outcome::Fail]);
        let text = serde_json::to_string(&suite).unwrap();
        assert_eq!(serde_json::from_str::<SuiteResult>(&text).unwrap(), suite);
    }
}
