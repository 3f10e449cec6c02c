//! What the kernel's TCP is given: its congestion control in labs, and the window of a transfer; held against other programs' findings.

use crate::support::{
    Machine, PROGRAM, Running, SMALL_LAB, folder, has, isobath, run, short_plan, values,
};
use serde_json::Value;
use std::path::Path;

/// Octets of payload in a full segment by IPv4.
const MSS: u64 = 1_448;

#[test]
fn a_lab_has_one_congestion_control_and_says_which() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(2))]);
    let common = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "-q",
        "-o",
        "r",
    ];
    let ran = run(place.path(), &common);
    assert!(
        ran.stdout.contains("against lab small.toml (TCP cubic)"),
        "{ran:#?}"
    );
    let run: Value =
        serde_json::from_slice(&std::fs::read(place.path().join("r/run.json")).unwrap()).unwrap();
    assert_eq!(run["path"]["lab"]["congestion_control"], "cubic");
    let streams = crate::support::rows::<schema::tables::Stream>(&place.path().join("r"));
    let kinds = streams
        .iter()
        .filter_map(|stream| stream.congestion_control.as_deref());
    assert!(
        kinds.clone().count() > 0 && kinds.clone().all(|cc| cc == "cubic"),
        "{streams:?}"
    );
}

/// The congestion control of every TCP connection of the client host while `work` goes on there, as `ss` sees it.
#[track_caller]
fn seen_by_ss(place: &Path, work: &str) -> Vec<String> {
    let script = format!(
        "({work}) >/dev/null 2>&1 & p=$!; while kill -0 $p 2>/dev/null; do ss -tinH state established; sleep 0.05; done"
    );
    let mut command = isobath(
        place,
        &["lab", "run", "small.toml", "--", "sh", "-c", &script],
    );
    command.env("PROGRAM", PROGRAM);
    let ran = Running::start(command).finish();
    let known = ["cubic", "reno", "bbr"];
    let words = ran.ended(0).stdout.split_whitespace();
    words
        .filter(|word| known.contains(word))
        .map(str::to_owned)
        .collect()
}

#[test]
fn programs_of_a_lab_get_what_the_lab_says_they_get() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("ss") || !has("iperf3") {
        return;
    }
    let place = folder(&[("small.toml", SMALL_LAB)]);
    let seen = seen_by_ss(
        place.path(),
        "iperf3 -s -1 -D; sleep 0.3; iperf3 -c 127.0.0.1 -t 1",
    );
    assert!(!seen.is_empty());
    let told = run(place.path(), &["lab", "run", "small.toml", "--", "true"]);
    let expected = if told
        .stderr
        .contains("TCP of other programs in this lab is reno")
    {
        "reno"
    } else {
        "cubic"
    };
    assert!(seen.iter().all(|cc| cc == expected), "{expected}: {seen:?}");
}

/// The most octets in flight that tshark finds in a capture of the sender's own interface.
fn most_in_flight(capture: &Path) -> u64 {
    let mut command = std::process::Command::new("tshark");
    command
        .arg("-r")
        .arg(capture)
        .args(["-Y", "tcp.analysis.bytes_in_flight && tcp.len >= 1000"]);
    command.args(["-T", "fields", "-e", "tcp.analysis.bytes_in_flight"]);
    let said = command.output().unwrap();
    let lines = String::from_utf8(said.stdout).unwrap();
    lines
        .lines()
        .filter_map(|line| line.parse().ok())
        .max()
        .unwrap_or(0)
}

/// Holds btc/cap-window, btc/cap-tcp.
#[test]
fn a_window_binds_the_kernels_tcp_too() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("tshark") {
        return;
    }
    let window = 8;
    // A sender that waits for a processor does not fill its window each time; it never exceeds it.
    let reached = (0..3).any(|_| {
        let most = most_in_flight_of_the_kernel(window);
        assert!(most <= window * MSS, "octets in flight: {most}");
        most == window * MSS
    });
    assert!(reached, "the window was never full");
}

/// The most octets in flight in a capture of the kernel's transfer with this window.
fn most_in_flight_of_the_kernel(window: u64) -> u64 {
    let place = folder(&[("small.toml", SMALL_LAB)]);
    let script = format!(
        "tshark -q -i to-far -s 96 -w - 'tcp port 4890' > sent.pcapng 2>/dev/null & t=$!; sleep 2; \
         \"$PROGRAM\" btc far -4 --tools kernel --window {window} --segments 400 -q --json -o r; sleep 1; kill $t; wait $t; true"
    );
    let serve = format!("far={PROGRAM} serve --open --ephemeral");
    let mut command = isobath(
        place.path(),
        &[
            "lab",
            "run",
            "small.toml",
            "--also",
            &serve,
            "--",
            "sh",
            "-c",
            &script,
        ],
    );
    command.env("PROGRAM", PROGRAM);
    let ran = Running::start(command).finish();
    let run = ran.ended(0).json();
    assert_eq!(
        values(&run["plan"]["tools"]).next().unwrap(),
        "kernel",
        "{run:#}"
    );
    most_in_flight(&place.path().join("sent.pcapng"))
}
