//! Model based metrics when something is in the way: paths that misbehave, senders that are too slow, far ends that vanish.

use crate::mbm::{lab, tested, verdicts};
use crate::support::{Machine, Running, Signal, entries, eventually, folder, isobath, number, run};
use crate::two_hosts::Server;
use serde_json::Value;

/// 4 Mbit/s over 40 ms: a window of 14 packets, 3.6 ms from packet to packet.
const TARGET: [&str; 4] = ["--rate", "4Mbit", "--rtt", "40ms"];

#[test]
fn quiet_a_policer_fails_bursts_that_its_bucket_does_not_hold_and_passes_the_pace() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    // 5 Mbit/s with a bucket of 6 packets: enough for the rate, not for a window at once.
    let policer = "{ kind = \"token_bucket\", rate = \"5Mbit\", burst = \"9kB\", queue = { kind = \"fifo\", packets = 1 } }, ";
    let place = folder(&[("policer.toml", &lab(policer))]);
    let more = ["--test", "paced-full-rate,sustained-burst"];
    let Some(found) = tested(place.path(), "policer.toml", &TARGET, &more, 1, "r") else {
        return;
    };
    assert_eq!(
        verdicts(&found),
        [("paced-full-rate", "PASS"), ("sustained-burst", "FAIL")]
    );
    let reason = &found["summary"]["tests"][1]["verdict"]["reason"];
    // Most of each burst is dropped: less than 0.9 of the rate arrives.
    assert_eq!(reason, "rate_low");
}

/// Holds mbm/reordering-measured, mbm/reordering-tolerated.
#[test]
fn quiet_packets_that_overtake_each_other_within_a_round_trip_are_no_losses() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    // A tenth of all packets is 12 ms later than the others: three places back.
    let late = "{ kind = \"reorder\", probability = 0.1, delay = \"12ms\" }, ";
    let place = folder(&[("reorders.toml", &lab(late))]);
    let more = ["--test", "paced-full-rate"];
    let Some(found) = tested(place.path(), "reorders.toml", &TARGET, &more, 0, "r") else {
        return;
    };
    let loss = &found["summary"]["tests"][0]["loss"];
    assert_eq!(loss["counts"]["lost"], 0, "{loss}");
    assert!(number(loss, "/reordering/reordered") > 10.0, "{loss}");
}

#[test]
fn quiet_a_sender_that_cannot_keep_its_pattern_is_an_error_and_no_fault_of_the_path() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[]);
    let target = [
        "--rate",
        "900Mbit",
        "--rtt",
        "10ms",
        "--test",
        "paced-full-rate",
    ];
    let common = ["mbm", "--lab", "weak-client", "-q", "--json", "-o", "r"];
    let ran = run(place.path(), &[&common[..], &target].concat());
    let found = ran.json();
    assert_eq!(found["verdict"], "ERROR", "{:#}", found["summary"]["tests"]);
    let verdict = &found["summary"]["tests"][0]["verdict"];
    assert_eq!(verdict["outcome"], "ERROR", "{verdict}");
    assert!(
        verdict["says"].as_str().unwrap().contains("sender"),
        "{verdict}"
    );
}

/// Holds mbm/undecided, mbm/evidence.
#[test]
fn quiet_when_time_runs_out_the_test_says_how_far_it_got() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[("good.toml", &lab(""))]);
    let more = [
        "--test",
        "paced-full-rate",
        "--timeout",
        "4s",
        "--rule",
        "fixed=5000",
    ];
    let Some(found) = tested(place.path(), "good.toml", &TARGET, &more, 5, "r") else {
        return;
    };
    assert_eq!(found["verdict"], "INCONCLUSIVE");
    let verdict = &found["summary"]["tests"][0]["verdict"];
    assert_eq!(verdict["reason"], "timeout");
    assert!(
        verdict["says"].as_str().unwrap().contains(" packets"),
        "{verdict}"
    );
    assert!(number(&found, "/summary/tests/0/figures/counts/packets") > 50.0);
}

/// Holds mbm/evidence.
#[test]
fn a_suite_whose_far_end_vanishes_keeps_what_it_has_and_does_not_pass() {
    let _machine = Machine::without_networks();
    let place = folder(&[]);
    let server = Server::start(place.path(), &["--ephemeral"]);
    let arguments = [
        "mbm",
        &server.host,
        "--key",
        &server.key,
        "-q",
        "--json",
        "-o",
        "r",
        "--rate",
        "2Mbit",
        "--rtt",
        "40ms",
        "--test",
        "windowed-full-rate,background",
        "--timeout",
        "30s",
    ];
    let running = Running::start(isobath(place.path(), &arguments));
    let record = place.path().join("r");
    // What the first test found is written when it is over; the second takes ten times as long.
    eventually("the first test is over", || {
        record.exists()
            && entries(&record)
                .iter()
                .any(|name| name.starts_with("arrivals"))
    });
    server.running.signal(Signal::KILL);
    let ran = running.finish();
    let found: Value = ran.ended(3).json();
    assert_eq!(
        (&found["status"], &found["verdict"]),
        (&"incomplete".into(), &"INCONCLUSIVE".into())
    );
    assert_eq!(verdicts(&found), [("windowed-full-rate", "PASS")]);
    assert!(found["warnings"].to_string().contains("server_lost"));
}

/// Holds mbm/smaller-mtu.
#[test]
fn a_path_that_does_not_take_the_target_s_packets_is_said_to_be_one() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("narrow.toml", crate::manager::NARROW)]);
    let target = [
        "mbm", "--rate", "1500kbit", "--rtt", "60ms", "-q", "-o", "r",
    ];
    let ran = run(
        place.path(),
        &[&target[..], &["--lab", "narrow.toml"]].concat(),
    );
    let card = ran.ended(3).stdout.clone();
    assert!(card.contains("use --mtu 1400"), "{card}");
}
