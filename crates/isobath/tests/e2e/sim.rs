//! Measurements in virtual time, from outside.

use crate::support::{folder, rows, run};
use schema::btc::tables::{EventRow, SegmentRow, Transfer, WindowRow};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PATH: [&str; 10] = [
    "sim", "btc", "--rate", "10Mbit", "--rtt", "40ms", "--loss", "1%", "--queue", "1bdp",
];

/// What `isobath sim btc` prints with `--json`, and every table that it wrote, octet by octet.
fn simulate(place: &Path, out: &str, more: &[&str]) -> (Value, BTreeMap<String, Vec<u8>>) {
    let ran = run(place, &[&PATH, more, &["--json", "-o", out]].concat());
    let printed: Value = serde_json::from_str(&ran.ended(0).stdout).unwrap();
    let tables = fs::read_dir(place.join(out)).unwrap().map(|entry| {
        let file = entry.unwrap();
        (
            file.file_name().into_string().unwrap(),
            fs::read(file.path()).unwrap(),
        )
    });
    let tables: BTreeMap<_, _> = tables.filter(|(name, _)| name != "run.json").collect();
    (printed, tables)
}

#[test]
fn the_same_seed_writes_the_same_octets_and_another_one_does_not() {
    let place = folder(&[]);
    let (one, tables) = simulate(place.path(), "one", &[]);
    let (two, same) = simulate(place.path(), "two", &[]);
    let names: Vec<_> = tables.keys().map(String::as_str).collect();
    let expected = [
        "events",
        "queue",
        "round_trips",
        "segments",
        "transfers",
        "windows",
    ];
    assert_eq!(names, expected.map(|table| format!("{table}.parquet")));
    assert!(tables == same, "the tables of two runs differ");
    for key in ["summary", "plan", "path", "warnings", "status"] {
        assert_eq!(one[key], two[key], "{key}");
    }
    let events = |run: &Value| run["instrument"]["packet_events"].as_u64();
    assert!(events(&one) > Some(1_000) && events(&one) == events(&two));
    assert_eq!(one["hosts"][0]["kernel"], "virtual time");
    let (_, other) = simulate(place.path(), "other", &["--seed", "2"]);
    assert!(tables["segments.parquet"] != other["segments.parquet"]);
}

/// Rows that wait for the end of a run would take the more memory the longer it is.
#[test]
fn packets_of_both_ends_go_to_the_record_while_the_run_goes() {
    let place = folder(&[]);
    simulate(place.path(), "run", &[]);
    let packets: Vec<SegmentRow> = rows(&place.path().join("run"));
    for end in ["sender", "receiver"] {
        let first = packets.iter().position(|packet| packet.end == end).unwrap();
        assert!(
            first * 5 < packets.len(),
            "{end}: {first} of {}",
            packets.len()
        );
        let of_it: Vec<_> = packets.iter().filter(|packet| packet.end == end).collect();
        assert!(of_it.is_sorted_by_key(|packet| packet.t_ns), "{end}");
    }
}

#[test]
fn a_simulated_transfer_has_the_summary_of_a_real_one() {
    let place = folder(&[]);
    let (run, _) = simulate(place.path(), "run", &["--segments", "725"]);
    assert_eq!(
        (&run["test"], &run["status"]),
        (&"sim-btc".into(), &"complete".into())
    );
    let summary = &run["summary"];
    assert_eq!(
        (&summary["segments"], &summary["outcomes"]["complete"]),
        (&725.into(), &1.into())
    );
    // RFC 5681 over 40 ms with 1 % loss: some 40 segments of 1,448 octets in 40 ms at most, far less on average.
    let mbps = summary["throughput_mbps"].as_f64().unwrap();
    assert!((1.5..8.0).contains(&mbps), "{mbps}");
    assert!(summary["rtt_ms"]["min"].as_f64().unwrap() >= 40.0);
    let card = run_show(place.path());
    assert!(
        card.contains("simulated path") && card.contains("725 segments"),
        "{card}"
    );
    assert!(card.lines().count() <= 25, "{card}");
}

/// Holds btc/avoidance-capacity, btc/clock-transitions, btc/missed-opportunities, btc/clock-preservation, btc/maximum-window.
#[test]
fn the_record_says_in_which_state_each_window_was_and_what_cut_it() {
    let place = folder(&[]);
    // So many losses, and windows so small, that some cost a timeout.
    let path = ["--rate", "10Mbit", "--rtt", "40ms", "--loss", "8%"];
    let more = ["--duration", "60s", "-o", "run"];
    run(place.path(), &[&["sim", "btc"], &path[..], &more].concat()).ended(0);
    let record = place.path().join("run");
    let windows: Vec<WindowRow> = rows(&record);
    let largest = |state: &str| {
        let of = windows.iter().filter(|row| row.state == state);
        of.map(|row| row.cwnd).fold(0.0, f64::max)
    };
    for state in ["slow-start", "avoidance", "recovery", "loss"] {
        assert!(largest(state) >= 1.0, "{state}");
    }
    let events: Vec<EventRow> = rows(&record);
    for what in ["cut-loss", "cut-timeout", "recovered"] {
        assert!(events.iter().any(|event| event.what == what), "{what}");
    }
    let [transfer] = &rows::<Transfer>(&record)[..] else {
        panic!("one transfer");
    };
    let cuts = events.iter().filter(|event| event.what == "cut-timeout");
    let timeouts = transfer.timeouts.unwrap();
    assert!(0 < timeouts && cuts.count() as u64 <= timeouts);
}

fn run_show(place: &Path) -> String {
    run(place, &["show", "run"]).ended(0).stdout.clone()
}

#[test]
fn labs_queues_and_rules_can_be_chosen() {
    let place = folder(&[]);
    let simulated = |arguments: &[&str]| {
        let all = [
            &["sim", "btc", "--json", "--duration", "5s", "-o", "run"],
            arguments,
        ]
        .concat();
        let ran = run(place.path(), &all);
        fs::remove_dir_all(place.path().join("run")).unwrap();
        let printed: Value = serde_json::from_str(&ran.ended(0).stdout).unwrap();
        printed["summary"].clone()
    };
    // 20 Mbit/s down, less headers.
    let lab = simulated(&["--lab", "dsl", "--reverse", "--cc", "cubic"]);
    assert!(
        (15.0..19.4).contains(&lab["throughput_mbps"].as_f64().unwrap()),
        "{lab}"
    );
    let path = ["--rate", "20Mbit", "--rtt", "20ms"];
    let marked = simulated(
        &[
            &path[..],
            &[
                "--aqm",
                "codel",
                "--queue",
                "1000packets",
                "--option",
                "ecn=true",
                "--flows",
                "4",
            ],
        ]
        .concat(),
    );
    assert_eq!(marked["retransmits"], 0, "marks instead of drops: {marked}");
    assert!(marked["rtt_ms"]["p50"].as_f64().unwrap() < 40.0, "{marked}");
}

#[test]
fn what_cannot_be_simulated_is_refused_before_anything_is_written() {
    let place = folder(&[]);
    for (arguments, said) in [
        (&["--rate", "10Mbit"][..], "--rtt"),
        (
            &["--rate", "10Mbit", "--rtt", "40ms", "--loss", "0.01"],
            "percentage",
        ),
        (
            &["--rate", "10Mbit", "--rtt", "40ms", "--queue", "50"],
            "64KiB",
        ),
        (
            &["--rate", "10Mbit", "--rtt", "40ms", "--option", "mss=0"],
            "mss",
        ),
        (&["--rate", "1bit", "--rtt", "40ms"], "aborted after"),
        (
            &["--rate", "9999999Gbit", "--rtt", "0s"],
            "packets would be simulated",
        ),
        (
            &[
                "--rate",
                "10Mbit",
                "--rtt",
                "40ms",
                "--segments",
                "4294967295",
            ],
            "virtual time",
        ),
        (&["--lab", "dls"], "no lab is called 'dls'"),
        (&["--lab", "wire"], "no link of 'wire' has a rate"),
        (
            &["--lab", "dsl", "--rate", "10Mbit", "--rtt", "1ms"],
            "cannot be used with",
        ),
    ] {
        let ran = run(place.path(), &[&["sim", "btc"], arguments].concat());
        let line = ran.refused(2);
        assert!(line.contains(said), "'{said}' is not in: {line}");
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
