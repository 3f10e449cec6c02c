//! iperf3's server as our far end.

use crate::support::{
    Machine, PROGRAM, SMALL_LAB, folder, in_small_lab, number, once_there, run, short_plan,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What our program says while no server is there.
const ABSENT: &str = "no iperf3 server";
const RRUL: &str = "rrul iperf3://far --plan plan.toml -q --json -o out";

/// The octets that the server says it received.
fn received(place: &Path) -> f64 {
    let told = fs::read_to_string(place.join("server.json")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    let streams = told["end"]["streams"].as_array().unwrap();
    let receivers = streams
        .iter()
        .filter(|stream| stream["receiver"]["sender"] == false);
    receivers
        .map(|stream| number(stream, "/receiver/bytes"))
        .sum()
}

#[test]
fn iperf3_s_server_takes_the_load_of_a_run_and_tells_what_arrived() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(2))]);
    let script = once_there(&format!("{PROGRAM} {RRUL}"), ABSENT);
    let ran = in_small_lab(place.path(), "iperf3 -s -1 -J > server.json", &script);
    // A machine that is too busy (4) changes no counts.
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let run = ran.json();
    let summary = &run["summary"];
    assert_eq!(run["plan"]["far_end"], "iperf3://far");
    assert_eq!(summary["latency_ms"]["of"], "icmp_rr");
    assert!(
        number(summary, "/latency_ms/idle/min") > 10.0,
        "{summary:#}"
    );
    assert!(
        number(summary, "/latency_ms/loaded/n") > 10.0,
        "{summary:#}"
    );
    for way in ["down", "up"] {
        let mbps = number(summary, &format!("/throughput_mbps/{way}"));
        assert!((0.1..8.0).contains(&mbps), "{way}: {summary:#}");
    }
    // What the server tells is what it says elsewhere.
    let up = number(summary, "/transferred_bytes/up");
    assert!((up - received(place.path())).abs() < 0.5, "{summary:#}");
    assert!(summary["tcp_rr_ms"]["idle"].is_null());
    let warnings = run["warnings"].as_array().unwrap();
    let told = warnings.iter().any(|w| w["code"] == "foreign_far_end");
    assert!(told, "{warnings:#?}");
}

#[test]
fn where_no_icmp_may_be_sent_round_trips_are_attempts_to_connect() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let plan = short_plan(2).replace("both", "down");
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &plan)]);
    // Neither by right nor by the system's leave.
    let script = once_there(
        &format!("setpriv --bounding-set -net_raw {PROGRAM} {RRUL}"),
        ABSENT,
    );
    let script = format!("echo 1 0 > /proc/sys/net/ipv4/ping_group_range; {script}");
    let ran = in_small_lab(place.path(), "iperf3 -s -1 > /dev/null", &script);
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let summary = &ran.json()["summary"];
    assert_eq!(summary["latency_ms"]["of"], "tcp_connect");
    let rtt = number(summary, "/latency_ms/idle/min");
    assert!((10.0..20.0).contains(&rtt), "{summary:#}");
    assert!(summary["throughput_mbps"]["up"].is_null(), "{summary:#}");
}

#[test]
fn a_server_that_is_busy_is_not_measured_and_says_so() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(2))]);
    let script = format!(
        "until iperf3 -c far -t 60 --forceflush >client 2>client-errors; do sleep 0.1; done & \
         until grep -q sec client; do sleep 0.1; done; exec {PROGRAM} {RRUL}"
    );
    let ran = in_small_lab(place.path(), "iperf3 -s > server.log 2>&1", &script);
    assert_eq!(ran.code(), Some(3), "{ran:#?}");
    let last = ran.stderr.lines().last().unwrap();
    assert!(last.contains("the server is busy running a test"), "{last}");
    assert!(!place.path().join("out").exists());
}

#[test]
fn what_iperf3_cannot_do_is_refused_before_anything_is_sent() {
    let place = folder(&[]);
    let refused = |arguments: &[&str], code| {
        let ran = run(place.path(), &[&["rrul"], arguments].concat());
        ran.refused(code).to_owned()
    };
    let far_end = "iperf3://127.0.0.1:9";
    assert!(refused(&[far_end, "--plan", "rrul_50_up"], 2).contains("as many each way"));
    assert!(refused(&["icmp://127.0.0.1"], 2).contains("takes no load"));
    assert!(refused(&[far_end], 3).contains("no iperf3 server"));
    let estimate = run(place.path(), &["estimate", "rtt", far_end]);
    assert!(estimate.refused(2).contains("isobath rrul"));
}
