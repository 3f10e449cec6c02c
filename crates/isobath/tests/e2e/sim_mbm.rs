//! Model based metrics in virtual time, from outside, and beside the same tests on real sockets.

use crate::mbm::tested;
use crate::support::{Machine, folder, number, rows, run, values};
use schema::mbm::tables::Arrival;
use serde_json::Value;
use std::fs;

const TARGET: &str = "--rate 3Mbit --rtt 40ms -q --json";

#[test]
fn a_path_is_judged_and_the_same_seed_gives_the_same_tables() {
    let place = folder(&[]);
    let tested = |out: &str, code, more: &str| {
        let line = format!("sim mbm {TARGET} {more} -o {out}");
        let arguments: Vec<_> = line.split_whitespace().collect();
        run(place.path(), &arguments).ended(code).json()
    };
    let tests =
        "paced-full-rate,windowed-full-rate,sustained-burst,congestion-avoidance,bufferbloat";
    let good = format!("--path-rate 5Mbit --path-rtt 20ms --queue 30packets --test {tests}");
    let printed = tested("one", 0, &good);
    assert_eq!(
        (&printed["test"], &printed["verdict"]),
        (&"sim-mbm".into(), &"PASS".into())
    );
    let tests: Vec<_> = values(&printed["summary"]["tests"]).collect();
    assert_eq!(tests.len(), 5);
    assert!(
        tests
            .iter()
            .all(|test| number(test, "/pattern/late") <= 0.0)
    );
    let arrivals: Vec<Arrival> = rows(&place.path().join("one"));
    let first = &arrivals[0];
    assert!(first.arrived_ns - first.t_ns >= 10_000_000);
    let _ = tested("two", 0, &good);
    for entry in fs::read_dir(place.path().join("one")).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |run: &str| fs::read(place.path().join(run).join(&name)).unwrap();
        assert!(read("one") == read("two") || name == "run.json", "{name:?}");
    }
    // Nearly half of each burst is dropped.
    let short = "--path-rate 5Mbit --path-rtt 20ms --queue 5packets";
    let failed = tested("short", 1, short);
    let [paced, bursts] = values(&failed["summary"]["tests"]).collect::<Vec<_>>()[..] else {
        panic!("two tests");
    };
    assert_eq!(paced["verdict"]["outcome"], "PASS");
    assert_eq!(bursts["verdict"]["outcome"], "FAIL");
    let shown = run(place.path(), &["show", "short"]);
    assert!(shown.ended(0).stdout.contains("sustained-burst"));
    run(place.path(), &["compare", "one", "short"]).ended(0);
    run(place.path(), &["report", "short", "-o", "page.html"]).ended(0);
}

#[test]
fn what_is_not_simulated_is_refused() {
    let place = folder(&[]);
    for (more, word) in [
        ("--lab dsl --carrier tcp", "--carrier udp"),
        ("--lab dsl --from nowhere", "nowhere"),
        ("--path-rate 5Mbit", "--path-rtt"),
        ("--lab dsl --target none", "--target"),
    ] {
        let line = format!("sim mbm {TARGET} {more}");
        let arguments: Vec<_> = line.split_whitespace().collect();
        let ran = run(place.path(), &arguments);
        assert!(ran.refused(2).contains(word), "{more}");
    }
}

/// The part of `value` beside that of `other`.
fn ratio(value: &Value, other: &Value, pointer: &str) -> f64 {
    number(value, pointer) / number(other, pointer)
}

#[test]
fn quiet_a_lab_and_its_simulation_judge_alike() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[]);
    // A window that the queue cuts, and bursts that just fit it.
    let target = ["--rate", "4500kbit", "--rtt", "40ms"];
    let tests = ["--test", "bufferbloat,sustained-burst"];
    let Some(real) = tested(place.path(), "dsl", &target, &tests, 1, "real") else {
        return;
    };
    let common = ["sim", "mbm", "--lab", "dsl", "-q", "--json", "-o", "sim"];
    let simulated = run(place.path(), &[&common[..], &target, &tests].concat());
    let simulated = simulated.json();
    assert_eq!(real["verdict"], simulated["verdict"]);
    let [real, simulated] = [&real, &simulated].map(|run| &run["summary"]);
    let idle = ratio(real, simulated, "/path_rtt_ms");
    assert!((0.99..1.05).contains(&idle), "{idle}");
    for (one, other) in values(&real["tests"]).zip(values(&simulated["tests"])) {
        assert_eq!(one["verdict"]["outcome"], other["verdict"]["outcome"]);
        assert_eq!(
            one["loss"]["counts"]["lost"],
            other["loss"]["counts"]["lost"]
        );
        // A packet of a burst waits for those before it, 2.4 ms each: a median would be one of these steps or the next.
        let rtt = ratio(one, other, "/rtt_ms/mean");
        assert!((0.98..1.05).contains(&rtt), "{rtt}");
    }
}
