//! `isobath experiment`: small ones to their end, interrupted, and mistyped. What is asserted is their structure and that
//! figures are possible ones, not that anything agrees.

use crate::fleet;
use crate::support::{Machine, Running, Signal, entries, eventually, folder, isobath, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

const GRID: &str = r#"
title = "A small grid?"
about = "Six short cells."
[study.grid]
congestion_control = "reno"
repeats = 1
shortest = "1s"
round_trips = 1
losses = 1
longest = "1s"
[study.grid.range]
rates = ["5Mbit", "10Mbit"]
rtts = ["20ms"]
losses = [0.0]
queues = [1]
[study.grid.often]
rates = ["10Mbit"]
rtts = ["20ms"]
losses = [0.0]
queues = [1]
"#;

const WHOLE_GRID: &str = r#"
title = "A small product?"
about = "Eight cells in virtual time."
[study.grid]
congestion_control = "reno"
repeats = 1
shortest = "1s"
round_trips = 1
losses = 1
longest = "1s"
[study.grid.range]
rates = ["10Mbit"]
rtts = ["20ms", "50ms"]
losses = [0.0, 0.01]
queues = [0.5, 1]
[study.grid.often]
rates = ["10Mbit"]
rtts = ["20ms"]
losses = [0.0]
queues = [1]
[study.grid.whole]
repeats = 2
duration = "40s"
"#;

const STABILITY: &str = r#"
title = "A small mesh?"
about = "Two hosts."
[study.stability]
measurements = 2
mean = "1s"
time_scale = 2
[study.stability.lab]
summary = "two hosts"
client = "a"
server = "b"
ipv6 = false
hosts = ["a", "b"]
[[study.stability.lab.link]]
between = ["a", "b"]
up = [{ kind = "rate", rate = "20Mbit" }, { kind = "delay", delay = "5ms" }]
down = [{ kind = "rate", rate = "20Mbit" }, { kind = "delay", delay = "5ms" }]
[[study.stability.background]]
from = "a"
to = "b"
on = "200ms"
off = "300ms"
"#;

/// The same with a fleet.
const MESH: &str = r#"
title = "A small fleet?"
about = "Two hosts and a hub."
[study.stability]
measurements = 4
mean = "1s"
time_scale = 2
hub = "hub"
[study.stability.lab]
summary = "two hosts and a hub"
client = "a"
server = "b"
ipv6 = false
hosts = ["a", "b", "hub"]
routers = ["middle"]
[[study.stability.lab.link]]
between = ["a", "middle"]
up = [{ kind = "rate", rate = "20Mbit" }, { kind = "delay", delay = "5ms" }]
down = [{ kind = "rate", rate = "20Mbit" }, { kind = "delay", delay = "5ms" }]
[[study.stability.lab.link]]
between = ["b", "middle"]
up = [{ kind = "delay", delay = "1ms" }]
down = [{ kind = "delay", delay = "1ms" }]
[[study.stability.lab.link]]
between = ["hub", "middle"]
up = [{ kind = "delay", delay = "1ms" }]
down = [{ kind = "delay", delay = "1ms" }]
"#;

const GROWTH: &str = r#"
title = "A small study of growth?"
about = "One path."
[study.growth]
seeds = 3
losses = 5
ack_losses = [0.0, 0.3]
cell = [{ rate = "20Mbit", rtt = "20ms", loss = 0.01, queue = 1 }]
[study.growth.lab]
repeats = 2
duration = "1s"
cell = [{ rate = "10Mbit", rtt = "20ms", loss = 0.01, queue = 1 }]
"#;

const MATHIS: &str = r#"
title = "A small study of loss?"
about = "Two losses."
[study.mathis]
rate = "1Gbit"
rtts = ["20ms", "40ms"]
losses = [0.01, 0.001]
seeds = 1
events = 20
"#;

/// Runs the experiment in `text` and returns what it printed, which is what it wrote.
#[track_caller]
fn found(text: &str, more: &[&str]) -> Value {
    let home = folder(&[("my.toml", text)]);
    found_in(home.path(), more)
}

/// The same in the folder with the experiment.
#[track_caller]
fn found_in(home: &Path, more: &[&str]) -> Value {
    let line = [
        "experiment",
        "run",
        "my.toml",
        "--out",
        "x",
        "--json",
        "--quiet",
        "--with-invalid",
    ];
    let mut command = isobath(home, &[&line[..], more].concat());
    command.env("ISOBATH_NATS_SERVER", fleet::SERVER);
    let ran = Running::start(command).finish();
    let code = ran.code();
    assert!(matches!(code, Some(0 | 1 | 3 | 5)), "{ran:?}");
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let written = fs::read_to_string(home.join("x/experiment.json")).unwrap();
    assert_eq!(found, serde_json::from_str::<Value>(&written).unwrap());
    assert!(home.join("x/index.html").exists());
    check(&found);
    found
}

#[track_caller]
fn check(found: &Value) {
    assert_eq!(found["schema"], "isobath.experiment/1");
    for case in found["cases"].as_array().unwrap() {
        assert!(
            case["name"].is_string() && case["expected"].is_string(),
            "{case}"
        );
        // What was found may be too little to tell.
        assert!(
            case["holds"].is_null() || !case["found"].is_null(),
            "{case}"
        );
        assert_eq!(case["found"].is_null(), case["figures"].is_null(), "{case}");
    }
}

/// The cell in this column of a table's row.
fn cell(found: &Value, table: usize, row: usize, column: &str) -> Value {
    let table = &found["tables"][table];
    let columns = table["columns"].as_array().unwrap();
    let at = columns.iter().position(|one| one["name"] == column);
    table["rows"][row][at.unwrap()].clone()
}

/// Holds btc/cap-figure-2.
#[test]
fn a_grid_compares_ours_the_kernels_and_virtual_time() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let found = found(GRID, &["--jobs", "2"]);
    for row in 0..2 {
        let rate = cell(&found, 0, row, "rate").as_f64().unwrap();
        for column in ["kernel", "ours", "virtual time"] {
            let mbps = cell(&found, 0, row, column).as_f64().unwrap();
            assert!(mbps > 0.0 && mbps < rate, "{column}: {mbps} of {rate}");
        }
    }
    assert!(found["cases"][0]["figures"]["cells"] == 2, "{found:#}");
    assert!(found["figures"].as_array().unwrap().len() >= 8);
}

/// In virtual time figures are the same everywhere: Reno keeps the link busy behind a queue of the pipe.
#[test]
fn a_grid_is_run_whole_in_virtual_time_and_held_against_theory() {
    let home = folder(&[("my.toml", WHOLE_GRID)]);
    let found = found_in(home.path(), &["--world", "sim"]);
    let rows = found["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    for row in 0..8 {
        let figure = |column| cell(&found, 0, row, column).as_f64().unwrap();
        let (loss, queue) = (figure("random loss"), figure("queue"));
        let share = figure("of what the link carries");
        assert!(figure("least") <= figure("throughput"), "{row}");
        match (loss > 0.0, queue < 1.0) {
            (true, _) => assert!((0.0..90.0).contains(&share), "{row}: {share}"),
            (false, true) => assert!((85.0..97.5).contains(&share), "{row}: {share}"),
            (false, false) => assert!((97.5..=100.0).contains(&share), "{row}: {share}"),
        }
    }
    let cases = found["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    // Half of the shorter pipe is too few packets for the formula, so the longer path gets a little more.
    for case in &cases[..4] {
        assert_eq!(case["holds"], true, "{case:#}");
    }
    assert_eq!(cases[4]["figures"]["pairs"], 4);
    // Nothing is simulated again, and what is found is the same.
    let kept = fs::read_dir(home.path().join("x/runs")).unwrap().count();
    assert_eq!(kept, 8);
    assert_eq!(
        found_in(home.path(), &["--world", "sim"])["cases"],
        found["cases"]
    );
}

/// Holds btc/cap-failures, btc/cap-figure-1.
#[test]
fn a_mesh_leaves_a_record_of_every_measurement() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let found = found(STABILITY, &[]);
    let pairs = (0..3).map(|row| cell(&found, 0, row, "here").as_f64().unwrap());
    let failures = found["tables"][1]["rows"].as_array().unwrap().len();
    assert!(pairs.sum::<f64>() >= 1.0 || failures > 0, "{found:#}");
    assert_eq!(cell(&found, 0, 2, "paper"), 181.0);
}

/// Holds btc/cap-mesh, btc/cap-failures.
#[test]
fn a_fleet_makes_the_measurements_of_a_mesh_and_none_twice() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let home = folder(&[("my.toml", MESH)]);
    let made = || {
        let runs = home.path().join("x/runs");
        let is_made = |number: &usize| runs.join(format!("{number:04}.json")).is_file();
        (0..1_000).take_while(is_made).count()
    };
    let found = found_in(home.path(), &[]);
    let first = made();
    assert!(first >= 4, "{found:#}");
    let pairs = (0..3).map(|row| cell(&found, 0, row, "here").as_f64().unwrap());
    let failures = found["tables"][1]["rows"].as_array().unwrap().len();
    assert!(pairs.sum::<f64>() >= 1.0 || failures > 0, "{found:#}");
    // Records came by NATS, with what both ends have seen.
    let record = home.path().join("x/runs/0000/run.json");
    assert!(record.is_file() || failures > 0, "{found:#}");
    // Again, and nothing is left to make.
    found_in(home.path(), &[]);
    assert_eq!(made(), first);
    assert!(!home.path().join(format!("x/fleet-{first}")).exists());
}

/// Holds btc/cap-growth.
#[test]
fn growth_is_studied_in_virtual_time_and_in_labs() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let found = found(GROWTH, &[]);
    let quotient = found["cases"][0]["figures"]["quotient"].as_f64().unwrap();
    assert!((0.5..3.0).contains(&quotient), "{quotient}");
    let labs = found["tables"].as_array().unwrap().len() - 1;
    let mbps = cell(&found, labs, 0, "per window").as_f64().unwrap();
    assert!(mbps > 0.0 && mbps < 10.0, "{mbps}");
}

#[test]
fn more_loss_and_a_longer_round_trip_give_less() {
    let found = found(MATHIS, &[]);
    let mbps = |row| cell(&found, 0, row, "found").as_f64().unwrap();
    assert!(mbps(0) > mbps(1) && mbps(2) > mbps(0), "{found:#}");
}

#[test]
fn an_interrupted_experiment_keeps_what_it_has_and_goes_on() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let long = GRID
        .replace("shortest = \"1s\"", "shortest = \"2s\"")
        .replace("longest = \"1s\"", "longest = \"2s\"");
    let home = folder(&[("my.toml", &long)]);
    let line = [
        "experiment",
        "run",
        "my.toml",
        "--out",
        "x",
        "--jobs",
        "1",
        "--with-invalid",
    ];
    let going = Running::start(isobath(home.path(), &line));
    let runs = home.path().join("x/runs");
    let records = || count(&runs);
    eventually("a second record", || records() == 2);
    going.signal(Signal::INT);
    let ran = going.finish();
    assert_eq!(ran.code(), Some(130), "{ran:?}");
    assert!(
        ran.stderr
            .contains("go on with 'isobath experiment run my.toml"),
        "{}",
        ran.stderr
    );
    let first = fs::read(first_record(&runs)).unwrap();
    let ran = run(home.path(), &line);
    assert!(matches!(ran.code(), Some(0 | 1)), "{ran:?}");
    assert_eq!(
        fs::read(first_record(&runs)).unwrap(),
        first,
        "what was complete was made again"
    );
    assert!(ran.stdout.lines().count() <= 25, "{}", ran.stdout);
    let other = run(home.path(), &[&line[..], &["--seed", "2"]].concat());
    assert_eq!(other.code(), Some(2), "{other:?}");
}

fn count(runs: &Path) -> usize {
    let folders = || {
        entries(runs)
            .into_iter()
            .filter(|name| runs.join(name).is_dir())
    };
    if runs.exists() { folders().count() } else { 0 }
}

/// The `run.json` that was finished first.
fn first_record(runs: &Path) -> std::path::PathBuf {
    let folders = entries(runs)
        .into_iter()
        .map(|name| runs.join(name).join("run.json"));
    let written = |path: &std::path::PathBuf| fs::metadata(path).and_then(|of| of.modified()).ok();
    folders
        .filter(|path| path.exists())
        .min_by_key(written)
        .unwrap()
}

#[test]
fn what_there_is_is_listed_and_what_there_is_not_is_told() {
    let home = folder(&[]);
    let list = run(home.path(), &["experiment", "list"]);
    assert_eq!(list.stdout.lines().count(), 18, "{}", list.stdout);
    let shown = run(home.path(), &["experiment", "show", "btc/mathis"]);
    assert!(shown.stdout.contains("[study.mathis]"), "{}", shown.stdout);
    for (name, study) in [
        ("replay/structure", "replay"),
        ("replay/rtt", "replay"),
        ("manager/step", "trials"),
        ("manager/medianet", "medianet"),
    ] {
        let shown = run(home.path(), &["experiment", "show", name]);
        let table = format!("[study.{study}]");
        assert!(shown.stdout.contains(&table), "{}", shown.stdout);
        assert!(list.stdout.contains(name), "{}", list.stdout);
    }
    for arguments in [
        &["btc/nothing"][..],
        &["no.toml"],
        &["btc/mathis", "--scale", "0"],
    ] {
        let ran = run(home.path(), &[&["experiment", "run"], arguments].concat());
        assert_eq!(ran.code(), Some(2), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

/// Two structures, of so few connections that a run takes some seconds.
const REPLAYS: &str = r#"
title = "What do connections lose?"
about = "Some connections with and without what they wait."
papers = ["J. Aikat 2010"]

[study.replay]
mix = "unc-2008"
share = "1/100"
starts = "6s"
longest = "1s"
warm_up = "1s"
repeats = 1
capacity = 50.0

[study.replay.whole]
share = "1/40"
starts = "20s"
warm_up = "5s"
cool_down = "2s"

[[study.replay.families]]
structures = ["block-sequential", "a-t-b-t"]
rtts = ["usernet"]
"#;

#[test]
fn in_virtual_time_all_models_play_everything() {
    let found = found(REPLAYS, &["--world", "sim"]);
    assert_eq!(found["plan"]["study"]["replay"]["world"], "sim");
    let models = &found["tables"][0];
    assert_eq!(models["rows"].as_array().unwrap().len(), 4, "{models}");
    for row in 0..4 {
        let of = |column| cell(&found, 0, row, column).as_f64().unwrap();
        assert!(of("ended") > 300.0 && of("cut") > 0.0, "{models}");
        assert!(of("load forward") > 0.1, "{models}");
    }
    let cases = found["cases"].as_array().unwrap();
    let captured = cases.iter().find(|case| {
        let name = case["name"].as_str().unwrap();
        name.starts_with("23. ")
    });
    assert_eq!(captured.unwrap()["holds"], true, "{captured:#?}");
}

/// The tables of an experiment's runs in `place`, by their paths below it.
fn tables(place: &Path) -> Vec<(String, Vec<u8>)> {
    let runs = place.join("x/runs");
    let in_run = |run: String| {
        let tables = entries(&runs.join(&run)).into_iter();
        let tables = tables.filter(|name| name.ends_with(".parquet"));
        let read = |name: String| fs::read(runs.join(&run).join(name)).unwrap();
        let found = tables.map(|name| (format!("{run}/{name}"), read(name)));
        found.collect::<Vec<_>>()
    };
    let folders = entries(&runs).into_iter();
    let folders = folders.filter(|name| runs.join(name).is_dir());
    let mut found: Vec<_> = folders.flat_map(in_run).collect();
    found.sort();
    found
}

#[test]
fn taken_up_again_by_other_jobs_runs_in_virtual_time_are_the_same_to_the_octet() {
    let line = |jobs| {
        let line = ["experiment", "run", "my.toml", "--world", "sim", "-q"];
        [&line[..], &["--out", "x", "--jobs", jobs]].concat()
    };
    let places = [(); 2].map(|()| folder(&[("my.toml", REPLAYS)]));
    let [whole, parts] = places.each_ref().map(tempfile::TempDir::path);
    let ran = run(whole, &line("2"));
    assert!(matches!(ran.code(), Some(0 | 1 | 5)), "{ran:?}");
    let going = Running::start(isobath(parts, &line("1")));
    let runs = parts.join("x/runs");
    eventually("a second record", || count(&runs) >= 2);
    going.signal(Signal::KILL);
    going.finish();
    let first = fs::read(first_record(&runs)).unwrap();
    let ran = run(parts, &line("2"));
    assert!(matches!(ran.code(), Some(0 | 1 | 5)), "{ran:?}");
    assert_eq!(fs::read(first_record(&runs)).unwrap(), first, "made again");
    let [whole, parts] = [whole, parts].map(tables);
    let names =
        |of: &[(String, Vec<u8>)]| of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&whole), names(&parts));
    for ((name, one), (_, other)) in whole.iter().zip(&parts) {
        assert!(one == other, "{name}");
    }
}

/// Holds tmix/equal-octets, tmix/core-grid.
#[test]
fn all_models_play_the_connections_that_were_rehearsed_to_their_end() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let found = found(REPLAYS, &[]);
    assert_eq!(found["tables"][0]["rows"][0][0], "drawn");
    let played = |row, column| cell(&found, 0, row, column).as_f64().unwrap();
    let (drawn, kept) = (played(0, "connections"), played(1, "connections"));
    assert!(0.0 < kept && kept < drawn, "{kept} of {drawn}");
    let octets = played(2, "octets of both ends");
    assert!(octets > played(1, "octets of both ends"), "some twice");
    let models = &found["tables"][1];
    let rows = models["rows"].as_array().unwrap().len();
    assert_eq!(rows, 4, "{models}");
    for row in 0..rows {
        let of = |column| cell(&found, 1, row, column).as_f64().unwrap();
        assert!(of("ended") >= kept * 0.95, "{models}");
        assert!(
            (of("octets delivered") - octets).abs() < octets * 0.03,
            "{models}"
        );
    }
}
