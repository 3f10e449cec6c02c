//! Properties of paths by trains of probes: in labs whose truth is known, and what a stranger may type.

use crate::mbm::lab;
use crate::support::{
    Machine, Running, Signal, TempDir, attempts, eventually, folder, is_hopeless, isobath, number,
    rows, run, skip_as_busy,
};
use crate::two_hosts::Server;
use schema::estimate::tables::{ProbeRow, TrainRow};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use sys::clock;

fn place() -> TempDir {
    let bucket = "{ kind = \"token_bucket\", rate = \"4Mbit\", burst = \"250kB\", peak = \"100Mbit\", queue = { kind = \"fifo\", bytes = \"50kB\" } }, ";
    let busy = r#"
summary = "a link that others use to a half"
client = "near"
server = "far"
hosts = ["near", "far"]
[[link]]
between = ["near", "far"]
up = [{ kind = "rate", rate = "10Mbit", queue = { kind = "fifo", packets = 100 }, cross = { pace = "even", rates = ["5Mbit"], sizes = [500] } }, { kind = "delay", delay = "10ms" }]
down = [{ kind = "rate", rate = "10Mbit", queue = { kind = "fifo", packets = 100 } }, { kind = "delay", delay = "10ms" }]
"#;
    let shaped = lab(bucket).replace("\"20Mbit\"", "\"200Mbit\"");
    folder(&[
        ("good.toml", &lab("")),
        (
            "lossy.toml",
            &lab("{ kind = \"loss\", probability = 0.2 }, "),
        ),
        ("busy.toml", busy),
        ("shaped.toml", &shaped),
    ])
}

/// What `isobath estimate` says in a lab; the record is in `r`. Once it could be measured, `is_fit` must hold. Nothing, and the test
/// skipped, where this machine was too busy every time.
#[track_caller]
fn estimated(
    place: &Path,
    what: &[&str],
    lab: &str,
    is_fit: impl Fn(&Value) -> bool,
) -> Option<Value> {
    let mut unfit = None;
    for _ in attempts() {
        let common = ["--lab", lab, "-q", "--json", "-o", "r"];
        let found = run(place, &[&["estimate"], what, &common[..]].concat()).json();
        let is_complete = found["status"] == "complete";
        if is_complete && is_fit(&found["summary"]) {
            return Some(found);
        }
        unfit = if is_complete { Some(found) } else { unfit };
        std::fs::remove_dir_all(place.join("r")).unwrap();
        if !is_complete && is_hopeless() {
            break;
        }
    }
    if let Some(unfit) = unfit {
        panic!("not once: {unfit:#}");
    }
    skip_as_busy();
    None
}

/// A figure within a share of the truth, believed by its finder.
fn near(truth: f64, share: f64) -> impl Fn(&Value) -> bool {
    move |summary| {
        let value = summary["value"].as_f64().unwrap_or(f64::NAN);
        summary["conclusive"] == true && (value / truth - 1.0).abs() <= share
    }
}

#[test]
fn quiet_round_trips_and_delays_are_those_of_the_path() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    // 200 octets at 20 Mbit/s last 0.08 ms, twice, and each way takes 10.
    let Some(run) = estimated(
        place.path(),
        &["rtt", "-d", "2s"],
        "good.toml",
        near(20.16, 0.05),
    ) else {
        return;
    };
    let (low, high) = (number(&run, "/summary/low"), number(&run, "/summary/high"));
    assert!(low <= number(&run, "/summary/value") && low >= 20.0 && high < 30.0);
    assert_eq!(run["summary"]["unit"], "ms");
    let trains = rows::<TrainRow>(&place.path().join("r"));
    let sent = trains.iter().map(|row| u64::from(row.probes)).sum::<u64>();
    assert_eq!(run["summary"]["probes"], sent);
    assert_eq!(sent, 100, "one each 20 ms");
    assert!(trains.iter().all(|row| row.arrived <= row.probes));
    assert!(
        trains
            .iter()
            .zip(0..)
            .all(|(row, number)| row.train == number)
    );
    for row in rows::<ProbeRow>(&place.path().join("r")) {
        assert!(row.arrived_ns >= row.t_ns + 9_000_000 && (row.train as usize) < trains.len());
    }
    std::fs::remove_dir_all(place.path().join("r")).unwrap();
    // The two hosts of a lab have one clock, and both ways are equally long.
    let down = ["owd", "-d", "2s", "--reverse"];
    let _ = estimated(place.path(), &down, "good.toml", near(10.08, 0.1));
}

#[test]
fn loss_is_that_of_the_path_one_way() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let what = ["loss", "--estimator", "isochronous", "-d", "4s"];
    let holds = |summary: &Value| {
        let figure = |name: &str| summary[name].as_f64().unwrap_or(f64::NAN);
        figure("low") <= 20.0 && figure("high") >= 20.0
    };
    let Some(run) = estimated(place.path(), &what, "lossy.toml", holds) else {
        return;
    };
    // A lost probe has no row.
    let arrived = rows::<ProbeRow>(&place.path().join("r")).len() as f64;
    let lost = number(&run, "/summary/probes") - arrived;
    assert!((number(&run, "/summary/probes_lost") - lost).abs() < 0.5);
    std::fs::remove_dir_all(place.path().join("r")).unwrap();
    let back = [&what[..], &["--reverse"]].concat();
    let Some(run) = estimated(place.path(), &back, "lossy.toml", |s| {
        s["conclusive"] == true
    }) else {
        return;
    };
    assert_eq!(
        run["summary"]["value"], 0.0,
        "nothing is lost on the way back"
    );
}

#[test]
fn quiet_no_probe_is_longer_than_what_the_path_takes() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    // As fast as the slowest of machines emulates it, with time to spare.
    let narrow = crate::manager::NARROW.replace("100Mbit", "20Mbit");
    let place = folder(&[("narrow.toml", &narrow)]);
    let what = ["available", "--estimator", "yaz", "-d", "5s"];
    // Whether all its probes agree is this machine's doing.
    let Some(run) = estimated(place.path(), &what, "narrow.toml", |s| s["probes"] != 0) else {
        return;
    };
    assert_eq!(run["summary"]["path_mtu"], 1_400);
    let (sent, lost) = (
        number(&run, "/summary/probes"),
        number(&run, "/summary/probes_lost"),
    );
    assert!(lost < 0.1 * sent, "{run:#}");
    let shown = crate::support::run(place.path(), &["show", "r"]);
    let card = shown.ended(0).stdout.clone();
    assert!(card.contains("at most 1400 octets pass"), "{card}");
}

#[test]
fn quiet_available_bandwidth_and_capacity_are_told_apart() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let fast = ["available", "--estimator", "pathload-fast"];
    if estimated(place.path(), &fast, "busy.toml", near(5.0, 0.2)).is_none() {
        return;
    }
    std::fs::remove_dir_all(place.path().join("r")).unwrap();
    let Some(run) = estimated(
        place.path(),
        &["capacity", "--reverse"],
        "busy.toml",
        near(10.0, 0.1),
    ) else {
        return;
    };
    let shown = crate::support::run(place.path(), &["show", "r"]);
    let card = shown.ended(0).stdout.clone();
    assert!(
        card.contains("capacity") && card.contains("Mbit/s"),
        "{card}"
    );
    assert!(card.contains("from the far end to here"), "{card}");
    assert_eq!(run["verdict"], Value::Null);
}

/// In virtual time, where the minute of its trains takes none.
#[test]
fn a_shaper_that_lets_bursts_pass_makes_no_wrong_figure() {
    let place = place();
    let arguments = "sim estimate available --estimator pathload-fast --lab shaped.toml -q --json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let run = run(place.path(), &arguments).ended(5).json();
    let summary = &run["summary"];
    let says = summary["says"].as_str().unwrap_or_default();
    assert!(
        says.starts_with("token bucket: 0.25 MB passed"),
        "{summary}"
    );
    assert_eq!(summary["conclusive"], false);
    assert_eq!(summary["value"], Value::Null);
    assert_eq!(run["verdict"], "INCONCLUSIVE");
}

/// Holds manager/special-probes.
#[test]
fn the_bottleneck_is_the_link_whose_queue_grows() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[]);
    // cable-hops: the second link is the slow one. Routers answer rarely, so it takes its time.
    let Some(run) = estimated(place.path(), &["bottleneck"], "cable-hops", near(2.0, 0.01)) else {
        return;
    };
    assert!(run["summary"]["details"]["hops"].as_array().unwrap().len() >= 3);
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    let place = folder(&[]);
    let refused = |arguments: &[&str]| {
        let ran = run(place.path(), &[&["estimate"], arguments].concat());
        ran.refused(2).to_owned()
    };
    let error = refused(&["rtt", "127.0.0.1", "--estimator", "pathload"]);
    assert!(error.contains("use isochronous"), "{error}");
    refused(&["weight", "127.0.0.1"]);
    refused(&["rtt"]);
    refused(&["rtt", "127.0.0.1", "-d", "0s"]);
    refused(&["rtt", "127.0.0.1", "-d", "2h"]);
    refused(&["available", "127.0.0.1", "--most", "fast"]);
}

#[test]
fn a_far_end_that_vanishes_leaves_what_was_measured() {
    let _machine = Machine::without_networks();
    let place = folder(&[]);
    let server = Server::start(place.path(), &[]);
    let arguments = [
        "estimate",
        "rtt",
        &server.host,
        "--key",
        &server.key,
        "-d",
        "60s",
        "-q",
        "-o",
        "r",
    ];
    let running = Running::start(isobath(place.path(), &arguments));
    eventually("a second of probes", || {
        place.path().join("r/run.json").exists()
    });
    clock::sleep_until(clock::now() + Duration::from_millis(2_500));
    drop(server);
    let ran = running.finish();
    ran.ended(3);
    let record: Value =
        serde_json::from_slice(&std::fs::read(place.path().join("r/run.json")).unwrap()).unwrap();
    assert_eq!(record["status"], "incomplete");
    assert!(!rows::<ProbeRow>(&place.path().join("r")).is_empty());
}

#[test]
fn an_interrupted_run_keeps_its_probes() {
    let _machine = Machine::without_networks();
    let place = folder(&[]);
    let server = Server::start(place.path(), &[]);
    let arguments = [
        "estimate",
        "jitter",
        &server.host,
        "--key",
        &server.key,
        "-d",
        "60s",
        "-q",
        "-o",
        "r",
    ];
    let running = Running::start(isobath(place.path(), &arguments));
    eventually("a record", || place.path().join("r/run.json").exists());
    clock::sleep_until(clock::now() + Duration::from_millis(2_500));
    running.signal(Signal::INT);
    running.finish().ended(130);
    assert!(!rows::<TrainRow>(&place.path().join("r")).is_empty());
}
