//! Histories: short and long, of one test and of several, torn and damaged.

use super::*;
use crate::made::{mbm_plan, mbm_summary};
use record::{HistoryLine, HistoryTest, RecordWriter, Run, Verdict};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;

const MINUTE_S: i64 = 60;

fn line(number: i64, verdict: Option<Verdict>, marks: u64) -> HistoryLine {
    let begun: jiff::Timestamp = "2026-11-21T07:00:00Z".parse().unwrap();
    let tests = verdict.map(|outcome| HistoryTest {
        test: "background".to_owned(),
        outcome,
        packets: 10_000,
        marks,
    });
    HistoryLine {
        started: begun + jiff::SignedDuration::from_secs(number * 10 * MINUTE_S),
        record: format!("{number:05}"),
        verdict,
        failure: verdict
            .is_none()
            .then(|| "cannot reach the far end".to_owned()),
        tests: tests.into_iter().collect(),
    }
}

fn folder(lines: impl IntoIterator<Item = HistoryLine>, more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{}", serde_json::to_string(&line).unwrap());
    }
    fs::write(folder.path().join(HISTORY), text + more).unwrap();
    folder
}

fn value(folder: &Path) -> Value {
    let value: Value = serde_json::from_str(&data(folder).unwrap()).unwrap();
    value["history"].clone()
}

fn record_of(folder: &Path, name: &str) {
    let plan = mbm_plan(json!({}));
    let mut run = Run::new("mbm", "2026-11-21T07:00:00Z".parse().unwrap(), plan);
    run.summary = mbm_summary(json!({}));
    let writer = RecordWriter::create(&folder.join(name), &run).unwrap();
    writer.finish(&run).unwrap();
}

/// Holds mbm/scheduled.
#[test]
fn runs_are_told_by_verdict_time_and_loss() {
    let lines = [
        line(0, Some(Verdict::Pass), 0),
        line(1, Some(Verdict::Fail), 50),
        line(2, None, 0),
    ];
    let folder = folder(lines, "");
    record_of(folder.path(), "00001");
    let seen = value(folder.path());
    assert_eq!(
        seen["sentence"],
        "This path carried 10 Mbit/s over 80 ms in 1 of 3 runs: 1 fails, 1 has no verdict."
    );
    assert_eq!(seen["says"], json!([1, 1, 0, 0, 1]));
    assert_eq!(
        seen["t_ms"],
        json!([1_795_244_400_000_i64, 600_000, 600_000])
    );
    assert_eq!(seen["record"], json!(["00000", "00001", "00002"]));
    assert_eq!(seen["asked"]["good_pct"], 0.01);
    let [track] = seen["tracks"].as_array().unwrap().as_slice() else {
        panic!("one test has one track: {seen}");
    };
    let [level] = track["levels"].as_array().unwrap().as_slice() else {
        panic!("few runs have one level: {track}");
    };
    assert_eq!(
        level["says"],
        json!([[1, 0, 0], [0, 1, 0], [], [], [0, 0, 1]])
    );
    assert_eq!(level["marks"], json!([0, 50, 0]));
    // 1 - 0.025^(1/10000), and nothing where there were no packets.
    assert_eq!(level["high_pct"][0], 0.036_882);
    assert_eq!(level["high_pct"][2], Value::Null);
    assert_eq!(level["worst_pct"], json!([]));
    assert_eq!(track["share"]["observed_pct"], 0.25);
    assert_eq!(track["worst_pct"], 0.5);
    assert_eq!(seen["failures"][0]["why"], "cannot reach the far end");
    assert_eq!(seen["last"]["record"], "00002");
}

#[test]
fn a_torn_last_line_is_told_and_damaged_ones_are_counted() {
    let folder = folder(
        [line(0, Some(Verdict::Pass), 0)],
        "what?\n{\"started\": \"2026-11",
    );
    let seen = value(folder.path());
    assert_eq!((&seen["torn"], &seen["skipped"]), (&json!(true), &json!(1)));
    assert_eq!(seen["runs"], 1);
    assert_eq!(seen["asked"], Value::Null, "no record is there");
    assert_eq!(
        seen["sentence"],
        "This path carried its target in the only run."
    );
}

#[test]
fn a_history_without_runs_says_so() {
    let empty = folder([], "");
    assert!(matches!(data(empty.path()), Err(Error::NoHistory { .. })));
    let missing = tempfile::tempdir().unwrap();
    assert!(matches!(data(missing.path()), Err(Error::Record { .. })));
}

#[test]
fn no_record_elsewhere_is_opened() {
    let around = tempfile::tempdir().unwrap();
    record_of(around.path(), "elsewhere");
    let monitor = around.path().join("watch");
    fs::create_dir(&monitor).unwrap();
    let away = HistoryLine {
        record: "../elsewhere".to_owned(),
        ..line(0, Some(Verdict::Pass), 0)
    };
    away.append(&monitor).unwrap();
    assert_eq!(value(&monitor)["asked"], Value::Null);
}

#[test]
fn coarser_levels_keep_every_run_and_the_worst() {
    let verdict = |i: i64| {
        if i == 777 {
            Verdict::Fail
        } else {
            Verdict::Pass
        }
    };
    let runs = (0..10_000).map(|i| line(i, Some(verdict(i)), if i == 777 { 900 } else { 0 }));
    let folder = folder(runs, "");
    let text = data(folder.path()).unwrap();
    assert!(text.len() < 1_000_000, "{} octets", text.len());
    let seen = value(folder.path());
    let levels = seen["tracks"][0]["levels"].as_array().unwrap();
    let sizes: Vec<_> = levels
        .iter()
        .map(|level| level["packets"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [10_000, 2_500, 625, 157, 40]);
    for level in levels {
        let sum = |column: &Value| -> u64 {
            let all = column.as_array().unwrap().iter();
            all.filter_map(Value::as_u64).sum()
        };
        assert_eq!(sum(&level["says"][0]), 9_999);
        assert_eq!(sum(&level["says"][1]), 1);
        assert_eq!(sum(&level["marks"]), 900);
    }
    assert_eq!(levels[4]["worst_pct"][3], 9.0, "run 777 of 256 each");
}

#[test]
fn a_history_of_years_is_thinned_and_nothing_is_left_out() {
    let mut tallies = Tallies::default();
    for number in 0..100_000 {
        tallies.add(line(number, Some(Verdict::Pass), 1));
    }
    assert_eq!(tallies.each, 16);
    assert!(tallies.entries.len() <= 20_000);
    let packets: u64 = tallies
        .entries
        .iter()
        .map(|entry| entry.tests[0].packets)
        .sum();
    assert_eq!(packets, 100_000 * 10_000);
    assert_eq!(tallies.newest_records().next(), Some("99999"));
}

#[test]
fn streams_side_by_side_are_one_run_that_says_the_worst() {
    let mut run = line(0, Some(Verdict::Pass), 0);
    let mut other = run.tests[0].clone();
    (other.outcome, other.marks) = (Verdict::Fail, 40);
    run.tests.push(other);
    let folder = folder([run], "");
    let seen = value(folder.path());
    let track = &seen["tracks"][0];
    assert_eq!(track["runs"], 1);
    assert_eq!(track["levels"][0]["says"], json!([[], [1], [], [], []]));
    assert_eq!(track["levels"][0]["packets"], json!([20_000]));
    assert_eq!(track["worst_pct"], 0.4);
}

#[test]
fn several_tests_have_tracks_and_one_for_all_together() {
    let mut both = line(0, Some(Verdict::Pass), 3);
    both.tests.push(HistoryTest {
        test: "sustained-burst".to_owned(),
        outcome: Verdict::Inconclusive,
        packets: 0,
        marks: 7,
    });
    let folder = folder([both, line(1, Some(Verdict::Pass), 0)], "");
    let seen = value(folder.path());
    let tests: Vec<_> = seen["tracks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|track| &track["test"])
        .collect();
    assert_eq!(
        tests,
        [
            &Value::Null,
            &json!("background"),
            &json!("sustained-burst")
        ]
    );
    let third = &seen["tracks"][2]["levels"][0];
    assert_eq!(
        third["says"],
        json!([[], [], [1, 0], [], [0, 1]]),
        "the second run did not make it"
    );
    assert_eq!(third["packets"], json!([]), "no packets, no share");
}
