//! IP-layer capacity by UDPSTP, in labs whose rates are known: our client with our server.

use crate::support::{Machine, PROGRAM, Ran, SMALL_LAB, folder, in_small_lab, number, once_there};
use record::Record;
use schema::udpst::tables::{UdpstInterval, UdpstTrial};
use serde_json::Value;
use std::path::Path;

const SERVER: &str =
    "serve --also udpst --udpst-key 7:secret --ephemeral --quiet --json > /dev/null";

/// `isobath udpst` with the options towards `server`, in the small lab once the server is there.
fn asked(place: &Path, server: &str, options: &str) -> Ran {
    let command = format!("{PROGRAM} udpst {server} {options} -q --json -o out");
    let script = once_there(&command, "does not answer");
    in_small_lab(place, &format!("exec {PROGRAM} {SERVER}"), &script)
}

fn measured(server: &str, options: &str) -> Value {
    let place = folder(&[("small.toml", SMALL_LAB)]);
    let options = format!("--udpst-key 7:secret --duration 5s {options}");
    let ran = asked(place.path(), server, &options);
    // A machine that is too busy (4) is none of this test's.
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let run = ran.json();
    let shown = crate::support::run(place.path(), &["show", "out"]);
    let shown = shown.ended(0).stdout.clone();
    assert!(shown.contains("Mbit/s of IP packets"), "{shown}");
    run
}

#[test]
fn the_capacity_of_a_link_is_found_both_ways() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let run = measured("far", "");
    let summary = &run["summary"];
    for way in ["down", "up"] {
        let of = |figure: &str| number(summary, &format!("/{way}/{figure}"));
        let capacity = of("capacity_mbps");
        assert!(capacity > 0.5, "{way}: {summary:#}");
        // The link has 8 Mbit/s of IP packets, and no sub-interval can have more, but for what waited before it.
        let is_right = (7.0..8.2).contains(&capacity);
        assert!(is_right || run["status"] == "invalid", "{way}: {run:#}");
        assert!(of("mean_mbps") <= capacity, "{way}: {summary:#}");
        assert!(of("least_rtt_ms") >= 10.0, "{way}: {summary:#}");
        // The queue of 30 kB takes 30 ms: the search goes on until it is lost from.
        assert!(of("loss_pct") > 0.0, "{way}: {summary:#}");
        assert!(of("owd_variation_ms/max") > 5.0, "{way}: {summary:#}");
        assert!(of("intervals") >= 4.0, "{way}: {summary:#}");
    }
}

#[test]
fn type_c_and_ipv6_and_a_class_are_those_asked_for() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let run = measured(
        "far",
        "-6 --ways down --algorithm c --dscp AF11 --one-way --sub-interval 500ms",
    );
    assert_eq!(run["plan"]["algorithm"], "c");
    assert_eq!(run["path"]["families"], serde_json::json!([6]), "{run:#}");
    let summary = &run["summary"];
    assert!(summary["up"].is_null());
    let capacity = number(summary, "/down/capacity_mbps");
    let intervals = number(summary, "/down/intervals");
    let is_right = (6.0..8.3).contains(&capacity) && intervals >= 8.0;
    assert!(is_right || run["status"] == "invalid", "{run:#}");
}

/// What was seen until then is in the record.
#[test]
fn a_run_that_is_killed_keeps_its_rows() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB)]);
    let there = once_there(&format!("{PROGRAM} udpst far -q"), "does not answer");
    let script = format!(
        "({there}); {PROGRAM} udpst far --udpst-key 7:secret --ways down -q -o out & p=$!; sleep 4; kill -9 $p && echo killed"
    );
    let ran = in_small_lab(place.path(), &format!("exec {PROGRAM} {SERVER}"), &script);
    assert!(ran.stdout.contains("killed"), "{ran:#?}");
    let record = Record::open(&place.path().join("out")).unwrap();
    let intervals: Vec<UdpstInterval> = record.rows().unwrap();
    let trials: Vec<UdpstTrial> = record.rows().unwrap();
    assert!(
        !intervals.is_empty() && trials.len() > 10,
        "{}",
        trials.len()
    );
    let shown = crate::support::run(place.path(), &["show", "out"]);
    let shown = shown.ended(0).stdout.clone();
    assert!(shown.contains("Mbit/s of IP packets"), "{shown}");
}

#[test]
fn why_there_is_no_test_is_told_in_one_line() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB)]);
    for (options, says) in [
        ("", "the server wants a key: give --udpst-key"),
        ("--udpst-key secret", "the server does not know this key"),
        ("--udpst-key 7:other", "the server does not know this key"),
    ] {
        let ran = asked(place.path(), "far", options);
        assert_eq!(ran.code(), Some(3), "{ran:#?}");
        assert!(ran.stderr.contains(says), "{ran:#?}");
        assert!(!place.path().join("out").exists(), "{options}");
    }
    let mistaken = crate::support::run(place.path(), &["serve", "--also", "udpst", "--ephemeral"]);
    assert!(
        mistaken.ended(2).stderr.contains("add --udpst-key KEY"),
        "{mistaken:#?}"
    );
    let mistaken = crate::support::run(place.path(), &["udpst", "far", "--duration", "1s"]);
    assert!(
        mistaken.ended(2).stderr.contains("5s to 1h"),
        "{mistaken:#?}"
    );
}
