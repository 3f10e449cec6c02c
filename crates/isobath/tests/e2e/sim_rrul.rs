//! Realtime response under load in virtual time, from outside.

use crate::support::{folder, number, rows, run, values};
use schema::tables::{Queue, Sample, Series};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn simulated(place: &Path, out: &str, more: &str) -> Value {
    let line = format!("sim rrul --lab dsl --duration 10s -q --json {more} -o {out}");
    let arguments: Vec<_> = line.split_whitespace().collect();
    run(place, &arguments).ended(0).json()
}

#[test]
fn the_whole_plan_runs_but_for_what_is_left_out_and_the_same_seed_gives_the_same_tables() {
    let place = folder(&[]);
    let printed = simulated(place.path(), "one", "");
    assert_eq!(
        (&printed["test"], &printed["status"]),
        (&"sim-rrul".into(), &"complete".into())
    );
    let codes: Vec<_> = values(&printed["warnings"])
        .map(|warning| &warning["code"])
        .collect();
    assert!(codes.contains(&&"not_simulated".into()), "{codes:?}");
    let summary = &printed["summary"];
    let pages = number(summary, "/web/idle_ms/p50");
    assert!((800.0..870.0).contains(&pages), "{pages} ms");
    assert!((24.0..25.0).contains(&number(summary, "/dns_ms/idle/p50")));
    assert!((17.0..20.0).contains(&number(summary, "/throughput_mbps/down")));
    assert!((3.5..5.0).contains(&number(summary, "/throughput_mbps/up")));
    assert!(number(summary, "/latency_ms/loaded/p50") > 100.0);
    assert!((24.0..25.0).contains(&number(summary, "/latency_ms/idle/p50")));
    assert!(number(summary, "/voip/EF/up/mos") >= 1.0);
    let record = place.path().join("one");
    assert!(!rows::<Sample>(&record).is_empty() && !rows::<Queue>(&record).is_empty());
    let series: Vec<Series> = rows(&record);
    assert!(series.iter().all(|row| row.bin_ns <= 100_000_000));
    let _ = simulated(place.path(), "two", "");
    for entry in fs::read_dir(&record).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |run: &str| fs::read(place.path().join(run).join(&name)).unwrap();
        assert!(read("one") == read("two") || name == "run.json", "{name:?}");
    }
    let shown = run(place.path(), &["show", "one"]);
    assert!(shown.ended(0).stdout.contains("dsl, simulated"));
    run(place.path(), &["compare", "one", "two"]).ended(0);
    run(place.path(), &["report", "one", "-o", "page.html"]).ended(0);
}

#[test]
fn a_plan_that_cannot_be_simulated_is_refused() {
    let timeless = "summary = \"no time\"\nclient = \"a\"\nserver = \"b\"\nhosts = [\"a\", \"b\"]\n\n[[link]]\nbetween = [\"a\", \"b\"]\nup = []\ndown = []\n";
    let place = folder(&[("timeless.toml", timeless)]);
    for (more, word) in [
        ("--lab timeless.toml --plan ping", "is zero"),
        ("--lab dsl --plan rtt_fair", "servers"),
        ("--lab dsl --plan cubic_reno", "reno"),
        ("--lab nowhere", "nowhere"),
    ] {
        let line = format!("sim rrul {more}");
        let arguments: Vec<_> = line.split_whitespace().collect();
        assert!(
            run(place.path(), &arguments).refused(2).contains(word),
            "{more}"
        );
    }
}
