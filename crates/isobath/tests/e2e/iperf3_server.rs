//! Our server for other people's `iperf3 -c`.

use crate::support::{Machine, PROGRAM, SMALL_LAB, TempDir, folder, number, run};
use serde_json::Value;
use std::fs;

const SERVER: &str = "far=exec isobath serve --also iperf3 --ephemeral --json > /dev/null 2> log";

/// The small lab, with every eighth packet lost on the way to the server while datagrams come. iperf3's client says once that a stream of datagrams
/// begins, and waits half a minute where that is lost: before them and after them nothing is.
fn losing() -> String {
    let begins = "up = [";
    let packets: Vec<_> = (150..=520).step_by(8).collect();
    let loses = format!("{begins}{{ kind = \"drop\", packets = {packets:?} }}, ");
    SMALL_LAB.replace(begins, &loses)
}

/// Runs `clients` in a lab, where our server runs on the far host, as soon as it listens.
fn with_server(lab: &str, clients: &str) -> TempDir {
    let place = folder(&[("small.toml", SMALL_LAB), ("up.toml", &losing())]);
    let server = SERVER.replace("isobath", PROGRAM);
    let script =
        format!("until iperf3 -c far -n 1K >/dev/null 2>&1; do sleep 0.1; done; set -e; {clients}");
    let ran = run(
        place.path(),
        &[
            "lab", "run", lab, "--also", &server, "--", "sh", "-c", &script,
        ],
    );
    for name in fs::read_dir(place.path()).unwrap() {
        let path = name.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let told = fs::read_to_string(&path).unwrap();
            assert!(!told.contains("\"error\""), "{}: {told}", path.display());
        }
    }
    ran.ended(0);
    place
}

fn told(place: &TempDir, name: &str) -> Value {
    let told = fs::read_to_string(place.path().join(name)).unwrap();
    serde_json::from_str(&told).unwrap()
}

/// What went, by the client's report: octets sent, octets received by the other end, and the rate of those in Mbit/s.
fn sums(told: &Value, of: &str) -> [f64; 3] {
    let sum = |which: &str, what: &str| number(told, &format!("/end/sum_{which}{of}/{what}"));
    [
        sum("sent", "bytes"),
        sum("received", "bytes"),
        sum("received", "bits_per_second") / 1e6,
    ]
}

#[test]
fn iperf3_s_client_has_tests_by_tcp_of_all_kinds() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = with_server(
        "small.toml",
        "iperf3 -c far -t 2 -P 2 -J > up.json; iperf3 -c far -t 2 -O 1 -R -J > down.json; iperf3 -c far -t 2 --bidir -J > both.json; \
         iperf3 -c far -R -n 300K -J > few.json; iperf3 -c far -t 2 -R -b 1M -J > slow.json",
    );
    for (name, of, under_way) in [
        ("up.json", "", 0.0),
        // What is under way when the omitted time ends counts for the receiver only.
        ("down.json", "", 200_000.0),
        ("both.json", "", 0.0),
        ("both.json", "_bidir_reverse", 0.0),
    ] {
        let told = told(&place, name);
        let [sent, received, mbps] = sums(&told, of);
        assert!(received > 100_000.0, "{name}: {told:#}");
        assert!(
            sent + under_way >= received,
            "{name}: {sent} sent, {received} received"
        );
        // What waits in the link's queue goes beyond its rate by no more than that.
        assert!(mbps < 10.0, "{name}: {mbps} Mbit/s");
    }
    let two = told(&place, "up.json");
    assert_eq!(two["end"]["streams"].as_array().unwrap().len(), 2);
    let [_, received, _] = sums(&told(&place, "few.json"), "");
    assert!(received >= 300_000.0, "{received}");
    let slow = told(&place, "slow.json");
    let [_, _, mbps] = sums(&slow, "");
    assert!((0.3..1.6).contains(&mbps), "{slow:#}");
}

#[test]
fn iperf3_s_client_is_told_of_losses_and_jitter_of_datagrams() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = with_server(
        "up.toml",
        "iperf3 -c far -u -b 2M -t 3 -J > up.json; iperf3 -c far -u -R -b 2M -t 3 -P 2 -J > down.json",
    );
    let up = told(&place, "up.json");
    let sum = |told: &Value, what: &str| number(told, &format!("/end/sum/{what}"));
    // Of 518 datagrams 47 are lost, and one less for each of the control connection's few packets that was.
    assert!((40.0..=47.0).contains(&sum(&up, "lost_packets")), "{up:#}");
    assert!(sum(&up, "jitter_ms") > 0.0, "{up:#}");
    let down = told(&place, "down.json");
    assert!(sum(&down, "lost_percent") < 0.5, "{down:#}");
    assert!(sum(&down, "packets") > 500.0, "{down:#}");
    assert_eq!(down["end"]["streams"].as_array().unwrap().len(), 2);
}

/// iperf3's own server refuses the second of two.
#[test]
fn two_clients_of_iperf3_have_their_tests_at_once() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = with_server(
        "small.toml",
        "iperf3 -c far -t 8 --forceflush > first & first=$!; until grep -q sec first; do sleep 0.1; done; iperf3 -c far -t 1 -J > second.json; \
         kill -0 $first; iperf3 -c far -u -t 1 -J > third.json & iperf3 -c far -u -t 1 -J > fourth.json; wait $first; wait",
    );
    for name in ["second.json", "third.json", "fourth.json"] {
        assert!(told(&place, name)["end"].is_object(), "{name}");
    }
    let first = fs::read_to_string(place.path().join("first")).unwrap();
    assert!(first.contains("receiver"), "{first}");
    // What the server has to say of the first client, which was gone before the others came.
    let log = fs::read_to_string(place.path().join("log")).unwrap();
    let mut lines = log.lines();
    let client = lines
        .next()
        .and_then(|line| line.strip_suffix(" begins iperf3"));
    let ends = format!("{} ends iperf3 after ", client.unwrap());
    assert!(lines.any(|line| line.starts_with(&ends)), "{log}");
}

#[test]
fn what_our_server_does_not_do_is_said_by_iperf3_s_own_words() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = with_server(
        "small.toml",
        "if iperf3 -c far -t 900 > long 2>&1; then exit 9; fi; if iperf3 -c far -C nosuch > cc 2>&1; then exit 9; fi; iperf3 -c far -n 10K > after",
    );
    let long = fs::read_to_string(place.path().join("long")).unwrap();
    assert!(long.contains("duration"), "{long}");
    let congestion = fs::read_to_string(place.path().join("cc")).unwrap();
    assert!(congestion.contains("TCP_CONGESTION"), "{congestion}");
}
