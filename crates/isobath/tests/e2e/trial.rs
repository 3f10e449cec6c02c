//! `isobath manager trial`: short ones. What is asserted is that everything is where it belongs, not how it fares.

use crate::support::{Machine, Running, Signal, eventually, folder, isobath, number, run, values};
use serde_json::Value;

/// A trial of a few seconds; its run.json, whatever the machine was like.
#[track_caller]
fn tried(more: &[&str]) -> Value {
    let place = folder(&[]);
    let line = [
        "manager",
        "trial",
        "--quiet",
        "--json",
        "--out",
        "x",
        "--each",
        "2s",
        "--duration",
        "6s",
    ];
    let ran = run(place.path(), &[&line[..], more].concat());
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:?}");
    let run: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(run["test"], "trial");
    // Every octet that left the bottleneck was seen, and is of a kind.
    let instrument = &run["instrument"];
    assert_eq!(
        instrument["captured_bytes"], instrument["counted_bytes"],
        "{instrument:#}"
    );
    assert_eq!(
        (&instrument["uncaptured"], &instrument["unmatched"]),
        (&0.into(), &0.into())
    );
    run
}

/// Holds manager/off, manager/source, manager/measures.
#[test]
fn packets_ride_in_a_trial_with_riding_and_in_none_without() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    for riding in ["on", "off"] {
        let run = tried(&[
            "--probes",
            "pk2",
            "--riding",
            riding,
            "--cross",
            "1Mbit,2Mbit",
        ]);
        let summary = &run["summary"];
        let mbps = |kind: &str| number(summary, &format!("/throughput_mbps/{kind}"));
        assert!(
            mbps("source") > 0.0 && mbps("probe") > 0.0 && mbps("cross") > 0.0,
            "{summary:#}"
        );
        assert_eq!(mbps("rider") > 0.0, riding == "on", "{summary:#}");
        assert_eq!(number(summary, "/seconds").to_bits(), 4.0_f64.to_bits());
        assert!(number(summary, "/source/mean_mbps") > 0.0, "{summary:#}");
        // What came to the queue is what was lost there and what was not.
        let sum = |field: &str| -> f64 {
            values(&summary["by_tenth"])
                .map(|of| number(of, &format!("/{field}")))
                .sum()
        };
        let lost = sum("carrying_lost") + sum("empty_lost");
        assert!(
            (lost - number(summary, "/probes_lost")).abs() < 0.5,
            "{summary:#}"
        );
        assert!(
            (sum("carrying") + sum("empty") - number(summary, "/probes_sent")).abs() < 0.5,
            "{summary:#}"
        );
        assert!(
            (sum("carrying_lost") - number(summary, "/riders_lost")).abs() < 0.5,
            "{summary:#}"
        );
        assert_eq!(sum("carrying") > 0.0, riding == "on", "{summary:#}");
        assert!(summary["estimates"].is_null());
    }
}

/// Holds manager/first-probes, manager/cross-web.
#[test]
fn an_estimator_and_connections_of_others_take_part() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let run = tried(&[
        "--probes",
        "pathload-fast",
        "--cross",
        "web",
        "--ratio",
        "0.5",
    ]);
    let summary = &run["summary"];
    assert!(
        number(summary, "/throughput_mbps/cross") > 0.0,
        "{summary:#}"
    );
    assert!(number(summary, "/trains") > 2.0, "{summary:#}");
    // The second half of a train carries nothing.
    let carrying: Vec<bool> = values(&summary["by_tenth"])
        .map(|of| number(of, "/carrying") > 0.0)
        .collect();
    assert_eq!(
        (carrying.len(), &carrying[5..]),
        (10, &[false; 5][..]),
        "{summary:#}"
    );
    assert!(carrying[0], "{summary:#}");
}

#[test]
fn an_interrupted_trial_keeps_what_it_has() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[]);
    let line = [
        "manager", "trial", "--quiet", "--out", "x", "--probes", "pk1",
    ];
    let running = Running::start(isobath(place.path(), &line));
    eventually("a second has rows", || {
        std::fs::metadata(place.path().join("x/source.arrows")).is_ok_and(|file| file.len() > 1_000)
    });
    running.signal(Signal::INT);
    let ran = running.finish();
    assert_eq!(ran.code(), Some(130), "{ran:?}");
    let shown = run(place.path(), &["show", "x", "--json"]).ended(0).json();
    assert_eq!(shown["status"], "incomplete");
    assert!(number(&shown, "/summary/trains") > 0.0, "{shown:#}");
    run(place.path(), &["report", "x"]).ended(0);
    let page = std::fs::read_to_string(place.path().join("x/report.html")).unwrap();
    assert!(page.contains("\"throughput-run\"") && page.contains("isobath manager trial"));
}

#[test]
fn what_cannot_be_tried_is_told_in_a_line() {
    let place = folder(&[]);
    let refused = |more: &[&str]| {
        let line = ["manager", "trial", "--probes", "pk1"];
        run(place.path(), &[&line[..], more].concat())
            .refused(2)
            .to_owned()
    };
    assert!(refused(&["--lab", "dsl"]).contains("manager-dumbbell"));
    assert!(refused(&["--cross", "fast"]).contains("'web'"));
    assert!(refused(&["--ratio", "2"]).contains("0 to 1"));
    assert!(refused(&["--duration", "1s"]).contains("4s"));
    assert!(refused(&["--delay", "0s"]).contains("more than 0s"));
}
