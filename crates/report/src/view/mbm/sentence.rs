//! The answer of a run in one sentence: does the path carry the target?

use super::asked::Asked;
use crate::told;
use crate::view::RunView;
use mbm::verdict::Outcome;
use record::{Run, Status, Verdict};
use schema::mbm::Summary;

/// More tests than this are counted, not named.
const MOST_NAMES: usize = 3;

/// The sentence for a run; `None` when it is of another test, or has no verdict.
pub(crate) fn sentence(run: &Run) -> Option<String> {
    let asked = Asked::of(run);
    let what = asked.words().unwrap_or_else(|| "the target".to_owned());
    let tests = told::summary::<Summary>(run).map_or_else(Vec::new, |summary| summary.tests);
    let which = |outcome: Outcome| -> Vec<&str> {
        let results = tests.iter().map(|test| &test.result);
        let meant = results.filter(|result| result.verdict.outcome == outcome);
        meant.map(|result| result.test.name()).collect()
    };
    let says = match run.verdict? {
        Verdict::Pass => match which(Outcome::Pass).len() {
            0 | 1 => format!("As far as this test goes, this path carries {what}."),
            n => format!("As far as these {n} tests go, this path carries {what}."),
        },
        Verdict::Fail => format!(
            "This path does not carry {what}{}.",
            named(tests.len(), &which(Outcome::Fail), "fails", "fail")
        ),
        Verdict::Inconclusive => {
            format!("Too little was seen to say whether this path carries {what}.")
        }
        Verdict::Error => format!(
            "The tests for {what} could not be made as they should{}.",
            named(
                tests.len(),
                &which(Outcome::Error),
                "went wrong",
                "went wrong"
            )
        ),
    };
    let is_down = asked.is_down();
    Some(
        says + if is_down {
            " (From the far end to here.)"
        } else {
            ""
        },
    )
}

/// Which they are, or how many of how many.
fn named(all: usize, names: &[&str], one: &str, several: &str) -> String {
    match names {
        [] => String::new(),
        [only] => format!(": {only} {one}"),
        [most @ .., last] if names.len() <= MOST_NAMES => {
            format!(": {} and {last} {several}", most.join(", "))
        }
        _ => format!(": {} of {all} tests {several}", names.len()),
    }
}

/// The sentence above several runs; `None` unless all have tests and a verdict.
pub(crate) fn of_several(runs: &[RunView]) -> Option<String> {
    if runs
        .iter()
        .any(|view| view.mbm.is_none() || view.run.verdict.is_none())
    {
        return None;
    }
    // What an invalid run says is nothing about the path.
    let is_good = |view: &&RunView| {
        view.run.verdict == Some(Verdict::Pass) && view.run.status == Status::Complete
    };
    let passing: Vec<&str> = runs
        .iter()
        .filter(is_good)
        .map(|view| view.name.as_str())
        .collect();
    let targets: Vec<_> = runs
        .iter()
        .map(|view| view.mbm.as_ref()?.asked.words())
        .collect();
    let is_one = targets.windows(2).all(|pair| pair.first() == pair.last());
    let what = match targets.first().and_then(Option::as_ref) {
        Some(target) if is_one => target.clone(),
        _ => "what was asked of it".to_owned(),
    };
    let (passed, n) = (passing.len(), runs.len());
    Some(match passed {
        0 => format!("None of {n} runs finds a path that carries {what}."),
        _ if passed == n => format!("All {n} runs find a path that carries {what}."),
        _ => format!(
            "{passed} of {n} runs {} a path that carries {what}: {}.",
            if passed == 1 { "finds" } else { "find" },
            passing.join("; ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::{mbm_plan, mbm_summary, mbm_test};
    use serde_json::json;

    #[track_caller]
    fn assert_said(verdict: Verdict, outcomes: &[&str], expected: &str) {
        let plan = mbm_plan(json!({}));
        let mut run = Run::new("mbm", "2026-11-21T07:29:11Z".parse().unwrap(), plan);
        let names = [
            "paced-full-rate",
            "bufferbloat",
            "sustained-burst",
            "passive",
        ];
        let tests = names.iter().zip(outcomes);
        let tests = tests.map(|(test, outcome)| {
            mbm_test(json!({"test": test, "verdict": {"outcome": outcome}}))
        });
        run.summary = mbm_summary(json!({"tests": tests.collect::<Vec<_>>()}));
        run.verdict = Some(verdict);
        assert_eq!(sentence(&run).as_deref(), Some(expected));
    }

    #[test]
    fn the_answer_names_the_target_and_what_fails() {
        assert_said(
            Verdict::Pass,
            &["PASS", "PASS"],
            "As far as these 2 tests go, this path carries 10 Mbit/s over 80 ms.",
        );
        assert_said(
            Verdict::Fail,
            &["PASS", "FAIL", "FAIL"],
            "This path does not carry 10 Mbit/s over 80 ms: bufferbloat and sustained-burst fail.",
        );
        assert_said(
            Verdict::Fail,
            &["FAIL", "FAIL", "FAIL", "FAIL"],
            "This path does not carry 10 Mbit/s over 80 ms: 4 of 4 tests fail.",
        );
        assert_said(
            Verdict::Error,
            &["ERROR"],
            "The tests for 10 Mbit/s over 80 ms could not be made as they should: paced-full-rate went wrong.",
        );
    }

    #[test]
    fn without_a_verdict_nothing_is_said() {
        let run = Run::new("mbm", "2026-11-21T07:29:11Z".parse().unwrap(), json!({}));
        assert_eq!(sentence(&run), None);
    }
}
