//! Sets of vectors, from outside: made, rewritten and described.

use crate::support::{Running, entries, folder, isobath, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What a command prints with `--json`.
fn json(place: &Path, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    serde_json::from_str(&run(place, &arguments).ended(0).stdout).unwrap()
}

/// A hundred connections of 100 and 900 octets, one each 100 ms, over round trips of 10 to 109 ms.
fn hundred() -> String {
    let vector = |at: u32| {
        format!(
            "SEQ {} 1 {at} {at}\nw 65535 65535\nr {}\nl 0.000000 0.000000\n> 100\nt 600000\n< 900\nt 100000\n",
            at * 100_000,
            10_000 + at * 1_000
        )
    };
    (0..100).map(vector).collect()
}

#[test]
fn a_set_is_made_of_a_published_mix() {
    let place = folder(&[]);
    let printed = json(
        place.path(),
        &[
            "trace",
            "synth",
            "unc-2008",
            "--duration",
            "20s",
            "--share",
            "1/4",
            "--cold",
            "-o",
            "made.parquet",
        ],
    );
    assert_eq!(printed["test"], "trace-synth");
    assert_eq!(printed["plan"]["share"], 0.25);
    let load = &printed["summary"]["load"];
    // A Poisson count of 6,505 is within 5 % of it in 9,999 of 10,000 cases; with one seed it is the same always.
    let connections = load["connections"].as_f64().unwrap();
    assert!((connections / 6_505.0 - 1.0).abs() < 0.05, "{load}");
    assert_eq!(load["span_s"], 20.0);
    assert!(printed["summary"]["in_progress"].is_null());
    let statements = printed["summary"]["statements"].as_array().unwrap();
    let median = statements
        .iter()
        .find(|row| row["measure"] == "request_bytes" && row["statistic"] == "quantile 0.5");
    let median = median.unwrap();
    assert_eq!(
        (&median["published"], &median["from"]),
        (&460.0.into(), &"3.1.3.2".into())
    );
    assert!(median["realised_error_pct"].as_f64().unwrap().abs() < 10.0);
    // What was written is what was told of.
    let described = json(place.path(), &["trace", "describe", "made.parquet"]);
    let set = &described["summary"]["sets"][0];
    assert_eq!(set["connections"]["all"], load["connections"]);
    assert_eq!(
        set["quantities"]["request_bytes"]["p50"],
        median["realised"]
    );
    // The same seed makes the same octets, and so many as were asked for.
    let make = |out: &str, seed: &str| {
        let arguments = [
            "trace",
            "synth",
            "ibm-2006",
            "--connections",
            "50",
            "--duration",
            "1min",
            "--like",
            "made.parquet",
            "--seed",
            seed,
            "-o",
            out,
        ];
        json(place.path(), &arguments)
    };
    let first = make("one.cvec", "7");
    assert_eq!(first["summary"]["load"]["connections"], 50);
    assert_eq!(first["summary"]["ties"].as_array().unwrap().len(), 15);
    make("two.cvec", "7");
    make("three.cvec", "8");
    let text = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(text("one.cvec"), text("two.cvec"));
    assert_ne!(text("one.cvec"), text("three.cvec"));
    assert!(text("one.cvec").starts_with("# drawn from the fit ibm-2006"));
    // Without --duration they take as long as the mix's rate says: some 50 / 774 s.
    let few = json(
        place.path(),
        &["trace", "synth", "ibm-2006", "--connections", "50"],
    );
    let span = few["summary"]["load"]["span_s"].as_f64().unwrap();
    assert!((0.02..0.2).contains(&span), "{span}");
}

/// What a capture would have: connections that began earlier, and some that go on.
#[test]
fn a_set_has_connections_in_progress_at_both_ends() {
    let place = folder(&[]);
    let synth = [
        "trace",
        "synth",
        "ibm-2006",
        "--duration",
        "2s",
        "--share",
        "1/8",
        "-o",
    ];
    let make = |out: &str| json(place.path(), &[&synth[..], &[out]].concat());
    let printed = make("made.parquet");
    assert_eq!(printed["plan"]["cold"], false);
    let summary = &printed["summary"];
    let [start, end] = ["start", "end"].map(|end| summary["in_progress"][end].as_u64().unwrap());
    let connections = summary["load"]["connections"].as_u64().unwrap();
    // Beside some 194 that start within 2 s.
    assert!(
        start > 50 && end > 50 && connections > start + 150,
        "{summary}"
    );
    let described = json(place.path(), &["trace", "describe", "made.parquet"]);
    let set = &described["summary"]["sets"][0];
    assert_eq!(set["connections"]["all"], connections);
    assert_eq!(set["connections"]["unfinished"], end);
    assert!(set["last_start_s"].as_f64().unwrap() < 2.0);
    make("one.cvec");
    make("two.cvec");
    let text = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(text("one.cvec"), text("two.cvec"));
}

/// A mix of one's own set: what is drawn from it is like the set.
#[test]
fn a_mix_is_made_of_a_set() {
    let place = folder(&[]);
    let synth = [
        "trace",
        "synth",
        "unc-2008",
        "--duration",
        "20s",
        "--share",
        "1/8",
        "-o",
        "set.parquet",
    ];
    let set = json(place.path(), &synth);
    let fit = [
        "trace",
        "fit",
        "set.parquet",
        "--duration",
        "20s",
        "-o",
        "mine.toml",
    ];
    let printed = json(place.path(), &fit);
    assert_eq!(printed["test"], "trace-fit");
    let summary = &printed["summary"];
    assert_eq!(
        summary["load"]["connections"],
        set["summary"]["load"]["connections"]
    );
    assert_eq!(summary["in_progress"], set["summary"]["in_progress"]["end"]);
    let statements = summary["statements"].as_array().unwrap();
    let median = statements
        .iter()
        .find(|row| row["measure"] == "request_bytes" && row["statistic"] == "quantile 0.5");
    let median = median.unwrap();
    assert!(median["measured"].as_f64().unwrap() > 400.0, "{median}");
    assert!(
        median["realised_error_pct"].as_f64().unwrap().abs() < 20.0,
        "{median}"
    );
    // Half as much of it.
    let half = [
        "trace",
        "synth",
        "mine.toml",
        "--duration",
        "20s",
        "--share",
        "1/2",
    ];
    let half = json(place.path(), &half);
    assert_eq!(half["plan"]["mix"], "set");
    let rate = |run: &Value, which: &str| run["summary"][which]["starts_per_s"].as_f64().unwrap();
    let ratio = rate(&half, "load") / rate(&printed, "synthesis");
    assert!((0.4..0.6).contains(&ratio), "{ratio}");
    let said = run(
        place.path(),
        &[
            "trace",
            "fit",
            "set.parquet",
            "set.parquet",
            "-o",
            "two.toml",
        ],
    );
    let said = &said.ended(0).stdout;
    for words in ["a synthesis", "distance ", "rate ", "two.toml"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_table_says_what_was_printed_fitted_and_realised() {
    let place = folder(&[]);
    let ran = run(
        place.path(),
        &[
            "trace",
            "synth",
            "unc-2008",
            "--connections",
            "2000",
            "-o",
            "x.alt.cvec",
        ],
    );
    let said = &ran.ended(0).stdout;
    for words in [
        "a fit to what is printed of it, not the trace",
        "section",
        "size of a request",
        "3.1.3.2",
        "x.alt.cvec",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// Holds tmix/conserved, tmix/harpoon.
#[test]
fn models_keep_octets_and_starts() {
    let place = folder(&[("set.cvec", &hundred())]);
    let printed = json(
        place.path(),
        &[
            "trace",
            "transform",
            "set.cvec",
            "-o",
            "out.cvec",
            "--structure",
            "a-b",
            "--rtt",
            "da:2",
            "--windows",
            "16KB",
        ],
    );
    let summary = &printed["summary"];
    assert_eq!(summary["holds"], true);
    assert_eq!(
        summary["conserved"]["bytes_after"],
        serde_json::json!([10_000, 90_000])
    );
    assert_eq!(summary["before"], summary["after"]);
    // The means of 11 to 59 and of 60 to 108 ms: one in a hundred is left out at each end.
    let paths = summary["rtt"]["paths_ms"].as_array().unwrap();
    let [low, high] = [0, 1].map(|at: usize| paths[at].as_f64().unwrap());
    assert!(
        (low - 35.0).abs() < 0.1 && (high - 84.0).abs() < 0.1,
        "{paths:?}"
    );
    let text = fs::read_to_string(place.path().join("out.cvec")).unwrap();
    let vectors: Vec<_> = text.split("SEQ ").skip(1).collect();
    assert_eq!(vectors.len(), 100);
    assert!(vectors[3].starts_with("300000 1 3 3\nw 16384 16384\nr "));
    assert!(
        vectors[3].ends_with("\n> 100\nt 0\n< 900\nt 0\n"),
        "{}",
        vectors[3]
    );
    // Nothing asked for changes nothing.
    run(
        place.path(),
        &["trace", "transform", "set.cvec", "-o", "same.cvec"],
    )
    .ended(0);
    assert_eq!(
        fs::read_to_string(place.path().join("same.cvec")).unwrap(),
        hundred()
    );
    // Each end opens a connection of its own.
    let said = run(
        place.path(),
        &[
            "trace",
            "transform",
            "set.cvec",
            "-o",
            "forth.cvec",
            "--back",
            "back.cvec",
            "--structure",
            "harpoon",
        ],
    );
    assert!(
        said.ended(0)
            .stdout
            .contains("have their octets and their starts, in 200 connections")
    );
    for (name, adu) in [
        ("forth.cvec", "\n> 100\nt 0\n"),
        ("back.cvec", "\n> 900\nt 0\n"),
    ] {
        let text = fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(text.matches(adu).count(), 100, "{name}");
    }
}

/// Holds tmix/resampling.
#[test]
fn loads_are_scaled_and_told() {
    let place = folder(&[("set.cvec", &hundred())]);
    let of = |arguments: &[&str]| {
        let arguments = [
            &["trace", "transform", "set.cvec", "-o", "out.cvec"],
            arguments,
        ]
        .concat();
        json(place.path(), &arguments)
    };
    let both = |printed: &Value| {
        printed["summary"]["after"]["mbps"]["both"]
            .as_f64()
            .unwrap()
    };
    let before = 100_000.0 * 8.0 / 9.9 / 1e6;
    let faster = of(&["--time", "0.5"]);
    assert!((both(&faster) / (2.0 * before) - 1.0).abs() < 1e-6);
    let thinned = of(&["--thin", "1/4"]);
    let kept = thinned["summary"]["after"]["connections"].as_u64().unwrap();
    assert!((10..45).contains(&kept), "{kept}");
    // Ten blocks of ten connections each; at any time no more than one is owed.
    let drawn = of(&["--load", "160kbit", "--block", "1s", "--duration", "20s"]);
    assert!(
        (both(&drawn) / 0.16 - 1.0).abs() < 0.06,
        "{}",
        drawn["summary"]["after"]
    );
    assert_eq!(drawn["warnings"], serde_json::json!([]));
    let text = fs::read_to_string(place.path().join("out.cvec")).unwrap();
    let starts = text.lines().filter_map(|line| {
        line.strip_prefix("SEQ ")?
            .split(' ')
            .next()?
            .parse::<u64>()
            .ok()
    });
    let starts: Vec<_> = starts.collect();
    assert_eq!(
        starts.len() as u64,
        drawn["summary"]["after"]["connections"].as_u64().unwrap()
    );
    assert!(starts.is_sorted() && *starts.last().unwrap() > 18_000_000);
    // The same octets of acceptors alone: a ninth more of them in all.
    let acceptors = of(&[
        "--load",
        "160kbit",
        "--load-of",
        "acceptors",
        "--block",
        "1s",
        "--duration",
        "20s",
    ]);
    assert!((both(&acceptors) / 0.1778 - 1.0).abs() < 0.06);
    let few = of(&["--load", "1Mbit"]);
    assert_eq!(few["warnings"][0]["code"], "few_blocks");
}

/// Holds tmix/distributions, tmix/curves.
#[test]
fn sets_are_described_side_by_side() {
    let place = folder(&[("set.cvec", &hundred())]);
    run(
        place.path(),
        &[
            "trace",
            "transform",
            "set.cvec",
            "-o",
            "far.parquet",
            "--rtt",
            "mean",
        ],
    )
    .ended(0);
    let said = run(place.path(), &["trace", "describe", "set.cvec"]);
    let said = said.ended(0).stdout.clone();
    for words in [
        "100 connections within 9.90 s",
        "size of a request",
        "100 B",
        "900 B",
        "waits within an epoch: from 500 ms",
        "100 %",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let printed = json(
        place.path(),
        &[
            "trace",
            "describe",
            "set.cvec",
            "far.parquet",
            "-o",
            "page.html",
        ],
    );
    assert_eq!(printed["test"], "trace-describe");
    let [one, other] = [0, 1].map(|at: usize| &printed["summary"]["sets"][at]);
    assert_eq!(one["quantities"]["min_rtt_ms"]["count"], 100);
    assert_eq!(one["differences"], serde_json::json!([]));
    let differences = other["differences"].as_array().unwrap();
    let of = |measure: &str| {
        let found = differences.iter().find(|one| one["measure"] == measure);
        found.unwrap()["distance"].as_f64().unwrap()
    };
    assert!(of("request_bytes").abs() < 1e-9);
    // Of the hundred, 49 or 50 are below their mean of 59.5 ms.
    assert!((of("min_rtt_ms") - 0.5).abs() < 0.02);
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains("isobath.report.description/1") && page.contains("min-rtt-ms"));
    let said = run(
        place.path(),
        &["trace", "describe", "set.cvec", "far.parquet"],
    );
    assert!(said.ended(0).stdout.contains("distance"));
}

#[test]
fn mistakes_are_told_before_anything_is_written() {
    let place = folder(&[("set.cvec", &hundred()), ("fit.toml", "name = \"x\"\n")]);
    let at_once = "SEQ 0 1 1 1\n> 1\nt 1\n< 1\n";
    fs::write(place.path().join("one.cvec"), at_once).unwrap();
    let refused = |words: &str, code: i32, said: &str| {
        let arguments: Vec<_> = words.split(' ').collect();
        let ran = Running::start(isobath(place.path(), &arguments)).finish();
        assert!(ran.refused(code).contains(said), "{ran:#?}");
        assert_eq!(entries(place.path()), ["fit.toml", "one.cvec", "set.cvec"]);
    };
    let synth = |words: &str, code, said| refused(&format!("trace synth {words}"), code, said);
    synth("unc -o x.cvec", 2, "there are unc-2008 and ibm-2006");
    synth("fit.toml -o x.cvec", 3, "line 1: missing field");
    synth("nowhere.toml", 3, "nowhere.toml");
    synth("unc-2008 --share 0", 2, "1/4");
    let both = "unc-2008 --share 1/2 --connections 3 --duration 1s";
    synth(both, 2, "leave out one");
    synth("unc-2008 --like fit.toml -o x.cvec", 3, "fit.toml");
    let fit = |words: &str, code, said| refused(&format!("trace fit {words}"), code, said);
    fit("set.cvec -o set.cvec", 2, "another");
    fit("fit.toml", 3, "fit.toml");
    let transform = |words: &str, code, said| {
        let words = format!("trace transform set.cvec -o {words}");
        refused(&words, code, said);
    };
    transform("set.cvec", 2, "another");
    transform("x.cvec --structure harpoon", 2, "--back");
    transform("x.cvec --structure b-a", 2, "a-t-b-t");
    transform("x.cvec --rtt da:0", 2, "usernet");
    transform("x.cvec --tails", 2, "--structure");
    transform("x.cvec --thin 2", 2, "from 0 to 1");
    transform("x.cvec --time 0", 2, "a number above 0");
    refused(
        "trace transform one.cvec -o x.cvec --load 1Mbit",
        3,
        "start at once",
    );
    refused("trace describe set.cvec -o set.cvec", 2, "another");
    refused("trace describe fit.toml", 3, "fit.toml");
}
