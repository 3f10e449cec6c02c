//! Runs that are killed by -9 at any moment: `show`, `report` and `export` read every one of them.

use crate::mbm::lab;
use crate::replay::vectors;
use crate::support::{
    Machine, Running, SMALL_LAB, Signal, TempDir, eventually, folder, isobath, run, short_plan,
};
use std::time::Duration;
use sys::clock;

/// Each of them measures for longer than it is let live.
const RUNS: [&[&str]; 5] = [
    &["rrul", "--lab", "small.toml", "--plan", "plan.toml"],
    &["btc", "--lab", "small.toml", "--duration", "30s"],
    &[
        "mbm",
        "--lab",
        "good.toml",
        "--rate",
        "6Mbit",
        "--rtt",
        "20ms",
        "--suite",
    ],
    &["estimate", "available", "--lab", "good.toml"],
    &["replay", "v.cvec"],
];
/// Most that a run lives after its record has begun.
const LONGEST: Duration = Duration::from_millis(2_500);

fn place() -> TempDir {
    folder(&[
        ("small.toml", SMALL_LAB),
        ("good.toml", &lab("")),
        ("plan.toml", &short_plan(30)),
        ("v.cvec", &vectors(400)),
    ])
}

/// How often each is killed: more with `ISOBATH_TEST_KILLS`.
fn times() -> u32 {
    let asked = std::env::var("ISOBATH_TEST_KILLS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(2)
}

#[test]
fn what_was_killed_at_any_moment_can_be_shown() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let times = times();
    for (arguments, time) in RUNS
        .iter()
        .flat_map(|run| (0..times).map(move |time| (run, time)))
    {
        let out = format!("{}-{time}", arguments[0]);
        let more = ["-q", "-o", &out];
        let killed = Running::start(isobath(place.path(), &[arguments, &more[..]].concat()));
        let record = place.path().join(&out);
        eventually("the record has begun", || record.join("run.json").exists());
        // Spread evenly over the time that it may live, the first at once.
        clock::sleep_until(clock::now() + LONGEST * time / times);
        killed.signal(Signal::KILL);
        killed.wait();
        let shown = run(place.path(), &["show", &out]);
        assert!(shown.ended(0).stdout.contains("INCOMPLETE"), "{shown:#?}");
        let told = run(place.path(), &["show", &out, "--json"]).ended(0).json();
        assert_eq!(told["status"], "incomplete");
        assert!(
            told["summary"]
                .as_object()
                .is_some_and(|summary| !summary.is_empty())
        );
        run(place.path(), &["report", &out]).ended(0);
        run(place.path(), &["export", "--csv", &out]).ended(0);
    }
}
