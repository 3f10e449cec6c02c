//! What a run measures in a lab, against what the lab itself knows.

use crate::support::{
    Machine, Ran, SMALL_LAB, entries, folder, number, rows, run, short_plan, values,
};
use schema::tables::{Counters, Sample, Stream};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Four streams each way in four classes, as RRUL has them, with short shoulders: 6 seconds in all.
const RRUL: &str = r#"
summary = "RRUL, shorter"
idle_before = "1s"
duration = "4s"
settle = "1s"
idle_after = "1s"
load = [
    { direction = "both", class = "CS1" },
    { direction = "both", class = "CS0", start = "100ms" },
    { direction = "both", class = "CS5", start = "200ms" },
    { direction = "both", class = "EF", start = "300ms" },
]
probe = [
    { kind = "udp_rr", class = "EF" },
    { kind = "udp_rr", class = "CS0" },
    { kind = "udp_rr", class = "CS1" },
    { kind = "tcp_rr", class = "CS0" },
]
"#;
const TABLES: [&str; 6] = ["counters", "cpu", "queue", "samples", "series", "streams"];

/// The two measured against each other, by one test, so that both meet the same machine.
///
/// Holds rrul/slew, rrul/realtime, rrul/transferred.
#[test]
fn quiet_a_dsl_line_adds_its_queues_to_a_round_trip_and_fq_codel_does_not() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let folder = folder(&[("rrul.toml", RRUL)]);
    let measure = |lab: &str| -> Ran {
        let common = [
            "rrul",
            "--lab",
            lab,
            "--plan",
            "rrul.toml",
            "--json",
            "-o",
            lab,
        ];
        run(folder.path(), &common)
    };
    let (fifo, fair) = (
        measure("dsl").measured(),
        measure("dsl-fq_codel").measured(),
    );
    for run in [&fifo, &fair] {
        has_promised_form(run);
        stays_within_the_links(run);
        assert!(
            number(run, "/summary/latency_ms/idle/p50") >= 24.0,
            "{run:#}"
        );
        assert!(
            number(run, "/summary/tcp_rr_ms/idle/p50") >= 24.0,
            "{run:#}"
        );
    }
    for lab in ["dsl", "dsl-fq_codel"] {
        let record = folder.path().join(lab);
        is_finished_record(&record);
        counts_no_more_than_the_rates(&record, &HashMap::from([("up", 5e6), ("down", 20e6)]));
        keeps_its_promises_by_row(&record);
    }
    let added = |run: &Value| {
        number(run, "/summary/latency_ms/loaded/p50") - number(run, "/summary/latency_ms/idle/p50")
    };
    let queues: f64 = values(&fifo["summary"]["lab"])
        .filter(|link| !link["queue_ms"].is_null())
        .map(|link| number(link, "/queue_ms/p50"))
        .sum();
    let error = (added(&fifo) - queues).abs();
    assert!(
        error <= queues * 0.25 + 10.0,
        "{:.1} ms were added, the queues were {queues:.1} ms",
        added(&fifo)
    );
    assert!(
        added(&fifo) > 60.0,
        "a full queue is no secret: {:.1} ms",
        added(&fifo)
    );
    assert!(
        added(&fair) < added(&fifo) / 2.0,
        "fq_codel added {:.1} ms, fifo {:.1} ms",
        added(&fair),
        added(&fifo)
    );
}

/// `--json` as the schema and the list of keys promise it.
fn has_promised_form(run: &Value) {
    matches_schema(run, "run.schema.json");
    matches_schema(&run["summary"], "rrul.summary.schema.json");
    assert_eq!(run["schema"], "isobath.run/1");
    assert_eq!(run["test"], "rrul");
    assert!(
        run["verdict"].is_null(),
        "a run of RRUL answers no question"
    );
    let summary = &run["summary"];
    let distributions = [
        "/latency_ms/idle",
        "/latency_ms/loaded",
        "/latency_ms/by_class/EF/idle",
        "/latency_ms/by_class/CS0/loaded",
        "/latency_ms/by_class/CS1/loaded",
        "/tcp_rr_ms/idle",
        "/tcp_rr_ms/loaded",
        "/slew_ms",
    ];
    for pointer in distributions {
        let keys = ["n", "min", "mean", "p50", "p90", "p95", "p99", "max"];
        let figures = keys.map(|key| number(summary, &format!("{pointer}/{key}")));
        let ordered = [1, 3, 4, 5, 6, 7].map(|index| figures[index]);
        assert!(ordered.is_sorted(), "{pointer}: {figures:?}");
    }
    for rate in ["down", "up", "sum", "ack_down", "ack_up"] {
        assert!(
            number(summary, &format!("/throughput_mbps/{rate}")) > 0.0,
            "{summary:#}"
        );
    }
    for share in ["/loss_pct/idle", "/loss_pct/loaded"] {
        assert!(
            (0.0..=100.0).contains(&number(summary, share)),
            "{summary:#}"
        );
    }
    for index in ["/fairness/down", "/fairness/up"] {
        assert!(
            (0.25..=1.0).contains(&number(summary, index)),
            "of four: {summary:#}"
        );
    }
    for class in ["EF", "CS0", "CS1"] {
        for direction in ["up", "down"] {
            let arrived = summary["dscp"][class][direction].as_object().unwrap();
            assert_eq!(
                arrived.keys().collect::<Vec<_>>(),
                [class],
                "nothing rewrites it"
            );
        }
    }
    let roles: Vec<_> = values(&run["hosts"]).map(|host| &host["role"]).collect();
    assert_eq!(roles, ["client", "server"]);
}

#[track_caller]
fn matches_schema(instance: &Value, schema: &str) {
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let schema = std::fs::read_to_string(schemas.join(schema)).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let complaints = validator.iter_errors(instance);
    let complaints: Vec<_> = complaints.map(|error| error.to_string()).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// No figure is above what the links can carry.
fn stays_within_the_links(run: &Value) {
    let seconds = 6.0;
    for (direction, rate) in [("down", 20.0), ("up", 5.0)] {
        // One bin of the sampler may lie across the edge of the loaded time.
        let measured = number(run, &format!("/summary/throughput_mbps/{direction}"));
        assert!(measured <= rate * 1.05, "{direction}: {measured} Mbit/s");
        let bytes = number(run, &format!("/summary/transferred_bytes/{direction}"));
        assert!(
            bytes > 0.0 && bytes <= rate * seconds * 1e6 / 8.0,
            "{direction}: {bytes} bytes"
        );
    }
    for link in values(&run["summary"]["lab"]).filter(|link| !link["rate_mbps"].is_null()) {
        let [carried, rate] = ["/carried_mbps", "/rate_mbps"].map(|key| number(link, key));
        assert!(carried <= rate * 1.01, "{link:#}");
    }
}

/// All tables, for good, and nothing else.
fn is_finished_record(record: &Path) {
    let mut expected: Vec<_> = TABLES.map(|table| format!("{table}.parquet")).into();
    expected.push("run.json".to_owned());
    expected.sort();
    assert_eq!(entries(record), expected);
}

/// In no interval does a link carry more than its rate and one packet: the queue of a fluid server with that rate,
/// fed with what the link sent, never holds more than what is in one bin and one packet.
fn counts_no_more_than_the_rates(record: &Path, rates: &HashMap<&str, f64>) {
    let mut bins: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for row in rows::<Counters>(record)
        .into_iter()
        .filter(|row| row.link == "home-dslam")
    {
        bins.entry(row.direction.into_owned())
            .or_default()
            .push((row.t_ns, row.bytes));
    }
    assert_eq!(bins.keys().collect::<Vec<_>>(), ["down", "up"]);
    for (direction, mut bins) in bins {
        bins.sort_unstable();
        let per_ns = rates[direction.as_str()] / 8e9;
        let most = 1_500.0 + per_ns * 100_000.0;
        let (mut level, mut last) = (0.0_f64, 0);
        for (t_ns, bytes) in bins {
            level = (level - per_ns * (t_ns - last) as f64).max(0.0) + bytes as f64;
            assert!(
                level <= most + 1.0,
                "{direction} at {t_ns} ns: {level:.0} > {most:.0} bytes"
            );
            last = t_ns;
        }
    }
}

/// What every single sample and stream must be.
fn keeps_its_promises_by_row(record: &Path) {
    let streams = rows::<Stream>(record);
    assert_eq!(streams.len(), 8 + 4);
    for stream in streams.iter().filter(|stream| stream.kind == "tcp_load") {
        assert_eq!(
            stream.congestion_control.as_deref(),
            Some("cubic"),
            "{stream:?}"
        );
        assert!(
            stream.slew_ms.is_some_and(|slew| slew >= 24.0),
            "{stream:?}"
        );
        assert!(
            stream.total_bytes.is_some_and(|bytes| bytes > 0),
            "{stream:?}"
        );
        assert!(stream.first_byte_ns >= stream.connected_ns, "{stream:?}");
    }
    let samples = rows::<Sample>(record);
    assert!(samples.len() > 200, "{} samples", samples.len());
    for sample in &samples {
        assert_eq!(sample.lost, sample.rtt_ns.is_none(), "{sample:?}");
        assert!(
            sample.rtt_ns.is_none_or(|rtt| rtt >= 24_000_000),
            "faster than light: {sample:?}"
        );
    }
}

/// Nothing but load, so that all marks of the lab are on it.
///
/// Holds rrul/mark-ecn.
#[test]
fn a_load_with_ecn_counts_the_marks_that_the_lab_gave() {
    const LOAD: &str = r#"
summary = "a load that can be marked"
idle_before = "500ms"
duration = "4s"
settle = "1s"
idle_after = "1s"
tcp_ecn = "on"
load = [{ direction = "both", streams = 2 }]
"#;
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("load.toml", LOAD)]);
    let measure = [
        "rrul",
        "--lab",
        "dsl-ecn",
        "--plan",
        "load.toml",
        "--json",
        "-o",
    ];
    let run = |more: &[&str]| run(place.path(), &[&measure[..], more].concat()).measured();
    let with = run(&["with"]);
    for direction in ["down", "up"] {
        let marks = &with["summary"]["ecn"]["tcp"][direction];
        assert_eq!(
            (&marks["streams"], &marks["agreed"]),
            (&2.into(), &2.into())
        );
        let mut links = values(&with["summary"]["lab"]);
        let link = links.find(|l| l["link"] == "home-dslam" && l["direction"] == direction);
        let given = number(link.unwrap(), "/marked");
        assert!(given > 0.0, "{direction}: {marks:#}");
        // The echo of a mark goes on until it is answered.
        assert!(number(marks, "/echoed_segments") >= given, "{marks:#}");
        // Kernels before 6.18 do not count what arrives.
        if let Some(counted) = marks["ce_segments"].as_f64() {
            assert!(
                (counted - given).abs() < 0.5,
                "{given} given, {counted} counted"
            );
        }
    }
    let without = run(&["without", "--ecn", "off", "--duration", "2"]);
    let marks = &without["summary"]["ecn"]["tcp"]["down"];
    assert_eq!(
        (&marks["streams"], &marks["agreed"]),
        (&2.into(), &0.into())
    );
}

#[test]
fn version_class_and_congestion_control_are_those_asked_for() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let folder = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(2))]);
    let common = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "--json",
        "-o",
        "run",
    ];
    let wishes = [
        "-6",
        "--dscp",
        "CS1",
        "--cc",
        "reno",
        "--seed",
        "7",
        "--note",
        "by the sea",
    ];
    let run = run(folder.path(), &[&common[..], &wishes].concat()).measured();
    assert_eq!(run["path"]["families"], serde_json::json!([6]));
    assert_eq!(
        run["path"]["server"]["addresses"],
        serde_json::json!(["fd77::2"])
    );
    assert_eq!(run["plan"]["seed"], 7);
    assert_eq!(run["plan"]["cc"], "reno");
    assert_eq!(run["plan"]["note"], "by the sea");
    let streams = rows::<Stream>(&folder.path().join("run"));
    for stream in &streams {
        assert_eq!((&*stream.class, stream.family), ("CS1", 6), "{stream:?}");
        let expected = (stream.kind == "tcp_load").then_some("reno");
        if stream.kind != "tcp_rr" {
            assert_eq!(stream.congestion_control.as_deref(), expected, "{stream:?}");
        }
    }
    let classes: Vec<_> = run["summary"]["dscp"].as_object().unwrap().keys().collect();
    assert_eq!(classes, ["CS1"]);
    assert_eq!(
        run["summary"]["dscp"]["CS1"]["up"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["CS1"]
    );
}

/// Holds rrul/simplest-example.
#[test]
fn every_built_in_plan_runs() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let folder = folder(&[("small.toml", SMALL_LAB)]);
    let plans = [
        "rrul",
        "rrul_be",
        "tcp_upload",
        "tcp_download",
        "tcp_bidirectional",
        "simple",
        "ping",
    ];
    // They wait most of the time, so they run at once.
    let ended: Vec<_> = std::thread::scope(|scope| {
        let runs = plans.map(|plan| {
            let path = folder.path();
            let out = ["-o", plan, "--json", "--duration", "3"];
            let arguments = [&["rrul", "--lab", "small.toml", "--plan", plan], &out[..]].concat();
            scope.spawn(move || (plan, run(path, &arguments)))
        });
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for (plan, ran) in ended {
        let run = ran.measured();
        assert_eq!(run["plan"]["name"], plan);
        assert!(
            number(&run, "/summary/latency_ms/idle/p50") >= 10.0,
            "{plan}: {run:#}"
        );
        let loaded = ["down", "up"].map(|way| !run["summary"]["throughput_mbps"][way].is_null());
        let expected = match plan {
            "ping" => [false, false],
            "tcp_upload" => [false, true],
            "tcp_download" => [true, false],
            _ => [true, true],
        };
        assert_eq!(loaded, expected, "{plan}: {run:#}");
    }
}

/// Holds rrul/no-bandwidth.
#[test]
fn without_json_a_scorecard_of_at_most_25_lines_names_the_record() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let folder = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(1))]);
    let ran = run(
        folder.path(),
        &["rrul", "--lab", "small.toml", "--plan", "plan.toml"],
    );
    assert!([Some(0), Some(4)].contains(&ran.code()), "{ran:#?}");
    assert_eq!(ran.stderr, "", "no progress bar where nobody looks");
    assert!(ran.stdout.lines().count() <= 25, "{}", ran.stdout);
    let record = ran
        .stdout
        .lines()
        .last()
        .unwrap()
        .strip_prefix("record")
        .unwrap()
        .trim();
    assert!(
        record.starts_with("isobath-runs/") && record.ends_with("-rrul-small.toml"),
        "{record}"
    );
    is_finished_record(&folder.path().join(record));
}

#[test]
fn a_load_of_a_rate_sends_no_more_and_builds_no_queue() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let plan = short_plan(3).replace(
        "direction = \"both\"",
        "direction = \"both\"\nrate = \"2Mbit\"",
    );
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &plan)]);
    let lab = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "-q",
        "--json",
        "-o",
        "out",
    ];
    let ran = run(place.path(), &lab);
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let summary = &ran.json()["summary"];
    for way in ["down", "up"] {
        let mbps = number(summary, &format!("/throughput_mbps/{way}"));
        assert!((1.0..2.1).contains(&mbps), "{way}: {summary:#}");
    }
    // 10 ms, and 30 more behind a full queue.
    let loaded = number(summary, "/latency_ms/loaded/p50");
    assert!((10.0..25.0).contains(&loaded), "{summary:#}");
}
