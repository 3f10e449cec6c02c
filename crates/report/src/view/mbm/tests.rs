//! Records of other versions, of killed runs, and of whole ones.

use super::*;
use crate::made::{mbm_figures, mbm_plan, mbm_summary, mbm_test};
use record::RecordWriter;
use schema::mbm::tables::Arrival;
use serde_json::json;

fn run(summary: Value) -> Run {
    let plan = mbm_plan(json!({"name": "video-hd", "target": {"rate": "5Mbit", "rtt": "50ms"}}));
    let mut run = Run::new("mbm", "2026-11-21T07:29:11Z".parse().unwrap(), plan);
    if summary.is_object() {
        run.summary = mbm_summary(summary);
    }
    run
}

fn arrival(seq: u64, t_us: u64, way_us: u64) -> Arrival {
    Arrival {
        name: "sustained-burst".into(),
        seq,
        t_ns: (1_000_000 + t_us) * 1_000,
        arrived_ns: (1_000_000 + t_us + way_us) * 1_000,
        ce: seq == 3,
        ..Arrival::default()
    }
}

fn view(run: &Run, rows: &[Arrival]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RecordWriter::create(dir.path(), run).unwrap();
    writer.append(rows).unwrap();
    writer.flush().unwrap();
    let record = Record::open(dir.path()).unwrap();
    serde_json::to_value(read(&record, run).unwrap().unwrap()).unwrap()
}

#[test]
fn bursts_are_told_by_how_they_leave_and_arrive() {
    let summary = json!({"p0": 0.0027, "tests": [mbm_test(json!({
        "test": "sustained-burst",
        "pattern": {"burst_packets": 3, "headway_ns": 50_000_000, "bursts": 2, "late": 0, "smeared": 0,
                    "lateness_allowed_ns": 1_000_000, "lateness_max_ns": 0, "kept": true},
    }))]});
    let rows = [
        arrival(1, 10, 2_000),
        arrival(0, 0, 1_000),
        arrival(2, 20, 3_000),
        // Of the second burst the last packet is lost, of the third two of three.
        arrival(3, 50_000, 1_000),
        arrival(4, 50_010, 2_000),
        arrival(6, 100_000, 1_000),
    ];
    let seen = view(&run(summary), &rows);
    let test = &seen["tests"][0];
    let arrivals = &test["arrivals"];
    assert_eq!(arrivals["seq"], json!([0, 1, 1, 1, 1, 2]));
    assert_eq!(arrivals["t_us"], json!([0, 10, 10, 49_980, 10, 49_990]));
    assert_eq!(
        arrivals["way_us"],
        json!([1_000, 2_000, 3_000, 1_000, 2_000, 1_000])
    );
    assert_eq!(arrivals["marked"], json!([3]));
    assert_eq!(
        arrivals["bursts"],
        json!({"t_s": [0.0, 0.05], "left_ms": [0.02, 0.01], "arrived_ms": [2.02, 1.01], "n": 2})
    );
    assert_eq!(test["pattern"]["headway_ms"], 50.0);
    assert_eq!(
        seen["asked"]["link_mbps"], 5.2228,
        "with the usual overhead"
    );
    assert_eq!(seen["asked"]["good_pct"], 0.27);
}

#[test]
fn what_a_test_does_not_have_is_null_and_the_rest_is_there() {
    let points = json!([{"n": 10, "m": 0}, {"n": 90, "m": 7}]);
    let test = mbm_test(json!({
        "figures": mbm_figures(json!({"walk": {"points": points}})),
        "loss": {"counts": {"packets": 90, "lost": 7, "ce": 0}, "loss": null, "runs": null, "duplicates": 0, "late": 0},
    }));
    let seen = view(&run(json!({"tests": [test]})), &[]);
    let test = &seen["tests"][0];
    assert_eq!(test["walk"]["packets"], json!([10, 90]));
    assert_eq!(test["walk"]["lines"]["above"], 2.08);
    assert_eq!(test["counts"], json!({"packets": 90, "lost": 7, "ce": 0}));
    let missing = [&test["share"], &test["runs"], &test["scan"]];
    assert_eq!(missing, [&Value::Null; 3]);
    assert_eq!(test["rounds"], json!([]));
}

#[test]
fn a_summary_of_another_version_is_left_out() {
    let mut run = run(json!({"tests": [mbm_test(json!({}))]}));
    run.summary["lines"] = json!("none");
    let seen = view(&run, &[]);
    assert_eq!(
        (&seen["tests"], &seen["asked"]["good_pct"]),
        (&json!([]), &Value::Null)
    );
    assert_eq!(seen["asked"]["name"], "video-hd");
}

#[test]
fn lines_that_cannot_be_drawn_are_null() {
    let points = json!([{"n": 10, "m": 0}]);
    let test = mbm_test(json!({"figures": mbm_figures(json!({"walk": {"points": points}}))}));
    let lines = json!({"marks_per_packet": 0.0});
    let seen = view(&run(json!({"lines": lines, "tests": [test]})), &[]);
    let walk = &seen["tests"][0]["walk"];
    assert_eq!(
        (&walk["packets"], &walk["lines"]),
        (&json!([10]), &Value::Null)
    );
}

#[test]
fn a_killed_run_has_the_tests_that_its_rows_tell_of() {
    let rows = [Arrival {
        test: 2,
        ..arrival(0, 0, 1_000)
    }];
    let seen = view(&run(Value::Null), &rows);
    let [test] = seen["tests"].as_array().unwrap().as_slice() else {
        panic!("{seen}");
    };
    assert_eq!(test["test"], "sustained-burst");
    assert_eq!(
        (&test["outcome"], &test["arrivals"]["n"]),
        (&Value::Null, &json!(1))
    );
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

#[test]
fn streams_side_by_side_have_names_and_packets_of_their_own() {
    let stream = |number: u64| mbm_test(json!({"test": "sustained-burst", "stream": number}));
    let row = |test: u16, seq| Arrival {
        test,
        ..arrival(seq, 10 * seq, 1_000)
    };
    let rows = [row(0, 0), row(1, 0), row(1, 1)];
    let seen = view(&run(json!({"tests": [stream(1), stream(2)]})), &rows);
    assert_eq!(seen["tests"][0]["test"], "sustained-burst, stream 1");
    assert_eq!(seen["tests"][1]["test"], "sustained-burst, stream 2");
    assert_eq!(seen["tests"][0]["arrivals"]["seq"], json!([0]));
    assert_eq!(seen["tests"][1]["arrivals"]["seq"], json!([0, 1]));
}
