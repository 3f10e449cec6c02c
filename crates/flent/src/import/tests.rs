use super::*;
use proptest::prelude::*;
use serde_json::Value as Json;

const RRUL: &[u8] = include_bytes!("../../tests/data/rrul.flent.gz");
const VOIP: &[u8] = include_bytes!("../../tests/data/voip.flent.gz");
const PING: &[u8] = include_bytes!("../../tests/data/ping.flent.gz");
const BIDIRECTIONAL: &[u8] = include_bytes!("../../tests/data/tcp_bidirectional.flent.gz");

fn imported(octets: &[u8]) -> Imported {
    import(octets, &Limits::default()).unwrap()
}

#[track_caller]
fn assert_near(found: &Json, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
    let apart = (found - expected).abs();
    assert!(
        apart <= 1e-9 * expected.abs().max(1e-3),
        "{what}: {found} is not {expected}"
    );
}

/// Compares with what `flent -f stats_csv` said of the file.
#[track_caller]
fn assert_as_flent(octets: &[u8], stats: &str) {
    let summary = imported(octets).run.summary;
    for line in stats.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.trim().split(',').collect();
        let Some(Ok(mean)) = cells.get(3).map(|mean| mean.parse::<f64>()) else {
            continue;
        };
        let series = &summary["series"][cells[0]];
        assert_near(&series["mean"], mean, &format!("mean of {}", cells[0]));
        for (cell, figure) in [(4, "p50"), (5, "min"), (6, "max"), (10, "p99")] {
            let expected: f64 = cells[cell].parse().unwrap();
            let what = format!("{figure} of {}", cells[0]);
            assert_near(&series["distribution"][figure], expected, &what);
        }
        if !cells[1].is_empty() {
            assert_eq!(series["unit"], cells[1], "{}", cells[0]);
        }
    }
}

#[test]
fn every_figure_is_the_one_that_flent_prints() {
    assert_as_flent(RRUL, include_str!("../../tests/data/rrul.stats.csv"));
    assert_as_flent(VOIP, include_str!("../../tests/data/voip.stats.csv"));
    assert_as_flent(PING, include_str!("../../tests/data/ping.stats.csv"));
    assert_as_flent(
        BIDIRECTIONAL,
        include_str!("../../tests/data/tcp_bidirectional.stats.csv"),
    );
}

#[test]
fn the_classic_figures_are_where_those_of_rrul_are() {
    let summary = imported(RRUL).run.summary;
    assert_eq!(summary["phases"]["idle"], serde_json::json!([0.0, 5.0]));
    assert_eq!(summary["phases"]["loaded"], serde_json::json!([7.0, 9.0]));
    let latency = &summary["latency_ms"];
    assert!(
        latency["idle"]["n"].as_u64().unwrap() >= 28,
        "three probes in 5 s: {latency}"
    );
    for class in ["EF", "CS0", "CS1"] {
        assert!(
            latency["by_class"][class]["loaded"]["p50"].is_f64(),
            "{class}"
        );
    }
    let throughput = &summary["throughput_mbps"];
    let classes = throughput["down_by_class"].as_object().unwrap();
    assert_eq!(
        classes.keys().collect::<Vec<_>>(),
        ["CS0", "CS1", "CS5", "EF"]
    );
    let sum: f64 = classes.values().map(|rate| rate.as_f64().unwrap()).sum();
    assert_near(&throughput["down"], sum, "the sum of the classes");
    assert_eq!(summary["loss_pct"]["loaded"], 0.0);
}

#[test]
fn run_json_tells_who_and_when() {
    let run = imported(RRUL).run;
    assert_eq!(run.test, "flent");
    assert_eq!(run.started.to_string(), "2026-11-21T11:54:05.299353Z");
    assert_eq!(run.plan["name"], "rrul");
    assert_eq!(run.plan["duration"], "4s");
    assert_eq!(run.hosts[0].name, "client");
    assert_eq!(run.path.families, [4]);
    assert_eq!(run.path.server.addresses[0].to_string(), "127.0.0.1");
    assert_eq!(run.warnings, []);
}

#[test]
fn the_record_has_every_value_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let record = import_to(RRUL, &folder.path().join("run")).unwrap();
    let streams: Vec<Stream> = record.rows().unwrap();
    assert_eq!(streams.len(), 12, "8 loads, 3 UDP and 1 ICMP");
    let samples: Vec<Sample> = record.rows().unwrap();
    assert_eq!(samples.len(), 4 * 28);
    assert!(samples.iter().all(|row| row.rtt_ns.is_some()));
    let names: Vec<SeriesName> = record.rows().unwrap();
    assert_eq!(names.len(), 18);
    let values: Vec<Value> = record.rows().unwrap();
    assert_eq!(values.iter().filter(|row| !row.raw).count(), 18 * 29);
    let series: Vec<Series> = record.rows().unwrap();
    let delivered: u64 = series.iter().filter_map(|row| row.delivered_bytes).sum();
    let streams: u64 = streams.iter().filter_map(|row| row.total_bytes).sum();
    assert_eq!(delivered, streams);
}

#[test]
fn a_file_of_nothing_is_a_run_that_failed() {
    let empty = br#"{"version": 4, "metadata": {"NAME": "ping"}, "x_values": [], "results": {}}"#;
    let run = imported(empty).run;
    assert_eq!(run.status, record::Status::Failed);
    assert_eq!(run.warnings[0].code, "start_unknown");
}

#[test]
fn huge_values_fit_or_are_left_out() {
    let text = br#"{"version": 4, "metadata": {"NAME": "x", "T0": "2026-11-21T11:54:05.299353Z", "LENGTH": 1e300, "IP_VERSION": 999},
        "x_values": [0, 1e300], "results": {"TCP upload": [1e308, 1e308], "Ping (ms) UDP": [1e300, -5]},
        "raw_values": {"Ping (ms) UDP": [{"t": -1e300, "val": 1e308, "seq": -4}, {"t": 1e300, "lost": true}]}}"#;
    let imported = imported(text);
    assert_eq!(imported.samples().count(), 0);
    assert_eq!(
        imported.run.warnings.last().unwrap().code,
        "flent_values_misplaced"
    );
    assert!(imported.series().count() <= 2);
    let folder = tempfile::tempdir().unwrap();
    imported.write(&folder.path().join("run")).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn mutilated_real_files_never_panic(at in 0_usize..100_000, with in "[0-9eE.\\-\"\\[\\]{}:,nN ]{0,4}", cut in 0_usize..3) {
        let mut text = String::new();
        flate2::read::GzDecoder::new(PING).read_to_string(&mut text).unwrap();
        let at = at % (text.len() - 8);
        text.replace_range(at..at + cut, &with);
        if let Ok(imported) = import(text.as_bytes(), &Limits::default()) {
            prop_assert!(imported.samples().count() < 100);
            prop_assert!(imported.values().count() < 200);
            let json = serde_json::to_string(&imported.run).unwrap();
            let back: Run = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(back.test, "flent");
        }
    }
}
