//! Replays, from outside: real connections in a lab, and their own capture held against what was asked for.

use crate::support::{
    Machine, Ran, Running, Signal, entries, eventually, folder, isobath, number, run,
};
use crate::two_hosts::Server;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// So many connections in 100 ms each, of two epochs with a wait of 600 ms before the second answer; round trips from 10 ms in
/// steps of 1 ms. Every fifth is concurrent.
pub(crate) fn vectors(count: u32) -> String {
    let vector = |at: u32| {
        let start = at * 100_000;
        let rtt = 10_000 + at * 1_000;
        let head = format!("w 65535 65535\nr {rtt}\nl 0.000000 0.000000\n");
        if at.is_multiple_of(5) {
            format!(
                "CONC {start} 2 1 {at} {at}\n{head}c> 30000\nt> 700000\nc< 40000\nt< 0\nc> 100\nt> 0\n"
            )
        } else {
            format!(
                "SEQ {start} 2 {at} {at}\n{head}> 100\nt 0\n< 5000\nt 0\n> 200\nt 600000\n< 20000\nt 0\n"
            )
        }
    };
    (0..count).map(vector).collect()
}

fn replayed(place: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["replay", "v.cvec", "-o", "run", "--json"], arguments].concat();
    let ran = run(place, &arguments);
    // The machine may be busy, and then the run says so.
    assert!(matches!(ran.code(), Some(0 | 4)), "{}", ran.stderr);
    ran.json()
}

/// Holds tmix/sockets, tmix/link, tmix/fidelity, tmix/start, tmix/control.
#[test]
fn quiet_what_is_replayed_is_what_was_asked_for() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[("v.cvec", &vectors(120))]);
    let printed = replayed(place.path(), &[]);
    let (plan, summary) = (&printed["plan"], &printed["summary"]);
    let models = ["structure", "rtt", "windows"].map(|model| plan[model].as_str());
    assert_eq!(models, ["a-t-b-t", "usernet", "empirical"].map(Some));
    assert_eq!(summary["connections"]["planned"], 120);
    assert_eq!(summary["connections"]["completed"], 120, "{summary}");
    assert_eq!(summary["bytes"]["sent"], summary["bytes"]["planned"]);
    assert_eq!(summary["drops"], 0);
    assert_eq!(summary["forward"], "down");
    // 96 sequential connections of two epochs; the shorter round trip is 11 ms, the wait 600 ms.
    assert_eq!(summary["response_ms"]["n"], 192);
    assert!(number(summary, "/response_ms/min") >= 11.0);
    assert!(number(summary, "/response_ms/max") >= 600.0 + 128.0);
    assert!(number(summary, "/active_connections/max") > 1.0);
    assert!(number(summary, "/arrivals/mean_kpps") > 0.0);
    let verified = run(place.path(), &["replay", "verify", "run", "--json"]);
    let found: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(found["connections"], 120);
    assert_eq!(found["found"], 120);
    // A host that stood still for a while makes two ADUs of one.
    let is_valid = printed["status"] == "complete";
    let same = number(&found, "/same_adus");
    assert!(same >= if is_valid { 120.0 } else { 114.0 }, "{found}");
    // No answer comes sooner than its distance allows, however busy the machine.
    assert!(number(&found, "/rtt_error_ms/min") >= 0.0, "{found}");
    assert!(
        run(place.path(), &["show", "run"])
            .ended(0)
            .stdout
            .contains("120 completed")
    );
    run(place.path(), &["report", "run", "-o", "page.html"]).ended(0);
}

/// Holds tmix/empirical-windows, tmix/fixed-windows, tmix/constrained, tmix/queue-samples, tmix/warm-up.
#[test]
fn quiet_a_model_is_played_over_a_bottleneck_and_cut_at_its_end() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[("v.cvec", &vectors(60))]);
    let options = [
        "--structure",
        "block-sequential",
        "--rtt",
        "mean",
        "--windows",
        "8KB",
        "--bottleneck",
        "2Mbit",
        "--cc",
        "reno",
        "--duration",
        "5s",
    ];
    let printed = replayed(place.path(), &options);
    let summary = &printed["summary"];
    // Those that start within five seconds.
    assert_eq!(summary["connections"]["planned"], 50);
    assert_eq!(printed["plan"]["structure"], "block-sequential");
    // 50 connections have about 1.6 MB: more than 2 Mbit/s carry in five seconds.
    assert!(
        number(summary, "/connections/unfinished") > 0.0,
        "{summary}"
    );
    assert!(number(summary, "/queue_ms/max") > 100.0, "{summary}");
    // A sixth is left out at either end, and no more than each 10 ms has a sample.
    for (end, s) in [("from_s", 5.0 / 6.0), ("to_s", 25.0 / 6.0)] {
        let found = number(summary, &format!("/window/{end}"));
        assert!((found - s).abs() < 1e-3, "{end}: {found}");
    }
    let samples = number(summary, "/queue_ms/n");
    assert!((100.0..=335.0).contains(&samples), "{samples}");
    assert!(
        number(summary, "/throughput_mbps/forward") <= 2.01,
        "{summary}"
    );
    assert!(
        number(summary, "/throughput_mbps/forward") > 1.5,
        "{summary}"
    );
    // An initiator advertises the window that was asked for, or little more, and never the kernel's 64 KiB.
    let capture = "run/bottleneck.pcapng";
    let extract = ["trace", "extract", capture, "-o", "seen.cvec"];
    run(place.path(), &extract).ended(0);
    let seen = fs::read_to_string(place.path().join("seen.cvec")).unwrap();
    let windows = seen.lines().filter_map(|line| line.strip_prefix("w "));
    let windows: Vec<u32> = windows
        .map(|both| both.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(windows.len() > 10, "{seen}");
    let near = windows.iter().filter(|window| **window <= 16_384);
    assert!(4 * near.count() >= 3 * windows.len(), "{windows:?}");
    assert!(windows.iter().all(|window| *window < 64_000), "{windows:?}");
    fs::remove_file(place.path().join(capture)).unwrap();
    let refused = run(place.path(), &["replay", "verify", "run"]);
    assert!(refused.refused(3).contains("--no-capture"));
}

#[test]
fn what_cannot_be_replayed_is_refused_in_a_line() {
    let place = folder(&[("v.cvec", &vectors(3)), ("none.cvec", "nothing\n")]);
    let refused = |arguments: &[&str], code: i32| {
        let ran = run(place.path(), &[&["replay"], arguments].concat());
        ran.refused(code).to_owned()
    };
    assert!(refused(&["missing.parquet"], 3).contains("missing.parquet"));
    assert!(refused(&["none.cvec"], 3).contains("none.cvec"));
    assert!(refused(&["v.cvec", "--structure", "a-b-c"], 2).contains("a-b-c"));
    assert!(refused(&["v.cvec", "--lab", "nowhere"], 2).contains("nowhere"));
    assert!(refused(&["v.cvec", "--lab", "wire", "--bottleneck", "1Mbit"], 2).contains("rate"));
    let cut = [
        "v.cvec",
        "--duration",
        "1s",
        "--warm-up",
        "600ms",
        "--cool-down",
        "500ms",
    ];
    assert!(refused(&cut, 2).contains("--warm-up"));
    assert!(refused(&["verify", "v.cvec"], 3).contains("v.cvec"));
}

/// Runs the program with its state in `place`.
#[track_caller]
fn with_state(place: &Path, arguments: &[&str]) -> Ran {
    let mut command = isobath(place, arguments);
    command.env("XDG_STATE_HOME", place.join("state"));
    Running::start(command).finish()
}

/// Limits of this machine, made up: so many connections a second, and plenty of all else.
fn made_up(starts: f64, kernel: &str) -> Value {
    let limits = [
        ("starts", starts),
        ("open", 1e6),
        ("packets", 1e9),
        ("rate", 1e9),
    ];
    let limits = limits.map(|(component, limit)| {
        json!({ "component": component, "limit": limit, "broke_at": null, "broke": [], "bound": "time", "trials": [] })
    });
    let host = sys::proc::Host::this();
    json!({
        "schema": "isobath.replay-limits/1",
        "machine": {
            "host": host.hostname,
            "kernel": kernel,
            "cpus": host.cpus,
            "isobath": env!("CARGO_PKG_VERSION"),
        },
        "taken": "2026-11-22T04:30:00Z",
        "quick": false,
        "components": limits,
        "warnings": [],
    })
}

fn keep(place: &Path, limits: &Value) {
    let folder = place.join("state/isobath");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("replay-limits.json"), limits.to_string()).unwrap();
}

fn codes(printed: &Value) -> Vec<&str> {
    let warnings = printed["warnings"].as_array().unwrap();
    let codes = warnings
        .iter()
        .map(|warning| warning["code"].as_str().unwrap());
    codes.collect()
}

/// Holds tmix/calibration.
#[test]
fn what_is_beyond_the_limits_is_refused_or_invalid() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    // Ten connections a second.
    let place = folder(&[("v.cvec", &vectors(20))]);
    let kernel = sys::proc::Host::this().kernel;
    keep(place.path(), &made_up(5.0, &kernel));
    let ran = with_state(place.path(), &["replay", "v.cvec", "-o", "run"]);
    let line = ran.refused(2);
    for part in [
        "10 connections/s",
        "80 % of this machine's limit is 4 connections/s",
        "--thin",
        "--beyond-limits",
    ] {
        assert!(line.contains(part), "'{part}' is not in: {line}");
    }
    assert_eq!(entries(place.path()), ["state", "v.cvec"]);
    let ran = with_state(
        place.path(),
        &["replay", "v.cvec", "-o", "run", "--json", "--beyond-limits"],
    );
    let printed = ran.ended(4).json();
    assert_eq!(printed["status"], "invalid");
    assert_eq!(printed["plan"]["limits"]["starts"], 5.0);
    assert!(codes(&printed).contains(&"beyond_limits"), "{printed}");
    // Limits of another kernel are nobody's.
    keep(place.path(), &made_up(5.0, "2.0.40"));
    let ran = with_state(place.path(), &["replay", "v.cvec", "-o", "again", "--json"]);
    let printed = ran.json();
    assert!(matches!(ran.code(), Some(0 | 4)), "{}", ran.stderr);
    assert!(codes(&printed).contains(&"not_calibrated"), "{printed}");
    assert!(printed["plan"]["limits"].is_null());
}

/// Holds tmix/calibration, tmix/calibration-load.
#[test]
fn quiet_a_calibration_finds_limits_that_replays_then_know() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[("v.cvec", &vectors(5))]);
    let ran = with_state(place.path(), &["replay", "calibrate", "--quick", "--json"]);
    let printed = ran.json();
    let limits = printed["components"].as_array().unwrap();
    let names = limits.iter().map(|found| found["component"].as_str());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["starts", "open", "packets", "rate"].map(Some)
    );
    for found in limits {
        let trial = &found["trials"][0];
        assert!(number(trial, "/asked") > 0.0, "{found}");
        // There was traffic, whether this machine held it or not; and what it held is the limit.
        assert!(number(trial, "/carried") > 0.0, "{found}");
        let is_held = trial["broke"].as_array().unwrap().is_empty();
        assert_eq!(is_held, number(found, "/limit") > 0.0, "{found}");
        assert_eq!(is_held, found["broke_at"].is_null(), "{found}");
    }
    let file = place.path().join("state/isobath/replay-limits.json");
    if !codes(&printed).is_empty() {
        // The machine had other things to do: these are not its limits.
        ran.ended(4);
        assert!(!file.exists());
        return;
    }
    ran.ended(0);
    let kept: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(kept, printed);
    let ran = with_state(
        place.path(),
        &["replay", "v.cvec", "-o", "run", "--json", "--beyond-limits"],
    );
    let printed = ran.json();
    assert!(!codes(&printed).contains(&"not_calibrated"), "{printed}");
    assert_eq!(printed["plan"]["limits"]["starts"], limits[0]["limit"]);
}

#[test]
fn without_a_place_for_limits_there_is_no_calibration() {
    let place = folder(&[]);
    let mut command = isobath(place.path(), &["replay", "calibrate"]);
    command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let ran = Running::start(command).finish();
    assert!(ran.refused(3).contains("XDG_STATE_HOME"));
}

/// Beside those of [`vectors`]: an acceptor that speaks first, and one that is asked with fewer octets than an introduction has.
fn two_odd_ones() -> String {
    let head = "w 65535 65535\nr 10000\nl 0.000000 0.000000\n";
    format!("SEQ 0 1 90 90\n{head}< 5000\nt 0\nSEQ 1000 1 91 91\n{head}> 10\nt 0\n< 5000\nt 0\n")
}

/// The table of connections of the record `run`, row by row, by column.
fn connections(place: &Path) -> Vec<HashMap<String, String>> {
    run(place, &["export", "run", "--csv", "-o", "csv"]).ended(0);
    let csv = fs::read_to_string(place.join("csv/connections.csv")).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned));
    let names: Vec<_> = lines.next().unwrap().collect();
    let row = |cells| names.iter().cloned().zip(cells).collect();
    lines.map(row).collect()
}

/// Holds tmix/treplay.
#[test]
fn two_hosts_replay_octet_for_octet() {
    let _machine = Machine::without_networks();
    let place = folder(&[("v.cvec", &(two_odd_ones() + &vectors(40)))]);
    let server = Server::start(place.path(), &["--ephemeral"]);
    let printed = replayed(place.path(), &[&server.host, "--key", &server.key]);
    let summary = &printed["summary"];
    assert_eq!(summary["connections"]["planned"], 42);
    assert_eq!(summary["connections"]["completed"], 42, "{summary}");
    assert_eq!(summary["bytes"]["sent"], summary["bytes"]["planned"]);
    assert!(summary["queue_packets"].is_null() && summary["drops"].is_null());
    assert!(number(summary, "/goodput_mbps/forward") > 0.0);
    // The wait of 600 ms is the vectors'; the distance is loopback's.
    assert_eq!(summary["response_ms"]["n"], 65);
    assert!(number(summary, "/response_ms/max") >= 600.0);
    assert!(printed["path"]["lab"].is_null());
    assert!(printed["instrument"]["server_process_cpu_s"].is_number());
    let rows = connections(place.path());
    assert_eq!(rows.len(), 42);
    for row in rows {
        assert_eq!(row["received_by_acceptor"], row["request_bytes"], "{row:?}");
        assert_eq!(
            row["received_by_initiator"], row["response_bytes"],
            "{row:?}"
        );
        assert_eq!(row["rtt_us"], "0", "nothing was added");
    }
    assert!(
        run(place.path(), &["show", "run"])
            .ended(0)
            .stdout
            .contains("42 completed")
    );
    run(place.path(), &["report", "run", "-o", "page.html"]).ended(0);
    run(place.path(), &["replay", "verify", "run"]).refused(3);
    server.running.signal(Signal::TERM);
    server.running.finish().ended(0);
}

#[test]
fn a_far_end_allows_so_many_connections_and_says_so() {
    let _machine = Machine::without_networks();
    let place = folder(&[("v.cvec", &vectors(40))]);
    let server = Server::start(place.path(), &["--ephemeral", "--streams", "3"]);
    let common = ["replay", "v.cvec", &server.host, "--key", &server.key];
    let line = run(place.path(), &common).refused(3).to_owned();
    assert!(line.contains("isobath serve --streams"), "{line}");
    let line = run(
        place.path(),
        &[&common[..], &["--structure", "harpoon"]].concat(),
    )
    .refused(2)
    .to_owned();
    assert!(line.contains("harpoon"), "{line}");
    // Loopback has no queue that could hold segments back.
    let line = run(place.path(), &[&common[..], &["--add-rtt"]].concat())
        .refused(3)
        .to_owned();
    assert!(line.contains("fq"), "{line}");
    assert_eq!(entries(place.path()), ["v.cvec"], "nothing was played");
}

#[test]
fn a_far_end_that_dies_leaves_what_was_played() {
    let _machine = Machine::without_networks();
    let place = folder(&[("v.cvec", &vectors(60))]);
    let server = Server::start(place.path(), &["--ephemeral"]);
    let replay = [
        "replay",
        "v.cvec",
        &server.host,
        "--key",
        &server.key,
        "-o",
        "run",
    ];
    let replay = Running::start(isobath(place.path(), &replay));
    let begun = || entries(place.path()).contains(&"run".to_owned());
    eventually("a record is begun", begun);
    let some = || {
        entries(&place.path().join("run"))
            .iter()
            .any(|name| name.starts_with("connections"))
    };
    eventually("connections are written down", some);
    server.running.signal(Signal::KILL);
    replay.finish().ended(3);
    let shown = run(place.path(), &["show", "run", "--json"])
        .ended(0)
        .json();
    assert_eq!(shown["status"], "incomplete");
    assert!(number(&shown["summary"], "/connections/completed") > 0.0);
}
