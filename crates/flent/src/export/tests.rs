use super::*;
use crate::Limits;
use flate2::read::GzDecoder;
use record::{RecordWriter, Run};
use schema::tables::{Sample, Series, Stream};
use serde_json::{Value, json};
use std::io::Read;

const MS: u64 = 1_000_000;

fn run(plan: &str) -> Run {
    let plan = json!({"name": plan, "duration": "2s", "settle": "500ms", "note": "a/b"});
    let mut run = Run::new("rrul", "2026-11-21T07:29:11.5Z".parse().unwrap(), plan);
    run.path.server.addresses = vec!["192.0.2.2".parse().unwrap()];
    run.path.families = vec![4, 6];
    run
}

fn stream(id: u16, kind: &'static str, direction: &'static str, class: &'static str) -> Stream {
    let planned_ns = if kind == "tcp_load" { 1_000 * MS } else { 0 };
    Stream {
        id,
        name: format!("{kind} {id}"),
        kind: kind.into(),
        direction: direction.into(),
        class: class.into(),
        family: 4,
        planned_ns,
        connected_ns: Some(planned_ns + MS),
        ..Stream::default()
    }
}

/// Load from 1 s to 3 s of the run at so many Mbit/s.
fn load(stream: &Stream, mbps: u64) -> Vec<Series> {
    let row = |bin: u64| Series {
        t_ns: 1_100 * MS + bin * 100 * MS,
        bin_ns: 100 * MS,
        stream: stream.id,
        direction: stream.direction.clone(),
        end: if stream.direction == "down" {
            "client"
        } else {
            "server"
        }
        .into(),
        delivered_bytes: Some(mbps * 12_500),
        ..Series::default()
    };
    (0..20).map(row).collect()
}

/// A probe every 100 ms for 4 s; every tenth is lost.
fn probes(stream: &Stream, ms: u64) -> Vec<Sample> {
    let row = |seq: u64| Sample {
        t_ns: seq * 100 * MS,
        stream: stream.id,
        seq,
        rtt_ns: (seq % 10 != 9).then_some(ms * MS),
        owd_up_ns: (seq % 10 != 9).then_some(7_000_000),
        lost: seq % 10 == 9,
        ..Sample::default()
    };
    (0..40).map(row).collect()
}

struct Made {
    folder: tempfile::TempDir,
    record: Record,
}

fn made(run: &Run, streams: &[Stream], rates: &[u64]) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let mut writer = RecordWriter::create(&dir, run).unwrap();
    writer.append(streams).unwrap();
    for (stream, &figure) in streams.iter().zip(rates) {
        match stream.kind.as_ref() {
            "tcp_load" => writer.append(&load(stream, figure)).unwrap(),
            _ => writer.append(&probes(stream, figure)).unwrap(),
        }
    }
    writer.finish(run).unwrap();
    Made {
        record: Record::open(&dir).unwrap(),
        folder,
    }
}

fn rrul() -> Made {
    let mut six = stream(1, "tcp_load", "down", "CS1");
    six.family = 6;
    let mut marked = stream(5, "udp_rr", "both", "CS0");
    marked.ecn = Some("ECT(0)".into());
    let streams = [
        stream(0, "tcp_load", "down", "CS1"),
        six,
        stream(2, "tcp_load", "up", "EF"),
        stream(3, "udp_rr", "both", "EF"),
        stream(4, "udp_rr", "both", "CS1"),
        marked,
        stream(6, "tcp_rr", "both", "EF"),
    ];
    made(&run("rrul"), &streams, &[10, 6, 3, 20, 30, 40, 50])
}

fn exported(made: &Made) -> (Exported, Vec<u8>, Value) {
    let mut packed = Vec::new();
    let exported = export(&made.record, &mut packed).unwrap();
    let mut text = String::new();
    GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .unwrap();
    (exported, packed, serde_json::from_str(&text).unwrap())
}

fn names(file: &Value) -> Vec<&str> {
    let results = file["results"].as_object().unwrap();
    results.keys().map(String::as_str).collect()
}

#[test]
fn series_have_the_names_of_flents_test_and_like_streams_are_summed() {
    let (exported, _, file) = exported(&rrul());
    assert_eq!(exported.test, "rrul");
    assert_eq!(exported.series, names(&file).len());
    assert!(exported.note.unwrap().contains("summed"));
    assert_eq!(
        names(&file),
        [
            "Ping (ms) TCP EF",
            "Ping (ms) UDP BE ECT(0)",
            "Ping (ms) UDP BK",
            "Ping (ms) UDP EF",
            "Ping (ms) avg",
            "TCP download BK",
            "TCP download avg",
            "TCP download sum",
            "TCP totals",
            "TCP upload EF",
            "TCP upload avg",
            "TCP upload sum",
        ]
    );
    let meta = &file["metadata"]["SERIES_META"];
    let mean = |name: &str| meta[name]["MEAN_VALUE"].as_f64().map(f64::round);
    assert_eq!(
        (mean("TCP download BK"), mean("TCP totals")),
        (Some(16.0), Some(19.0))
    );
    assert_eq!(
        mean("Ping (ms) avg"),
        Some(25.0),
        "of EF and BK, not of marked ones or TCP"
    );
    assert_eq!(meta["Ping (ms) UDP EF"]["PACKET_LOSS_RATE"], 0.1);
}

#[test]
fn results_lie_on_the_time_line_with_nulls_where_nothing_ran() {
    let (.., file) = exported(&rrul());
    let x = file["x_values"].as_array().unwrap();
    assert_eq!((x.len(), &x[0], &x[1]), (20, &json!(0.0), &json!(0.2)));
    for (name, values) in file["results"].as_object().unwrap() {
        assert_eq!(values.as_array().unwrap().len(), 20, "{name}");
    }
    let down = &file["results"]["TCP download BK"];
    assert_eq!((&down[4], &down[16]), (&Value::Null, &Value::Null));
    for step in 6..15 {
        assert_eq!(
            down[step].as_f64().map(f64::round),
            Some(16.0),
            "step {step}"
        );
    }
}

#[test]
fn raw_values_are_the_samples_in_flents_keys() {
    let (.., file) = exported(&rrul());
    let raw = &file["raw_values"]["Ping (ms) UDP EF"];
    let first = json!({"t": 1_795_246_151.5, "seq": 0, "val": 20.0, "owd_up": 7.0});
    assert_eq!(raw[0], first);
    assert_eq!(
        raw[9],
        json!({"t": 1_795_246_152.4, "seq": 9, "lost": true})
    );
    let up = &file["raw_values"]["TCP upload EF"];
    assert_eq!(up[0], json!({"t": 1_795_246_152.6, "val": 3.0, "dur": 0.1}));
}

#[test]
fn metadata_says_what_when_and_by_whom() {
    let (exported, _, file) = exported(&rrul());
    let metadata = &file["metadata"];
    for (key, value) in [
        ("NAME", json!("rrul")),
        ("TITLE", json!("a/b")),
        ("HOST", json!("192.0.2.2")),
        ("LENGTH", json!(2)),
        ("TOTAL_LENGTH", json!(3.9)),
        ("STEP_SIZE", json!(0.2)),
        ("T0", json!("2026-11-21T07:29:11.500000Z")),
        ("IP_VERSION", json!(4)),
        ("FAILED_RUNNERS", json!(0)),
    ] {
        assert_eq!(metadata[key], value, "{key}");
    }
    assert_eq!(metadata["ISOBATH"]["loaded_start_s"], 1.5);
    assert_eq!(
        exported.file_name,
        "rrul-2026-11-21T072911.500000.a_b.flent.gz"
    );
    assert_eq!(metadata["DATA_FILENAME"], exported.file_name.as_str());
}

#[test]
fn what_is_exported_comes_back_with_the_same_means() {
    let made = rrul();
    let (_, packed, file) = exported(&made);
    let back = crate::import(&packed[..], &Limits::default()).unwrap();
    let meta = file["metadata"]["SERIES_META"].as_object().unwrap();
    for (name, meta) in meta {
        assert_eq!(
            back.run.summary["series"][name]["mean"], meta["MEAN_VALUE"],
            "{name}"
        );
    }
    assert_eq!(back.run.started, made.record.run().started);
    assert_eq!(back.run.summary["phases"]["loaded"], json!([1.5, 3.0]));
    let rates = &back.run.summary["throughput_mbps"];
    assert_eq!(rates["down"].as_f64().map(f64::round), Some(16.0));
    assert_eq!(rates["up"].as_f64().map(f64::round), Some(3.0));
    assert_eq!(back.run.summary["loss_pct"]["idle"], 10.0);
    assert_eq!(back.run.summary["tcp_rr_ms"]["loaded"]["p50"], 50.0);
    let lost = back.samples().filter(|row| row.lost).count();
    assert_eq!(lost, 4 * 4, "every tenth of 40 in four streams");
    let of_ef = back.samples().find(|row| row.owd_up_ns == Some(7_000_000));
    assert!(of_ef.is_some_and(|row| row.rtt_ns.is_some()));
}

#[test]
fn each_plan_goes_out_under_a_test_that_flent_knows() {
    let up = || stream(0, "tcp_load", "up", "CS0");
    let down = || stream(1, "tcp_load", "down", "CS0");
    let ping = || stream(2, "udp_rr", "both", "CS0");
    for (plan, streams, test, series) in [
        (
            "tcp_upload",
            vec![up(), ping()],
            "tcp_upload",
            vec!["Ping (ms) ICMP", "TCP upload"],
        ),
        (
            "mine",
            vec![up(), down()],
            "tcp_bidirectional",
            vec!["TCP download", "TCP upload"],
        ),
        ("ping", vec![ping()], "ping", vec!["Ping (ms) UDP"]),
        ("none", vec![ping()], "ping", vec!["Ping (ms) UDP"]),
        (
            "rrul_cs8",
            vec![up(), ping()],
            "rrul_cs8",
            vec![
                "Ping (ms) UDP CS0_BE",
                "Ping (ms) avg",
                "TCP upload CS0_BE",
                "TCP upload avg",
                "TCP upload sum",
            ],
        ),
        (
            "rrul_noclassification",
            vec![up(), Stream { id: 1, ..up() }, ping()],
            "rrul_noclassification",
            vec![
                "Ping (ms) UDP BE",
                "Ping (ms) avg",
                "TCP upload BE",
                "TCP upload BE2",
                "TCP upload avg",
                "TCP upload sum",
            ],
        ),
        (
            "many",
            vec![up(), Stream { id: 1, ..up() }, ping()],
            "tcp_nup",
            vec![
                "Ping (ms) ICMP",
                "TCP upload avg",
                "TCP upload sum",
                "TCP upload::1",
                "TCP upload::2",
            ],
        ),
    ] {
        let made = made(&run(plan), &streams, &[5, 5, 5]);
        let (exported, _, file) = exported(&made);
        assert_eq!(exported.test, test, "{plan}");
        let found: Vec<_> = names(&file)
            .into_iter()
            .filter(|name| *name != "TCP totals")
            .collect();
        assert_eq!(found, series, "{plan}");
        let says_plan = exported
            .note
            .is_some_and(|note| note.contains(&format!("plan '{plan}'")));
        assert_eq!(says_plan, plan != test, "{plan}");
    }
}

#[test]
fn without_rows_of_the_receiver_those_of_the_sender_count() {
    let up = stream(0, "tcp_load", "up", "CS0");
    let mut rows = load(&up, 8);
    for row in &mut rows {
        row.end = "client".into();
        row.acked_bytes = row.delivered_bytes.take();
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let mut writer = RecordWriter::create(&dir, &run("tcp_upload")).unwrap();
    writer.append(&[up]).unwrap();
    writer.append(&rows).unwrap();
    writer.finish(&run("tcp_upload")).unwrap();
    let made = Made {
        record: Record::open(&dir).unwrap(),
        folder,
    };
    let (.., file) = exported(&made);
    assert_eq!(
        file["metadata"]["SERIES_META"]["TCP upload"]["MEAN_VALUE"],
        8.0
    );
}

#[test]
fn a_record_without_streams_is_refused_in_one_line() {
    let made = made(&run("rrul"), &[], &[]);
    let error = export(&made.record, Vec::new()).unwrap_err().to_string();
    assert!(
        error.starts_with("the record of test 'rrul' has no stream"),
        "{error}"
    );
}

#[test]
fn long_titles_are_cut_to_what_a_file_system_takes() {
    let mut run = run("rrul");
    run.plan["note"] = json!("ü".repeat(1_000));
    let name = metadata::file_name(&run, "rrul", &metadata::title(&run));
    assert_eq!(name.len(), 250);
    assert!(name.ends_with("_.flent.gz"), "{name}");
}

#[test]
fn a_call_goes_out_as_its_one_way_delays_and_comes_back() {
    let streams = [
        stream(0, "udp_rr", "both", "CS0"),
        stream(1, "voip", "up", "EF"),
    ];
    let mut made = made(&run("ping"), &streams[..1], &[20]);
    let dir = made.folder.path().join("call");
    let mut writer = RecordWriter::create(&dir, made.record.run()).unwrap();
    let mut rows = probes(&streams[1], 1);
    for row in &mut rows {
        row.rtt_ns = None;
    }
    writer.append(&streams).unwrap();
    writer.append(&rows).unwrap();
    writer.finish(made.record.run()).unwrap();
    made.record = Record::open(&dir).unwrap();
    let (_, packed, file) = exported(&made);
    assert_eq!(names(&file), ["VoIP delay up EF"]);
    let back = crate::import(&packed[..], &Limits::default()).unwrap();
    let sent: Vec<_> = back.samples().collect();
    assert_eq!((sent.len(), back.streams[0].kind.as_ref()), (40, "voip"));
    assert_eq!((sent[0].rtt_ns, sent[0].owd_up_ns), (None, Some(7_000_000)));
}

/// What a small record looks like, octet by octet before it is packed.
#[test]
fn a_small_file_is_as_it_always_was() {
    let mut run = run("ping");
    run.id = "20261121T072911Z-00000000".to_owned();
    let made = made(&run, &[stream(0, "udp_rr", "both", "CS0")], &[20]);
    let (_, packed, _) = exported(&made);
    let mut text = String::new();
    GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .unwrap();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/exported-ping.json");
    if std::env::var_os("ISOBATH_BLESS").is_some() {
        std::fs::write(golden, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(golden).unwrap());
}
