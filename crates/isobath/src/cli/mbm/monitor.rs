//! `isobath mbm --every`: the same question again and again, with a history, and figures for Prometheus.
//!
//! ```text
//! FOLDER/
//!     00000/ 00001/ ...   a record of each run
//!     history.jsonl       a line for each: when, verdict, loss, what went wrong
//!     metrics.prom        the last run and all verdicts so far, in Prometheus' text format
//! ```
//!
//! Runs begin at even intervals plus a part of a tenth of one, drawn at random, so that they do not keep step with anything
//! else that happens every ten minutes (RFC 2330 section 11.1).

use super::args::Measure;
use super::{measured, print};
use jiff::Timestamp;
use kit::options::INTERRUPTED;
use mbm_run::summary::kept;
use record::{HistoryLine, HistoryTest, Run, Status, Verdict};
use schema::mbm::Plan;
use schema::mbm::{Summary, TestSummary};
use serde::Deserialize;
use stats::random::SplitMix64;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::{clock, process};
use units::Instant;

/// How often an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(100);
/// The part of an interval by which a start is put off at most.
const JITTER: f64 = 0.1;

/// Measures every so often until it is interrupted, or as many times as was asked for.
pub(super) fn run(args: &Measure, plan: &Plan, every: Duration) -> anyhow::Result<u8> {
    let interrupt = process::interrupt_flag()?;
    let folder = match args.output.out.clone() {
        Some(out) => out,
        None => new_folder(args)?,
    };
    fs::create_dir_all(&folder)?;
    let mut chance = SplitMix64::new(args.asked.seed ^ clock::now().as_nanos());
    let mut verdicts = BTreeMap::new();
    let begun = clock::now();
    let first = first_free(&folder);
    let mut made = 0_u32;
    while args.times.is_none_or(|times| made < times) {
        let jitter = every.mul_f64(JITTER * chance.unit());
        wait(begun + every.saturating_mul(made) + jitter, &interrupt);
        if interrupt.load(Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        let started = Timestamp::now();
        let record = format!("{:05}", first + u64::from(made));
        let found = measured(args, plan, None, &interrupt, Some(&folder.join(&record)));
        let found = found
            .map(|(run, ..)| run)
            .map_err(|error| error.to_string());
        *verdicts.entry(said(found.as_ref().ok())).or_insert(0_u64) += 1;
        let summary = found.as_ref().ok().and_then(summary);
        let line = line(started, record, &found, summary);
        line.append(&folder)?;
        replace(&folder.join("metrics.prom"), &metrics(&line, &verdicts))?;
        print(&told(&line))?;
        made += 1;
    }
    Ok(0)
}

/// The number behind the last record: a monitor that was stopped goes on there. A run that could not be made has left a gap.
fn first_free(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u64>().ok());
    numbers.max().map_or(0, |last| last.saturating_add(1))
}

fn new_folder(args: &Measure) -> anyhow::Result<PathBuf> {
    let towards = args.towards.name();
    let name = record::folder_name(Timestamp::now(), "mbm-monitor", towards);
    Ok(record::new_folder(Path::new("isobath-runs"), &name)?)
}

fn wait(until: Instant, interrupt: &AtomicBool) {
    while clock::now() < until && !interrupt.load(Ordering::Relaxed) {
        clock::sleep_until(until.min(clock::now() + LOOK));
    }
}

fn summary(run: &Run) -> Option<Summary> {
    Deserialize::deserialize(&run.summary).ok()
}

fn said(found: Option<&Run>) -> String {
    let verdict = found.and_then(|run| run.verdict);
    verdict.map_or_else(|| "none".to_owned(), |verdict| verdict.to_string())
}

fn line(
    started: Timestamp,
    record: String,
    found: &Result<Run, String>,
    summary: Option<Summary>,
) -> HistoryLine {
    let tests = summary.map(|summary| summary.tests).unwrap_or_default();
    // What the instrument was too bad for has no other verdict.
    let is_invalid = found
        .as_ref()
        .is_ok_and(|run| run.status == Status::Invalid);
    let outcome = |said| {
        if is_invalid {
            Verdict::Error
        } else {
            kept(said)
        }
    };
    let tested = |test: TestSummary| {
        let counts = test.result.loss.map(|loss| loss.counts).unwrap_or_default();
        HistoryTest {
            test: test.result.test.name().to_owned(),
            outcome: outcome(test.result.verdict.outcome),
            packets: counts.packets,
            marks: counts.marks(),
        }
    };
    HistoryLine {
        started,
        record,
        verdict: found.as_ref().ok().and_then(|run| run.verdict),
        failure: failure(found),
        tests: tests.into_iter().map(tested).collect(),
    }
}

/// Why there is no verdict. How a run ended is the first of its warnings.
fn failure(found: &Result<Run, String>) -> Option<String> {
    match found {
        Err(error) => Some(error.clone()),
        Ok(run) if run.verdict.is_none() => run.warnings.first().map(|of| of.message.clone()),
        Ok(_) => None,
    }
}

/// Replaces the file in one step: who reads it sees the old one or the new one.
fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let draft = path.with_extension("tmp");
    fs::write(&draft, text)?;
    Ok(fs::rename(&draft, path)?)
}

/// The figures in Prometheus' text format.
fn metrics(line: &HistoryLine, verdicts: &BTreeMap<String, u64>) -> String {
    let mut text = String::new();
    let mut family = |name: &str, help: &str, kind: &str, samples: Vec<(String, f64)>| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let tests = || line.tests.iter();
    let label = |test: &HistoryTest| format!("{{test=\"{}\"}}", test.test);
    let passed = |test: &HistoryTest| f64::from(u8::from(test.outcome == Verdict::Pass));
    let share = |test: &HistoryTest| test.marks as f64 / test.packets.max(1) as f64;
    family(
        "isobath_mbm_passed",
        "Whether the last run's test passed.",
        "gauge",
        tests().map(|test| (label(test), passed(test))).collect(),
    );
    family(
        "isobath_mbm_loss_ratio",
        "Share of the last run's packets that were lost or marked.",
        "gauge",
        tests().map(|test| (label(test), share(test))).collect(),
    );
    family(
        "isobath_mbm_runs_total",
        "Runs so far, by verdict.",
        "counter",
        verdicts
            .iter()
            .map(|(verdict, count)| (format!("{{verdict=\"{verdict}\"}}"), *count as f64))
            .collect(),
    );
    family(
        "isobath_mbm_last_run_timestamp_seconds",
        "When the last run began.",
        "gauge",
        vec![(String::new(), line.started.as_second() as f64)],
    );
    text
}

/// The line for people.
fn told(line: &HistoryLine) -> String {
    let tests = line.tests.iter().map(|test| {
        format!(
            "{} {} ({} of {})",
            test.test, test.outcome, test.marks, test.packets
        )
    });
    let tests: Vec<_> = tests.collect();
    let what = line.failure.clone().unwrap_or_else(|| tests.join(", "));
    format!(
        "{}  {}  {what}",
        line.started.strftime("%Y-%m-%d %H:%M:%S UTC"),
        line.record
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_monitor_goes_on_behind_its_last_record_whatever_is_missing_before() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(first_free(folder.path()), 0);
        for name in ["00000", "00002", "history.jsonl"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(first_free(folder.path()), 3);
    }
}
