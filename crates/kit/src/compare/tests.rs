use super::groups::Group;
use super::{Comparison as Compared, groups, table};
use crate::measurement::{Figure, Measurement, figure};
use crate::register::Register;
use record::{LabInfo, RecordWriter, Run, Status};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A measurement with some figures.
pub(super) struct Sampled;

impl Measurement for Sampled {
    const TESTS: &'static [&'static str] = &["rrul"];
    const FIGURES: &'static [Figure] = &[
        figure("RTT idle p50", "ms", "/latency_ms/idle/p50"),
        figure("RTT loaded p50", "ms", "/latency_ms/loaded/p50"),
        figure(
            "added delay p50",
            "ms",
            "/latency_ms/loaded/p50 - /latency_ms/idle/p50",
        ),
        figure("throughput down", "Mbit/s", "/throughput_mbps/down"),
        figure("throughput up", "Mbit/s", "/throughput_mbps/up"),
        figure("score", "points", "/score/total"),
        figure("score, web", "points", "/score/web"),
        figure("VoIP * up", "MOS", "/voip/*/up/mos"),
    ];
    type Summary = Value;

    fn summary(&self, record: &record::Record) -> anyhow::Result<Value> {
        Ok(record.run().summary.clone())
    }

    fn scorecard(&self, _: &Run, _: &Value) -> String {
        String::new()
    }
}

static REGISTER: Register = Register {
    measurements: &[&Sampled],
    far_ends: &[],
    page: None,
};

struct Comparison;

impl Comparison {
    fn of(groups: &[Group], all: bool) -> Compared {
        Compared::of(&REGISTER, groups, all)
    }
}

fn load(paths: &[PathBuf]) -> anyhow::Result<Vec<Group>> {
    groups::load(paths, &|_| None)
}

/// A record as a run in `lab` would have left it, with these figures: added delay and throughput down.
fn record(dir: &Path, lab: &str, loaded: f64, down: f64) -> Run {
    let plan = json!({ "name": "rrul", "cc": "cubic", "seed": loaded.to_bits() });
    let mut run = Run::new("rrul", "2026-11-21T09:30:00Z".parse().unwrap(), plan);
    run.status = Status::Complete;
    run.path.lab = Some(LabInfo {
        name: lab.to_owned(),
        ..LabInfo::default()
    });
    run.summary = json!({
        "latency_ms": { "idle": { "p50": 24.0 }, "loaded": { "p50": loaded } },
        "throughput_mbps": { "down": down, "up": null },
    });
    RecordWriter::create(dir, &run)
        .unwrap()
        .finish(&run)
        .unwrap();
    run
}

/// Three runs in each of two labs.
fn place() -> (TempDir, Vec<PathBuf>) {
    let place = tempfile::tempdir().unwrap();
    let runs = [
        ("dsl", 210.0, 18.0),
        ("dsl", 212.0, 18.1),
        ("dsl", 214.0, 18.5),
        ("fair", 30.0, 18.3),
        ("fair", 31.0, 18.2),
        ("fair", 32.0, 18.0),
    ];
    let folders = (1..).zip(runs).map(|(number, (lab, loaded, down))| {
        let folder = place.path().join(format!("run-{number}"));
        record(&folder, lab, loaded, down);
        folder
    });
    let folders = folders.collect();
    (place, folders)
}

/// The row called `name`, as JSON.
fn row(comparison: &Compared, name: &str) -> Value {
    let all = serde_json::to_value(comparison).unwrap();
    let rows = all["figures"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap().clone()
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 2e-3, "{found} is not {expected}");
}

#[test]
fn means_and_intervals_are_those_of_the_runs() {
    let (_place, folders) = place();
    let comparison = Comparison::of(&load(&folders).unwrap(), false);
    assert_eq!(comparison.groups.len(), 2);
    assert_eq!(
        [&comparison.groups[0].name, &comparison.groups[1].name],
        ["dsl", "fair"]
    );
    let row = row(&comparison, "added delay p50");
    assert_eq!(row["path"], "/latency_ms/loaded/p50 - /latency_ms/idle/p50");
    // 188 -+ 4.30265 * 2 / sqrt(3), 7 -+ 4.30265 * 1 / sqrt(3).
    assert_eq!(row["groups"][0]["n"], 3);
    near(&row["groups"][0]["mean"], 188.0);
    near(&row["groups"][0]["low"], 183.0317);
    near(&row["groups"][0]["high"], 192.9683);
    near(&row["groups"][1]["low"], 4.5159);
    assert_eq!(row["groups"][1]["values"], json!([6.0, 7.0, 8.0]));
    near(&row["differences"][1]["difference"], -181.0);
    assert_eq!(row["differences"][1]["seen"], true);
    assert!(row["differences"][0].is_null());
    assert!(comparison.left_out.is_empty());
}

#[test]
fn the_page_says_in_words_what_differs() {
    let (_place, folders) = place();
    let comparison = Comparison::of(&load(&folders).unwrap(), false);
    let page = table::page(&comparison);
    let expected = [
        "A   dsl  (3 of 3 runs)",
        "B   fair  (3 of 3 runs)",
        "",
        "Mean over runs [its 95 % confidence interval].",
        "",
        "                        A                    B                    B against A",
        "RTT idle p50, ms        24.0 [24.0, 24.0]    24.0 [24.0, 24.0]    no difference seen [0, 0]",
        "RTT loaded p50, ms      212 [207, 217]       31.0 [28.5, 33.5]    lower by 181 ms [177, 185]",
        "added delay p50, ms     188 [183, 193]       7.00 [4.52, 9.48]    lower by 181 ms [177, 185]",
        "throughput down, Mbit/s 18.2 [17.5, 18.9]    18.2 [17.8, 18.5]    no difference seen [-0.575, 0.509]",
    ];
    assert_eq!(page.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_not_complete_is_listed_and_left_out_unless_asked_for() {
    let (place, mut folders) = place();
    let bad = place.path().join("run-9");
    let mut run = record(&bad, "dsl", 500.0, 1.0);
    run.status = Status::Invalid;
    run.warnings.push(record::Warning {
        message: "the client was busy".to_owned(),
        ..record::Warning::default()
    });
    std::fs::write(bad.join("run.json"), serde_json::to_vec(&run).unwrap()).unwrap();
    folders.push(bad);
    let groups = load(&folders).unwrap();
    let comparison = Comparison::of(&groups, false);
    near(
        &row(&comparison, "RTT loaded p50")["groups"][0]["mean"],
        212.0,
    );
    let page = table::page(&comparison);
    assert!(page.contains("A   dsl  (3 of 4 runs)"), "{page}");
    assert!(
        page.contains("A   run-9: invalid - the client was busy"),
        "{page}"
    );
    let all = Comparison::of(&groups, true);
    near(&row(&all, "RTT loaded p50")["groups"][0]["mean"], 284.0);
    assert!(all.left_out.is_empty());
}

#[test]
fn a_run_without_record_or_figures_is_never_in_the_means() {
    let (place, _) = place();
    let empty = place.path().join("run-0");
    let mut run = record(&empty, "dsl", 1.0, 1.0);
    run.status = Status::Incomplete;
    run.summary = json!({});
    std::fs::write(empty.join("run.json"), serde_json::to_vec(&run).unwrap()).unwrap();
    let damaged = place.path().join("run-1");
    std::fs::write(damaged.join("run.json"), "{\"schema\"").unwrap();
    let groups = load(&[place.path().to_owned()]).unwrap();
    assert_eq!(groups.len(), 1, "a folder of runs is one group");
    let comparison = Comparison::of(&groups, true);
    assert_eq!(comparison.groups[0].runs.len(), 5);
    let statuses: Vec<_> = comparison.left_out.iter().map(|out| out.status).collect();
    assert_eq!(statuses, [Some(Status::Incomplete), None]);
    assert!(comparison.left_out[1].reason.contains("is damaged"));
}

#[test]
fn runs_that_were_told_the_same_are_compared_one_by_one_when_there_is_nothing_else() {
    let (_place, folders) = place();
    let comparison = Comparison::of(&load(&folders[..2]).unwrap(), false);
    assert_eq!(comparison.groups[1].name, "run-2");
    let page = table::page(&comparison);
    assert!(page.contains("One run each"), "{page}");
    let difference = row(&comparison, "RTT loaded p50")["differences"][1].clone();
    assert_eq!(
        difference,
        json!({ "difference": 2.0, "low": null, "high": null, "seen": null })
    );
    assert!(page.contains("higher by 2.00 ms (no interval)"), "{page}");
}

#[test]
fn no_line_is_wider_than_the_page_whatever_the_names() {
    let (place, mut folders) = place();
    for number in 0..30 {
        let folder = place.path().join(format!("{number}-{}", "x".repeat(180)));
        let down = 0.1 + 0.01 * f64::from(number % 3);
        let loaded = 1234.5 * f64::from(number);
        record(&folder, &"long\u{1b}[31m".repeat(40), loaded, down);
        folders.push(folder);
    }
    for folders in [&folders[..], &folders[6..]] {
        let page = table::page(&Comparison::of(&load(folders).unwrap(), false));
        let widest = page.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{page}");
        assert!(!page.contains('\u{1b}'), "{page:?}");
    }
}

#[test]
fn what_is_no_record_is_told_in_one_line() {
    let place = tempfile::tempdir().unwrap();
    let message = |path: PathBuf| load(&[path]).unwrap_err().to_string();
    assert!(message(place.path().to_owned()).contains("neither run.json nor batch.json nor runs"));
    assert!(message(place.path().join("gone")).starts_with("cannot read "));
}

#[test]
fn a_first_group_without_runs_leaves_its_place_to_the_next() {
    let (_place, folders) = place();
    let mut groups = load(&folders[3..]).unwrap();
    groups[0].members[0].status = None;
    let comparison = Comparison::of(&groups, false);
    assert_eq!(comparison.reference, 1);
    let page = table::page(&comparison);
    assert!(
        page.contains("C against B") && !page.contains("against A"),
        "{page}"
    );
}
