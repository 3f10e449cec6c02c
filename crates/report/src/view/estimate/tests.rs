//! Records of other versions, of killed runs, and of whole ones.

use super::*;
use crate::made::{estimate_plan, estimate_summary, link};
use record::{LabInfo, LabLink, RecordWriter};
use schema::estimate::tables::{ProbeRow, TrainRow};
use serde_json::{Value, json};

fn run(method: &str, summary: Value) -> Run {
    let what = summary["what"].as_str().unwrap_or("available");
    let plan = estimate_plan(json!({"what": what, "method": method}));
    let mut run = Run::new(TEST, "2026-11-21T07:29:11Z".parse().unwrap(), plan);
    if summary.is_object() {
        run.summary = estimate_summary(summary);
    }
    run
}

/// Four probes of 1,250 octets, planned 1 ms apart: 10 Mbit/s.
fn train(number: u32, arrived: u32) -> TrainRow {
    TrainRow {
        train: number,
        t_ns: u64::from(number) * 1_000_000_000,
        probes: 4,
        arrived,
        bytes: 5_000,
        planned_ns: 3_000_000,
        lasted_ns: 3_001_000,
        worst_gap_error_ns: 1_500,
        echo: false,
    }
}

/// A probe of it that took 7 ms by the clocks of both ends, of which 5 are their difference, and so many more.
fn probe(train: u32, number: u32, more_us: u64) -> ProbeRow {
    let t_ns = u64::from(train) * 1_000_000_000 + u64::from(number) * 1_000_000;
    ProbeRow {
        train,
        probe: number,
        bytes: 1_250,
        t_ns,
        arrived_ns: t_ns + 7_000_000 + more_us * 1_000,
        returned_ns: Some(t_ns + 20_000_000),
    }
}

fn view(run: &Run, trains: &[TrainRow], probes: &[ProbeRow]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), run).unwrap();
    writer.append(trains).unwrap();
    writer.append(probes).unwrap();
    writer.flush().unwrap();
    let record = Record::open(dir.path()).unwrap();
    serde_json::to_value(read(&record, run).unwrap().unwrap()).unwrap()
}

#[test]
fn the_rate_of_a_train_is_that_of_its_dispersion() {
    // Each probe waits 1 ms longer than the one before: they arrive at half the rate.
    let probes: Vec<ProbeRow> = (0..4).map(|n| probe(1, n, u64::from(n) * 1_000)).collect();
    let seen = view(&run("pathload", Value::Null), &[train(1, 4)], &probes);
    let trains = &seen["trains"];
    assert_eq!(trains["planned_mbps"]["v"], json!([10.0]));
    assert_eq!(trains["arrived_mbps"]["v"], json!([5.0]));
    assert_eq!(trains["left_mbps"]["n"], 0);
    assert_eq!(trains["gap_us"]["max"], 1.5);
}

#[test]
fn a_train_without_gaps_has_the_rate_at_which_it_left_and_no_gaps_to_keep() {
    let sent = TrainRow {
        planned_ns: 0,
        lasted_ns: 300_000,
        ..train(0, 0)
    };
    let seen = view(&run("pathrate", Value::Null), &[sent], &[]);
    assert_eq!(seen["trains"]["left_mbps"]["v"], json!([100.0]));
    assert_eq!(seen["trains"]["planned_mbps"]["n"], 0);
    assert_eq!(seen["trains"]["gap_us"], Value::Null);
    assert_eq!(seen["trains"]["lost"], json!({"t_s": [0.0], "n": [4]}));
    assert_eq!(seen["delays"], Value::Null);
}

#[test]
fn the_last_twelve_streams_are_kept_probe_by_probe_above_the_least_of_the_run() {
    let trains: Vec<TrainRow> = (0..15).map(|n| train(n, 3)).collect();
    let probes: Vec<ProbeRow> = (0..15)
        .flat_map(|n| [(3, 900), (0, 100), (2, 600)].map(|(place, us)| probe(n, place, us)))
        .collect();
    let seen = view(&run("yaz", Value::Null), &trains, &probes);
    let overlaid = seen["delays"]["overlaid"].as_array().unwrap();
    let numbers: Vec<u64> = overlaid
        .iter()
        .map(|one| one["train"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (3..15).collect::<Vec<u64>>());
    assert_eq!(
        overlaid[0],
        json!({"train": 3, "t_s": 3.0, "probe": [0.0, 2.0, 3.0], "ms": [0.0, 0.5, 0.8], "arrived": 3, "lost": 1})
    );
}

#[test]
fn losses_stand_where_the_probes_are_missing_and_interrupt_the_line() {
    let trains = [train(0, 2), train(1, 0)];
    let probes = [probe(0, 0, 0), probe(0, 3, 250)];
    let seen = view(&run("badabing", Value::Null), &trains, &probes);
    let delays = &seen["delays"];
    assert_eq!(delays["line_ms"]["v"], json!([0.0, null, 0.25]));
    assert_eq!(delays["lost"], json!({"t_s": [0.0, 1.0], "n": [2, 4]}));
    assert_eq!(delays["ms"]["max"], 0.25);
    assert_eq!(delays["is_round_trip"], false);
}

#[test]
fn of_round_trips_the_offset_of_the_clocks_is_no_part() {
    let summary = json!({"what": "rtt", "estimator": "isochronous"});
    let seen = view(
        &run("isochronous", summary),
        &[train(0, 1)],
        &[probe(0, 0, 0)],
    );
    assert_eq!(seen["delays"]["is_round_trip"], true);
    assert_eq!(seen["delays"]["line_ms"]["v"][0], 20.0);
}

#[test]
fn a_killed_run_has_its_question_and_its_rows() {
    let seen = view(&run("yaz", Value::Null), &[train(0, 4)], &[]);
    assert_eq!(seen["answer"]["what"], "available");
    assert_eq!(seen["answer"]["conclusive"], Value::Null);
    assert_eq!(seen["trains"]["arrived"], 4);
    assert_eq!(seen["details"]["history_mbps"], json!([]));
}

#[test]
fn absurd_rows_do_no_harm() {
    let sent = TrainRow {
        t_ns: u64::MAX,
        arrived: u32::MAX,
        bytes: u64::MAX,
        worst_gap_error_ns: u64::MAX,
        ..train(u32::MAX, 0)
    };
    let row = |t_ns, arrived_ns| ProbeRow {
        train: u32::MAX,
        probe: u32::MAX,
        bytes: u32::MAX,
        t_ns,
        arrived_ns,
        returned_ns: Some(0),
    };
    let probes = [row(u64::MAX, 0), row(0, u64::MAX)];
    for method in ["badabing", "pathchirp", "hops", "another"] {
        let seen = view(
            &run(method, json!([])),
            std::slice::from_ref(&sent),
            &probes,
        );
        assert_eq!(seen["trains"]["n"], 1, "{method}");
    }
}

/// A lab of two links, of which the first is slow, and its counters.
fn in_lab(what: &str, carried_mbps: f64, stage: &Value) -> Run {
    let summary = json!({
        "what": what,
        "links": [link("a-b", "up", Some(5.0), carried_mbps), link("a-b", "down", Some(20.0), 0.0), link("b-c", "up", None, 1.0), link("b-c", "down", None, 0.0)],
    });
    let mut run = run("pathload", summary);
    let link = |name: &str, up: Value| LabLink {
        name: name.into(),
        up,
        down: json!([]),
    };
    run.path.lab = Some(LabInfo {
        name: "two".into(),
        links: vec![link("a-b", json!([stage])), link("b-c", json!([]))],
        ..LabInfo::default()
    });
    run
}

fn truth(run: &Run) -> Value {
    view(run, &[], &[])["answer"]["truth"]["value"].clone()
}

#[test]
fn the_truth_is_told_where_the_counters_know_it() {
    let rate = json!({"kind": "rate", "rate": "5Mbit"});
    assert_eq!(truth(&in_lab("capacity", 1.0, &rate)), 5.0);
    assert_eq!(truth(&in_lab("available", 1.01, &rate)), 5.0);
    // Probes put 1 Mbit/s on the links; somebody else 2.
    assert_eq!(truth(&in_lab("available", 3.0, &rate)), 3.0);
    assert_eq!(truth(&in_lab("rtt", 1.0, &rate)), Value::Null);
}

#[test]
fn the_truth_is_not_told_of_links_that_change_or_have_traffic_of_their_own() {
    let bucket = json!({"kind": "token_bucket", "rate": "5Mbit", "burst": "1MB"});
    assert_eq!(truth(&in_lab("capacity", 1.0, &bucket)), Value::Null);
    let cross = json!({"kind": "rate", "rate": "5Mbit", "cross": {"pace": "even"}});
    assert_eq!(truth(&in_lab("available", 1.0, &cross)), Value::Null);
    assert_eq!(truth(&in_lab("capacity", 1.0, &cross)), 5.0);
    let mut fork = in_lab("capacity", 1.0, &json!({"kind": "rate", "rate": "5Mbit"}));
    fork.summary["links"][2]["link"] = json!("a-c");
    assert_eq!(truth(&fork), Value::Null, "which way is not known");
}

#[test]
fn the_answer_is_a_sentence() {
    let told = |what: &str, estimator: &str, value: Value, conclusive: bool, says: &str| {
        let summary = json!({"what": what, "estimator": estimator, "value": value, "conclusive": conclusive, "says": says, "direction": "up"});
        sentence(&run(estimator, summary)).unwrap()
    };
    let fast = "trains of all lengths tell nearly the same";
    assert_eq!(
        told("capacity", "pathrate", json!(5.013_04), true, fast),
        "The slowest link carries 5.01 Mbit/s from here to the far end: trains of all lengths tell nearly the same."
    );
    assert_eq!(
        told(
            "jitter",
            "isochronous",
            json!(0.034_354),
            true,
            "on average"
        ),
        "The delays of neighbouring packets differ by 0.034 ms from here to the far end: on average."
    );
    assert_eq!(
        told(
            "available",
            "yaz",
            json!(4.9),
            true,
            "about 4.90 Mbit/s are available"
        ),
        "About 4.90 Mbit/s are available from here to the far end."
    );
    assert_eq!(
        told(
            "available",
            "yaz",
            json!(4.9),
            false,
            "estimates did not agree"
        ),
        "The available bandwidth from here to the far end could not be told: estimates did not agree."
    );
    assert_eq!(
        told(
            "bottleneck",
            "hops",
            json!(2),
            true,
            "packets wait in front of b"
        ),
        "On the way from here to the far end packets wait in front of b."
    );
    assert_eq!(sentence(&run("yaz", Value::Null)), None);
}

#[test]
fn a_record_of_another_test_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let run = Run::new("btc", "2026-11-21T07:29:11Z".parse().unwrap(), json!({}));
    RecordWriter::create(dir.path(), &run)
        .unwrap()
        .flush()
        .unwrap();
    let record = Record::open(dir.path()).unwrap();
    assert!(read(&record, &run).unwrap().is_none());
}
