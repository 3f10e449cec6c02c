//! `isobath manager medianet`: frames are conserved whatever becomes of them, and what is told is written down.

use crate::support::{Machine, Running, Signal, eventually, folder, isobath, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The rows of a table of `folder`'s record, each a list of cells in the order of columns.
fn table(folder: &Path, name: &str) -> Vec<Vec<String>> {
    run(folder, &["export", "--csv", "run", "-o", "csv"]).ended(0);
    let text = fs::read_to_string(folder.join(format!("csv/{name}.csv"))).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split(',').map(str::to_owned).collect())
        .collect()
}

fn sum(rows: &[Vec<String>], column: usize) -> u64 {
    rows.iter()
        .map(|row| row[column].parse::<u64>().unwrap())
        .sum()
}

/// What the tables and the summary of a record say of each other.
#[track_caller]
fn check(folder: &Path, printed: &Value) {
    let summary = &printed["summary"];
    let count = |of: &str| summary["frames"][of].as_u64().unwrap();
    let fates = ["decoded", "undecodable", "dropped", "under_way"].map(count);
    assert_eq!(count("offered"), fates.iter().sum::<u64>(), "{summary}");
    assert!(count("decoded") > 0);
    let frames = table(folder, "frames");
    assert_eq!(frames.len() as u64, count("offered"));
    // What the local scheduler reported is of the same frames.
    let reports = table(folder, "reports");
    assert_eq!(sum(&frames, 4), sum(&reports, 2), "octets that became due");
    let dropped: u64 = (5..8).map(|column| sum(&reports, column)).sum();
    assert_eq!(dropped, count("dropped"));
    let arrived = frames.iter().filter(|row| row[5].contains("decod"));
    let arrived: u64 = arrived.map(|row| row[4].parse::<u64>().unwrap()).sum();
    assert!(arrived <= sum(&reports, 3), "more arrived than was sent");
    let views = table(folder, "views");
    assert_eq!(views[0][1], "start");
    let told = views.iter().filter(|row| row[1] == "report").count();
    assert_eq!(told, reports.len());
}

/// Holds manager/estimation-overlay.
#[test]
fn frames_ride_on_probes_and_none_is_forgotten() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[]);
    let ran = run(
        place.path(),
        &[
            "manager",
            "medianet",
            "--probes",
            "pathload-fast",
            "--riding",
            "on",
            "--duration",
            "6s",
            "--interval",
            "1s",
            "--patience",
            "3s",
            "-o",
            "run",
            "--json",
        ],
    );
    // The machine may be busy, and then the run says so.
    assert!(matches!(ran.code(), Some(0 | 4)), "{}", ran.stderr);
    let printed = ran.json();
    check(place.path(), &printed);
    assert_eq!(printed["summary"]["riding"], true);
    let asked = printed["summary"]["estimates"]["asked"].as_u64().unwrap();
    assert!(asked >= 1, "one was given up at least");
    assert_eq!(table(place.path(), "asked").len() as u64, asked);
    let carried = sum(&table(place.path(), "bottleneck"), 2);
    assert!(carried > sum(&table(place.path(), "reports"), 3) / 2);
    let shown = run(place.path(), &["show", "run"]);
    assert!(shown.ended(0).stdout.contains("riding on probes"));
    run(place.path(), &["report", "run", "-o", "page.html"]).ended(0);
}

/// Holds manager/medianet-figures.
#[test]
fn a_run_that_is_interrupted_keeps_its_frames() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[]);
    let run = [
        "manager",
        "medianet",
        "--duration",
        "60s",
        "-o",
        "run",
        "--json",
    ];
    let running = Running::start(isobath(place.path(), &run));
    let frames = place.path().join("run");
    let begun = || {
        let mut files = fs::read_dir(&frames).into_iter().flatten().flatten();
        files.any(|file| file.file_name().to_string_lossy().starts_with("frames"))
    };
    eventually("frames are written down", begun);
    running.signal(Signal::INT);
    let ran = running.finish();
    assert_eq!(ran.code(), Some(130), "{}", ran.stderr);
    let printed = ran.json();
    assert_eq!(printed["status"], "incomplete");
    assert!(printed["summary"]["estimates"].is_null());
    check(place.path(), &printed);
    crate::support::run(place.path(), &["report", "run"]).ended(0);
    let page = fs::read_to_string(place.path().join("run/report.html")).unwrap();
    assert!(page.contains("\"view-run\"") && page.contains("isobath manager medianet"));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let place = folder(&[]);
    for (wrong, told) in [
        (&["--duration", "1s"], "5s to 1h"),
        (&["--creep", "1Gbit"], "--creep"),
        (&["--lab", "nowhere"], "no lab is called"),
        (&["--delay", "0s"], "--riding off"),
    ] {
        let line = [&["manager", "medianet", "-o", "run"], &wrong[..]].concat();
        let ran = run(place.path(), &line);
        assert!(ran.refused(2).contains(told), "{wrong:?}: {}", ran.stderr);
        assert!(!place.path().join("run").exists());
    }
}
