//! Records become the value of a page, whatever state their run left them in.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use isobath_report::{Error, MOST_RUNS, Subject, data, render};
use record::{Distribution, Record, RecordWriter, Run};
use schema::rrul;
use schema::tables::{Sample, Series, Stream};
use serde_json::{Value, json};
use std::path::Path;

/// 10 s of round trips every 100 ms: 20 ms until 5 s, then 80 ms; the one at 7 s is lost.
fn samples() -> Vec<Sample> {
    let sample = |seq: u64| Sample {
        t_ns: seq * 100_000_000,
        seq,
        rtt_ns: (seq != 70).then_some(if seq < 50 { 20_000_000 } else { 80_000_000 }),
        lost: seq == 70,
        tos_sent: 0xb8,
        ..Sample::default()
    };
    (0..100).map(sample).collect()
}

fn stream() -> Stream {
    Stream {
        kind: "udp_rr".into(),
        direction: "both".into(),
        class: "EF".into(),
        family: 4,
        name: "</script>".into(),
        ..Stream::default()
    }
}

fn run() -> Run {
    let plan = json!({"name": "rrul", "summary": "a test", "idle_before": "5s", "duration": "5s", "settle": "0s", "load": [{"direction": "both"}]});
    let mut run = Run::new("rrul", "2026-11-21T07:29:11Z".parse().unwrap(), plan);
    let latency_ms = rrul::Latency {
        idle: Distribution::of([20.0]),
        loaded: Distribution::of([80.0]),
        ..rrul::Latency::default()
    };
    run.summary = json!({"latency_ms": latency_ms});
    run
}

fn record(dir: &Path, fill: impl FnOnce(&mut RecordWriter)) -> Subject {
    let mut writer = RecordWriter::create(dir, &run()).unwrap();
    fill(&mut writer);
    writer.flush().unwrap();
    Subject::from(Record::open(dir).unwrap())
}

fn value(subjects: &[Subject]) -> Value {
    serde_json::from_str(&data(subjects, None).unwrap()).unwrap()
}

#[test]
fn phases_gaps_and_figures_are_those_of_the_rows() {
    let dir = tempfile::tempdir().unwrap();
    let subject = record(&dir.path().join("run"), |writer| {
        writer.append(&samples()).unwrap();
        writer.append(&[stream()]).unwrap();
    });
    let page = value(&[subject]);
    let probe = &page["runs"][0]["probes"]["streams"][0];
    assert_eq!(probe["idle"]["ms"]["p50"], 20.0);
    assert_eq!(probe["loaded"]["ms"]["p50"], 80.0);
    assert_eq!(
        (&probe["loaded"]["sent"], &probe["loaded"]["lost"]),
        (&json!(50), &json!(1))
    );
    assert_eq!(probe["lost"], json!({"t_s": [7.0], "n": [1]}));
    let line = probe["line_ms"]["v"].as_array().unwrap();
    assert_eq!(line.iter().filter(|v| v.is_null()).count(), 1, "one gap");
    assert_eq!(
        page["sentence"],
        "Under load this path adds 60.0 ms to a round trip (20.0 ms idle, 80.0 ms loaded; medians, UDP)."
    );
}

#[test]
fn a_killed_run_without_streams_tells_what_its_rows_tell() {
    let dir = tempfile::tempdir().unwrap();
    let series = Series {
        t_ns: 6_000_000_000,
        bin_ns: 100_000_000,
        stream: 9,
        direction: "down".into(),
        end: "client".into(),
        delivered_bytes: Some(125_000),
        ..Series::default()
    };
    let subject = record(&dir.path().join("run"), |writer| {
        writer.append(&samples()).unwrap();
        writer.append(&[series]).unwrap();
    });
    let page = value(&[subject]);
    let streams = page["runs"][0]["streams"].as_array().unwrap();
    let kinds: Vec<_> = streams
        .iter()
        .map(|stream| (&stream["kind"], &stream["class"]))
        .collect();
    assert_eq!(
        kinds,
        [
            (&json!("tcp_rr"), &json!("EF")),
            (&json!("tcp_load"), &json!("CS0"))
        ]
    );
    assert_eq!(
        page["runs"][0]["tcp"]["flows"][0]["mbps"]["v"],
        json!([10.0])
    );
}

#[test]
fn several_runs_are_compared_with_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let make = |name: &str| {
        record(&dir.path().join(name), |writer| {
            writer.append(&samples()).unwrap();
            writer.append(&[stream()]).unwrap();
        })
    };
    let page = value(&[make("a"), make("b")]);
    let row = &page["comparison"]["rows"][0];
    assert_eq!(row["values"], json!([20.0, 20.0]));
    assert!(
        row["differences"][1]["words"]
            .as_str()
            .unwrap()
            .starts_with("no difference seen")
    );
    assert_ne!(page["runs"][0]["name"], page["runs"][1]["name"]);
}

#[test]
fn an_empty_record_is_a_page_and_no_text_leaves_its_element() {
    let dir = tempfile::tempdir().unwrap();
    let empty = record(&dir.path().join("empty"), |_| {});
    let named = record(&dir.path().join("named"), |writer| {
        writer.append(&[stream()]).unwrap();
    });
    let page = render(&[empty.clone(), named], None).unwrap();
    assert!(page.contains("\\u003c/script>"));
    assert!(matches!(render(&[], None), Err(Error::NoRuns)));
    let many = vec![empty; MOST_RUNS + 1];
    assert!(matches!(
        render(&many, None),
        Err(Error::TooManyRuns { .. })
    ));
}
