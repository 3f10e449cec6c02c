//! Several runs in one report, as parts of one path: for each test what `isobath mbm compose` says of them.
//!
//! Runs over the same way are no parts of one path but the same question again, and are only compared.

use super::compose::part;
use mbm::compose::{Composed as Whole, Part, budgets, compose};
use mbm::diagnostic::{Decider, Test};
use mbm::loss::{Counts, Share};
use mbm::sequential::{ALPHA, BETA, Hypotheses};
use mbm_run::summary::kept;
use report::{Composed, Composition, Subject};
use serde::Deserialize;
use std::path::PathBuf;

/// What the runs say of the path that they are the parts of, in their order; none for runs of other measurements, or over
/// the same way.
pub(in crate::cli) fn composed(subjects: &[Subject]) -> Option<Composed> {
    let is_part = |(place, subject): (usize, &Subject)| {
        let mut before = subjects.iter().take(place);
        subject.run.test == "mbm" && before.all(|other| other.run.path != subject.run.path)
    };
    if subjects.len() < 2 || !subjects.iter().enumerate().all(is_part) {
        return None;
    }
    let mut composed = Composed::default();
    let tests = common_tests(subjects);
    if tests.is_empty() {
        composed.refused = Some("no test that losses decide is in each of these runs".to_owned());
    }
    for test in tests {
        match composition(subjects, test) {
            Ok(found) => composed.tests.push(found),
            Err(error) => composed.refused = Some(error.to_string()),
        }
    }
    Some(composed)
}

/// Tests of the first run that losses decide and every run has made.
fn common_tests(subjects: &[Subject]) -> Vec<Test> {
    let names = |subject: &Subject| -> Vec<Test> {
        let tests = subject.run.summary["tests"].as_array();
        let tests = tests.into_iter().flatten();
        tests
            .filter_map(|test| Deserialize::deserialize(&test["test"]).ok())
            .collect()
    };
    let mut tests = subjects.first().map(names).unwrap_or_default();
    tests.dedup();
    tests.retain(|test| test.decider() == Decider::Losses);
    tests.retain(|test| subjects.iter().all(|subject| names(subject).contains(test)));
    tests
}

fn composition(subjects: &[Subject], test: Test) -> anyhow::Result<Composition> {
    let names = names(subjects);
    let parts = subjects.iter().zip(names);
    let parts = parts.map(|(subject, name)| part(subject.record.dir(), name, Some(test)));
    let whole = compose(parts.collect::<anyhow::Result<_>>()?, ALPHA, BETA)?;
    let run_length = whole.parts.first().map(|part| &part.question.run_length);
    let asked = Hypotheses::for_run_length(run_length.map_or(0, |run| run.packets), ALPHA, BETA);
    let shares = vec![1.0; whole.parts.len()];
    let limits = budgets(asked.p0, &shares).into_iter();
    let limits = limits.zip(budgets(asked.p1, &shares));
    let parts = whole.parts.iter().zip(limits);
    Ok(Composition {
        test: test.name().to_owned(),
        parts: parts.map(|(part, limits)| shown(part, limits)).collect(),
        whole: of_whole(&whole, &asked),
        says: whole.verdict.says,
        would_change: whole.verdict.would_change,
        warnings: whole.warnings,
    })
}

/// The last part of each way to a record, or the whole way where these are the same.
fn names(subjects: &[Subject]) -> Vec<String> {
    let folders: Vec<PathBuf> = subjects
        .iter()
        .map(|subject| subject.record.dir().to_owned())
        .collect();
    let last = |folder: &PathBuf| folder.file_name().map(std::ffi::OsStr::to_owned);
    let is_one = |folder: &&PathBuf| {
        let same = folders.iter().filter(|other| last(other) == last(folder));
        same.count() == 1
    };
    let name = |folder: &PathBuf| match last(folder).filter(|_| is_one(&folder)) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => folder.display().to_string(),
    };
    folders.iter().map(name).collect()
}

fn shown(part: &Part, (good, bad): (f64, f64)) -> report::Part {
    let Counts { packets, .. } = part.counts;
    let marks = part.counts.marks();
    report::Part {
        name: part.name.clone(),
        outcome: kept(part.outcome),
        packets,
        marks,
        loss_pct: marks as f64 * 100.0 / packets.max(1) as f64,
        interval_pct: Share::of(marks, packets).map(ends),
        good_pct: good * 100.0,
        bad_pct: bad * 100.0,
    }
}

fn of_whole(whole: &Whole, asked: &Hypotheses) -> report::Part {
    report::Part {
        name: "the whole path".to_owned(),
        outcome: kept(whole.verdict.outcome),
        packets: whole.packets,
        marks: whole.marks,
        loss_pct: whole.loss_pct,
        interval_pct: whole.interval.map(ends),
        good_pct: asked.p0 * 100.0,
        bad_pct: asked.p1 * 100.0,
    }
}

const fn ends(share: Share) -> [f64; 2] {
    [share.low_pct, share.high_pct]
}
