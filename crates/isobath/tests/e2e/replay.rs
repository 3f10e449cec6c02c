//! Replays, from outside: real connections in a lab, and their own capture held against what was asked for.

use crate::support::{Machine, folder, number, run};
use serde_json::Value;
use std::path::Path;

/// So many connections in 100 ms each, of two epochs with a wait of 600 ms before the second answer; round trips from 10 ms in
/// steps of 1 ms. Every fifth is concurrent.
fn vectors(count: u32) -> String {
    let vector = |at: u32| {
        let start = at * 100_000;
        let rtt = 10_000 + at * 1_000;
        let head = format!("w 65535 65535\nr {rtt}\nl 0.000000 0.000000\n");
        if at % 5 == 0 {
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

#[test]
fn what_is_replayed_is_what_was_asked_for() {
    let Some(_machine) = Machine::whole() else {
        return;
    };
    let place = folder(&[("v.cvec", &vectors(120))]);
    let printed = replayed(place.path(), &[]);
    let summary = &printed["summary"];
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
    let verified = run(place.path(), &["replay", "verify", "run", "--json"]);
    let found: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(found["connections"], 120);
    assert_eq!(found["found"], 120);
    assert_eq!(found["same_adus"], 120, "{found}");
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

#[test]
fn a_model_is_played_over_a_bottleneck_and_cut_at_its_end() {
    let Some(_machine) = Machine::whole() else {
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
        "--no-capture",
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
    assert!(
        number(summary, "/throughput_mbps/forward") <= 2.01,
        "{summary}"
    );
    assert!(
        number(summary, "/throughput_mbps/forward") > 1.5,
        "{summary}"
    );
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
