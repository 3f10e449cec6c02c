//! Model based metrics: in labs, and what a stranger may type.

use crate::support::{
    Machine, TempDir, attempts, folder, is_hopeless, number, rows, run, skip_as_busy, values,
};
use crate::two_hosts::Server;
use schema::mbm::tables::Arrival;
use serde_json::{Value, json};
use std::path::Path;

/// 20 Mbit/s and 20 ms; `up` has one more stage.
pub(crate) fn lab(stage: &str) -> String {
    format!(
        r#"
summary = "a small link"
client = "near"
server = "far"
hosts = ["near", "far"]
[[link]]
between = ["near", "far"]
up = [{{ kind = "rate", rate = "20Mbit", queue = {{ kind = "fifo", packets = 100 }} }}, {stage}{{ kind = "delay", delay = "10ms" }}]
down = [{{ kind = "rate", rate = "20Mbit", queue = {{ kind = "fifo", packets = 100 }} }}, {{ kind = "delay", delay = "10ms" }}]
"#
    )
}

pub(crate) fn place() -> TempDir {
    folder(&[
        ("good.toml", &lab("")),
        (
            "bad.toml",
            &lab("{ kind = \"loss\", probability = 0.05 }, "),
        ),
    ])
}

/// 1.5 Mbit/s over 60 ms: a window of 8 packets, a run length of 192.
const TARGET: [&str; 4] = ["--rate", "1500kbit", "--rtt", "60ms"];

/// Runs `isobath mbm --lab` for `target` with `more`, which must end with `status`; the record is in `out`. A run in which this machine
/// was too busy to send on time says so, and is made again; at last the test is skipped.
#[track_caller]
pub(crate) fn tested(
    place: &Path,
    lab: &str,
    target: &[&str],
    more: &[&str],
    status: i32,
    out: &str,
) -> Option<Value> {
    let common = ["mbm", "--lab", lab, "-q", "--json", "-o", out];
    for _ in attempts() {
        let ran = run(place, &[&common[..], target, more].concat());
        let found = ran.json();
        // A suite that fails is a failure, whatever its other tests came to.
        let is_late = found["status"] == "invalid"
            || verdicts(&found)
                .into_iter()
                .any(|(_, outcome)| outcome == "ERROR");
        if !is_late {
            ran.ended(status);
            return Some(found);
        }
        std::fs::remove_dir_all(place.join(out)).unwrap();
        if is_hopeless() {
            break;
        }
    }
    skip_as_busy();
    None
}

/// The same for the usual target; the record is in `r`.
#[track_caller]
pub(crate) fn in_lab(place: &Path, lab: &str, status: i32, more: &[&str]) -> Option<Value> {
    tested(place, lab, &TARGET, more, status, "r")
}

pub(crate) fn verdicts(run: &Value) -> Vec<(&str, &str)> {
    values(&run["summary"]["tests"])
        .map(|test| {
            (
                test["test"].as_str().unwrap(),
                test["verdict"]["outcome"].as_str().unwrap(),
            )
        })
        .collect()
}

/// Holds mbm/test-path-rtt, mbm/raw-data.
#[test]
fn quiet_a_good_path_passes_the_two_tests_of_the_thesis_and_its_counters_agree() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let Some(run) = in_lab(place.path(), "good.toml", 0, &[]) else {
        return;
    };
    assert_eq!(run["verdict"], "PASS");
    assert_eq!(
        verdicts(&run),
        [("paced-full-rate", "PASS"), ("sustained-burst", "PASS")]
    );
    assert!((number(&run, "/summary/window_packets") - 8.0).abs() < 0.1);
    assert!((number(&run, "/summary/run_length_packets") - 192.0).abs() < 0.1);
    let rtt = number(&run, "/summary/path_rtt_ms");
    assert!((20.0..30.0).contains(&rtt), "{rtt}");
    for test in values(&run["summary"]["tests"]) {
        // All that was sent arrived: a link without loss, with a queue of many windows.
        assert_eq!(test["loss"]["counts"]["packets"], test["packets_sent"]);
        assert_eq!(test["loss"]["counts"]["lost"], 0);
        assert_eq!(test["pattern"]["kept"], true);
        assert!(number(test, "/figures/counts/packets") >= 180.0);
    }
    let arrivals = rows::<Arrival>(&place.path().join("r"));
    assert!(arrivals.iter().any(|row| row.name == "sustained-burst"));
    for row in &arrivals {
        let ms = row.rtt_ns as f64 / 1e6;
        assert!(ms >= 20.0, "packet {} after {ms} ms", row.seq);
        assert!(row.arrived_ns > row.t_ns);
    }
    // The record says all of it again.
    let shown = crate::support::run(place.path(), &["show", "r"]);
    let card = shown.ended(0).stdout.clone();
    assert!(card.contains("PASS: as far as these tests go"), "{card}");
    assert!(card.contains("run length 192 packets (3 W^2"), "{card}");
}

#[test]
fn quiet_a_path_that_loses_too_much_fails_and_what_would_change_that_is_told() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let Some(run) = in_lab(place.path(), "bad.toml", 1, &["--test", "paced-full-rate"]) else {
        return;
    };
    assert_eq!(run["verdict"], "FAIL");
    let test = &run["summary"]["tests"][0];
    assert_eq!(test["verdict"]["reason"], "loss_high");
    assert!(number(test, "/loss/loss/observed_pct") > 1.0);
    assert!(!test["verdict"]["would_change"].as_str().unwrap().is_empty());
}

#[test]
fn quiet_the_far_end_can_send_and_the_other_direction_has_another_verdict() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let more = ["--reverse", "--test", "paced-full-rate,sender-rate-burst"];
    let Some(run) = in_lab(place.path(), "bad.toml", 0, &more) else {
        return;
    };
    assert_eq!(
        verdicts(&run),
        [("paced-full-rate", "PASS"), ("sender-rate-burst", "PASS")]
    );
    let arrivals = rows::<Arrival>(&place.path().join("r"));
    assert!(!arrivals.is_empty());
    assert!(arrivals.iter().all(|row| row.rtt_ns >= 20_000_000));
}

#[test]
fn quiet_a_path_that_is_too_slow_fails_by_its_rate() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    // So slow that a machine that stalls now and then keeps the pace.
    let slow = lab("").replace("20Mbit", "2Mbit");
    let place = folder(&[("good.toml", &slow)]);
    let target = ["--rate", "3Mbit", "--rtt", "60ms"];
    let test = ["--test", "paced-full-rate"];
    let Some(run) = tested(place.path(), "good.toml", &target, &test, 1, "r") else {
        return;
    };
    let verdict = &run["summary"]["tests"][0]["verdict"];
    assert_eq!(verdict["outcome"], "FAIL", "{verdict}");
}

/// Holds mbm/few-inconclusive.
#[test]
fn a_path_with_much_more_than_the_target_asks_for_passes_the_suite() {
    let place = place();
    // In virtual time: on real sockets the tests are made one by one, here it is their number that counts.
    let line = "sim mbm --lab lan --rate 10Mbit --rtt 20ms --suite -q --json -o r";
    let run = run(place.path(), &line.split(' ').collect::<Vec<_>>());
    let run = run.ended(0).json();
    let verdicts = verdicts(&run);
    assert!(verdicts.len() >= 10, "{verdicts:?}");
    let passed = |(_, outcome): &(&str, &str)| *outcome == "PASS";
    assert!(verdicts.iter().all(passed), "{verdicts:?}");
}

/// Holds mbm/smaller-rtt.
#[test]
fn quiet_a_path_longer_than_the_complete_one_fails_before_anything_is_sent() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let target = ["--rate", "10Mbit", "--rtt", "5ms"];
    let Some(run) = tested(place.path(), "good.toml", &target, &[], 1, "r") else {
        return;
    };
    assert_eq!(
        verdicts(&run),
        [("paced-full-rate", "FAIL"), ("sustained-burst", "FAIL")]
    );
    let test = &run["summary"]["tests"][0];
    assert_eq!(test["verdict"]["reason"], "round_trip_long");
    assert_eq!(test["packets_sent"], 0);
    assert!(test["loss"].is_null() && test["pattern"].is_null());
}

/// Holds mbm/composable.
#[test]
fn quiet_parts_of_a_path_are_composed_and_unlike_ones_refused() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let test = ["--test", "paced-full-rate", "--rule", "at-least=300"];
    // The next part of the path is a lab of its own.
    let lab = |name: &str| place.path().join(name);
    std::fs::copy(lab("good.toml"), lab("next.toml")).unwrap();
    for (name, lab, rate) in [
        ("one", "good.toml", "1500kbit"),
        ("two", "next.toml", "1500kbit"),
        ("other", "good.toml", "2Mbit"),
    ] {
        let target = ["--rate", rate, "--rtt", "60ms"];
        if tested(place.path(), lab, &target, &test, 0, name).is_none() {
            return;
        }
    }
    let whole = run(place.path(), &["mbm", "compose", "one", "two", "--json"]);
    let whole = whole.ended(0).json();
    assert_eq!(whole["verdict"]["outcome"], "PASS");
    assert!(number(&whole, "/packets") >= 300.0);
    assert_eq!(number(&whole, "/loss_pct").to_bits(), 0);
    let twice = run(place.path(), &["mbm", "compose", "one", "two", "one"]);
    assert!(twice.refused(2).contains("both are the run"), "{twice:?}");
    let unlike = run(place.path(), &["mbm", "compose", "one", "other"]);
    unlike.ended(2);
    assert!(
        unlike.stderr.contains("differ in the target rate"),
        "{unlike:?}"
    );
    for (runs, told) in [
        (["one", "two"], "\"whole\":{\"name\":\"the whole path\""),
        (["two", "other"], "differ in the target rate"),
        // The same way again is no part of it.
        (["one", "other"], "\"composed\":null"),
    ] {
        run(
            place.path(),
            &["report", runs[0], runs[1], "-o", "page.html"],
        )
        .ended(0);
        let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
        assert!(page.contains(told), "{runs:?}: {told}");
    }
}

/// Holds mbm/passive.
#[test]
fn quiet_a_transfer_within_the_envelope_is_a_test_and_a_larger_one_is_none() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    // 7 packets in 20 ms are 4 Mbit/s: the envelope of another target.
    let transfer = |window: &str, out: &str| {
        let arguments = [
            "btc",
            "--lab",
            "good.toml",
            "-q",
            "--json",
            "--segments",
            "1500",
            "--window",
            window,
            "-o",
            out,
        ];
        run(place.path(), &arguments).measured();
    };
    transfer("6", "small");
    transfer("60", "large");
    let passive = |out: &str| {
        run(
            place.path(),
            &["mbm", "passive", out, "--rate", "4Mbit", "--rtt", "20ms"],
        )
    };
    let small = passive("small");
    let told = small.ended(0).stdout.strip_prefix("PASS: 0 of ");
    let packets: Option<u32> = told.and_then(|told| told.split(' ').next()?.parse().ok());
    // A tail loss probe is one more, where an acknowledgement was late.
    assert!(
        packets.is_some_and(|packets| (1_500..1_600).contains(&packets)),
        "{small:?}"
    );
    let large = passive("large");
    assert!(
        large.ended(5).stdout.starts_with("ERROR: the load reached"),
        "{large:?}"
    );
}

#[test]
fn between_two_hosts_a_long_test_is_not_made_unasked() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let arguments = [
        "mbm",
        &server.host,
        "--key",
        &server.key,
        "-q",
        "--target",
        "backup-100M",
    ];
    let ran = run(place.path(), &arguments);
    ran.ended(2);
    assert!(
        ran.stderr.contains("this takes at least") && ran.stderr.contains("--yes"),
        "{ran:?}"
    );
    let short = [
        "mbm",
        &server.host,
        "--key",
        &server.key,
        "-q",
        "--json",
        "--rate",
        "2Mbit",
        "--rtt",
        "40ms",
        "--test",
        "windowed-full-rate,paced-full-rate",
    ];
    let ran = run(place.path(), &short).json();
    assert_eq!(ran["summary"]["tests"].as_array().unwrap().len(), 2);
    assert_eq!(ran["path"]["lab"], json!(null));
}

/// Holds mbm/background.
#[test]
fn a_monitor_keeps_a_history_and_figures_for_prometheus() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let arguments = [
        "mbm",
        &server.host,
        "--key",
        &server.key,
        "--every",
        "1s",
        "--times",
        "2",
        "--rate",
        "20Mbit",
        "--rtt",
        "5ms",
        "-o",
        "watch",
    ];
    let ran = run(place.path(), &arguments);
    assert_eq!(ran.ended(0).stdout.lines().count(), 2, "{ran:?}");
    let folder = place.path().join("watch");
    let history = std::fs::read_to_string(folder.join("history.jsonl")).unwrap();
    let lines: Vec<Value> = history
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert_eq!(line["tests"][0]["test"], "background");
        assert!(
            folder
                .join(line["record"].as_str().unwrap())
                .join("run.json")
                .exists()
        );
    }
    run(place.path(), &["report", "watch"]).ended(0);
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("\"schema\":\"isobath.report.history/1\""));
    assert!(page.contains("20 Mbit/s over 5 ms in "), "the sentence");
    let both = run(place.path(), &["report", "watch", "watch/00000"]);
    both.ended(2);
    assert!(both.stderr.contains("report it by itself"), "{both:?}");
    let metrics = std::fs::read_to_string(folder.join("metrics.prom")).unwrap();
    assert!(
        metrics.contains("isobath_mbm_loss_ratio{test=\"background\"} "),
        "{metrics}"
    );
    assert!(
        metrics.contains("# TYPE isobath_mbm_runs_total counter"),
        "{metrics}"
    );
}

#[test]
fn impossible_targets_are_refused_in_a_line_that_says_what_to_do() {
    let place = folder(&[]);
    let told = |more: &[&str]| {
        let common = ["mbm", "plan"];
        let ran = run(place.path(), &[&common[..], more].concat());
        ran.ended(2);
        assert_eq!(ran.stderr.trim_end().lines().count(), 1, "{ran:?}");
        ran.stderr.clone()
    };
    let window = told(&["--rate", "100kbit", "--rtt", "1ms"]);
    assert!(window.contains("window"), "{window}");
    let rtt = told(&["--rate", "1Mbit", "--rtt", "0ms"]);
    assert!(rtt.contains("round"), "{rtt}");
    let mtu = told(&["--rate", "1Mbit", "--rtt", "50ms", "--mtu", "60"]);
    assert!(mtu.contains("60"), "{mtu}");
    let reason = told(&["--rate", "1Mbit", "--rtt", "50ms", "--derate-burst", "0.5"]);
    assert!(reason.contains("--because"), "{reason}");
    let name = told(&["--target", "video-8k"]);
    assert!(name.contains("video-4k"), "{name}");
}
