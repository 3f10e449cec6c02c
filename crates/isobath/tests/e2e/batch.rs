//! Batches that are killed, interrupted, resumed and compared.

use crate::support::{
    Machine, Ran, Running, SMALL_LAB, Signal, TempDir, children, entries, eventually, folder,
    is_alive, isobath, run, short_plan, values,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

const BATCH: &str = r#"
name = "short"
repetitions = 2
pause = "100ms"
plans = ["load.toml", "probes.toml"]
labs = ["small.toml", "fair.toml"]
"#;

/// Round trips alone, for two seconds.
const PROBES: &str = r#"
summary = "round trips"
idle_before = "500ms"
duration = "1s"
idle_after = "500ms"
[[probe]]
kind = "udp_rr"
"#;

fn place() -> TempDir {
    let fair = SMALL_LAB.replace("kind = \"fifo\", bytes = \"30kB\"", "kind = \"fq_codel\"");
    folder(&[
        ("batch.toml", BATCH),
        ("load.toml", &short_plan(1)),
        ("probes.toml", PROBES),
        ("small.toml", SMALL_LAB),
        ("fair.toml", &fair),
    ])
}

/// `batch.json` in `out`.
fn state(place: &TempDir) -> Value {
    let text = fs::read_to_string(place.path().join("out/batch.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// How many cells have come to an end.
fn ended(state: &Value) -> usize {
    let ended = |cell: &&Value| !["waiting", "running"].contains(&cell["state"].as_str().unwrap());
    values(&state["cells"]).filter(ended).count()
}

/// A batch in `out` of which some cells are done and one is being measured.
fn under_way(place: &TempDir) -> Running {
    let arguments = ["batch", "batch.toml", "-o", "out", "--seed", "5"];
    let running = Running::start(isobath(place.path(), &arguments));
    eventually("the third cell measures", || {
        let path = place.path().join("out/batch.json");
        let Some(text) = fs::read_to_string(path).ok() else {
            return false;
        };
        let state: Value = serde_json::from_str(&text).unwrap();
        let current = values(&state["cells"]).find(|cell| cell["state"] == "running");
        let folder = current.and_then(|cell| cell["folder"].as_str());
        let samples = folder.map(|name| place.path().join("out").join(name).join("samples.arrows"));
        ended(&state) >= 2 && samples.is_some_and(|samples| samples.exists())
    });
    running
}

/// Ids and folders of the cells that are complete.
fn complete(place: &TempDir) -> Vec<(String, String)> {
    let state = state(place);
    let complete = values(&state["cells"]).filter(|cell| cell["state"] == "complete");
    complete
        .map(|cell| {
            let folder = cell["folder"].as_str().unwrap();
            let run = fs::read_to_string(place.path().join("out").join(folder).join("run.json"));
            let run: Value = serde_json::from_str(&run.unwrap()).unwrap();
            (folder.to_owned(), run["id"].as_str().unwrap().to_owned())
        })
        .collect()
}

/// It came to its end: 0, or 4 when this machine was too busy for some cells.
#[track_caller]
fn finished(ran: &Ran) -> &Ran {
    assert!([Some(0), Some(4)].contains(&ran.code()), "{ran:#?}");
    ran
}

#[test]
fn a_batch_that_was_killed_goes_on_where_it_was() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let running = under_way(&place);
    let runs = children(running.id());
    running.signal(Signal::KILL);
    running.wait();
    let before = complete(&place);
    let killed = state(&place);
    let ran = run(place.path(), &["batch", "--resume", "out"]);
    finished(&ran);
    assert!(
        !runs.iter().any(|id| is_alive(*id)),
        "two runs at once: the killed batch's and the resumed one's"
    );
    let after = state(&place);
    assert_eq!(ended(&after), 8, "{after:#}");
    assert_eq!(after["order"], killed["order"]);
    let kept = complete(&place);
    assert!(
        before.iter().all(|cell| kept.contains(cell)),
        "a complete cell was run again: {before:?} {kept:?}"
    );
    let folders: Vec<_> = values(&after["cells"])
        .map(|cell| cell["folder"].as_str().unwrap().to_owned())
        .collect();
    let mut there = entries(&place.path().join("out"));
    there.retain(|name| name != "set-aside" && name != "batch.json");
    assert_eq!(there, folders, "one record for each cell");
    let aside = entries(&place.path().join("out/set-aside"));
    let running = values(&killed["cells"]).find(|cell| cell["state"] == "running");
    let name = running.unwrap()["folder"].as_str().unwrap();
    assert!(aside.contains(&format!("{name}.1")), "{aside:?}");
    run(
        &place.path().join("out/set-aside"),
        &["show", &format!("{name}.1")],
    )
    .ended(0);
    compared(&place, &ran);
}

/// The comparison of all eight runs, with those that this machine was too busy for.
#[track_caller]
fn compared(place: &TempDir, ran: &Ran) {
    for group in [
        "load.toml, small.toml",
        "load.toml, fair.toml",
        "probes.toml, fair.toml",
    ] {
        assert!(ran.stdout.contains(group), "{ran:#?}");
    }
    assert!(
        ran.stdout.contains("order shuffled with --seed 5"),
        "{ran:#?}"
    );
    let page = run(place.path(), &["compare", "out", "--all"]);
    for part in [
        "B   load.toml, fair.toml  (2 of 2 runs)",
        "RTT loaded p50, ms",
        "D against A",
    ] {
        assert!(page.ended(0).stdout.contains(part), "{page:#?}");
    }
    assert!(page.stdout.lines().all(|line| line.chars().count() <= 100));
    let json = run(place.path(), &["compare", "out", "--all", "--json"]);
    let json = json.ended(0).json();
    let figure = values(&json["figures"]).find(|figure| figure["name"] == "throughput down");
    let groups = &figure.unwrap()["groups"];
    assert_eq!(groups[0]["n"], 2);
    assert!(groups[0]["mean"].as_f64().unwrap() > 0.5, "{groups}");
    assert!(groups[2].is_null(), "probes carry no load: {groups}");
}

#[test]
fn ctrl_c_ends_the_run_under_way_in_order_and_says_how_to_go_on() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let running = under_way(&place);
    running.signal(Signal::INT);
    let ran = running.finish();
    ran.ended(130);
    let last = ran.stderr.lines().last().unwrap();
    assert!(
        last.contains("of 8 cells complete - go on with 'isobath batch --resume out'"),
        "{ran:#?}"
    );
    assert_eq!(ran.stdout, "");
    let state = state(&place);
    let cut: Vec<_> = values(&state["cells"])
        .filter(|cell| cell["state"] == "incomplete")
        .collect();
    assert!(cut.len() <= 1, "{state:#}");
    assert!(values(&state["cells"]).all(|cell| cell["state"] != "running"));
    for cell in cut {
        assert_eq!(cell["exit_status"], 130);
        let record = place
            .path()
            .join("out")
            .join(cell["folder"].as_str().unwrap());
        let journals: Vec<_> = entries(&record)
            .into_iter()
            .filter(|name| name.ends_with(".arrows"))
            .collect();
        assert_eq!(journals, [""; 0], "the record was closed");
    }
    let dry = run(place.path(), &["batch", "--resume", "out", "--dry-run"]);
    let due = 8 - complete(&place).len();
    assert!(
        dry.ended(0)
            .stdout
            .contains(&format!("{due} cells, about ")),
        "{dry:#?}"
    );
}

#[test]
fn a_cell_that_cannot_be_measured_is_tried_again_and_does_not_stop_the_others() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    // Port 1 of this machine answers nobody.
    let batch = "retries = 1\npause = '0s'\nplans = ['probes.toml']\nlabs = ['small.toml']\n\
                 hosts = [{ host = '127.0.0.1:1' }]";
    fs::write(place.path().join("batch.toml"), batch).unwrap();
    let arguments = ["batch", "batch.toml", "-o", "out", "--no-shuffle", "--json"];
    let ran = run(place.path(), &arguments);
    let told = ran.ended(3).json();
    assert_eq!(told["batch"], state(&place));
    assert_eq!(told["batch"]["order"], serde_json::json!([1, 2]));
    let failed = &told["batch"]["cells"][1];
    assert_eq!(
        (&failed["state"], &failed["attempts"]),
        (&"failed".into(), &2.into())
    );
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("127.0.0.1:1"), "{reason}");
    assert!(told["batch"]["cells"][0]["state"] != "failed", "{told:#}");
}

#[test]
fn a_batch_that_cannot_be_is_refused_before_anything_is_run() {
    let place = place();
    let refused = |text: &str, said: &str| {
        fs::write(place.path().join("wrong.toml"), text).unwrap();
        let ran = run(place.path(), &["batch", "wrong.toml", "-o", "none"]);
        let line = ran.refused(2);
        assert!(line.starts_with("batch: ") && line.contains(said), "{line}");
        assert!(!place.path().join("none").exists());
    };
    let with = |line: &str| format!("plans = ['ping']\nlabs = ['lan']\n{line}");
    refused("plans = [", "wrong.toml line 1: ");
    refused(
        &with("speed = 9"),
        "wrong.toml line 3: unknown field `speed`",
    );
    refused(
        &with("parameters.dscp = 'XX'"),
        "ping, lan, XX, run 1: error: invalid value 'XX'",
    );
    refused(
        &with("parameters.depth = 3"),
        "unexpected argument '--depth'",
    );
    refused("plans = ['rul']\nlabs = ['lan']", "no plan is called 'rul'");
    refused("plans = ['ping']\nlabs = ['dls']", "no lab is called 'dls'");
    refused(
        "plans = ['gone.toml']\nlabs = ['lan']",
        "gone.toml: No such file",
    );
    refused(
        "plans = ['rrul']\nlabs = ['lan']\nduration = '1s'",
        "rrul, lan, run 1: a load of 1s is over before",
    );
    refused(
        "plans = ['ping']\nhosts = [{ host = 'far', key_env = 'NO_SUCH_KEY' }]",
        "the environment has no NO_SUCH_KEY, the access key of far",
    );
    let ran = run(place.path(), &["batch", "gone.toml"]);
    assert!(ran.refused(2).contains("gone.toml: No such file"));
}

#[test]
fn a_batch_that_cannot_go_on_is_told_in_one_line() {
    let place = place();
    let at = |path: &str| place.path().join(path);
    let resume = |said: &str| {
        let ran = run(place.path(), &["batch", "--resume", "out"]);
        assert!(ran.refused(2).contains(said), "{ran:#?}");
    };
    resume("there is no folder out");
    fs::create_dir(at("out")).unwrap();
    resume("out holds no batch.json");
    // A batch whose only place is a port that answers nobody needs no networks.
    let hosts = "pause = '0s'\nplans = ['probes.toml']\nhosts = [{ host = '127.0.0.1:1' }]";
    fs::write(at("batch.toml"), hosts).unwrap();
    run(place.path(), &["batch", "batch.toml", "-o", "out", "-q"]).ended(3);
    let whole = fs::read(at("out/batch.json")).unwrap();
    fs::write(at("out/batch.json"), &whole[..whole.len() / 2]).unwrap();
    resume("out/batch.json is damaged: ");
    fs::write(at("out/batch.json"), &whole).unwrap();
    changed(&at("probes.toml"), &resume);
    changed(&at("batch.toml"), &resume);
    let ran = run(place.path(), &["compare", "out"]);
    assert!(ran.refused(3).contains("no run among 1 is complete"));
    run(place.path(), &["batch", "--resume", "out", "-q"]).ended(3);
}

/// A file of the batch that has changed is refused, until it is as it was.
fn changed(path: &Path, resume: &dyn Fn(&str)) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, format!("{text}\n# changed")).unwrap();
    resume("has changed since the batch began");
    fs::write(path, text).unwrap();
}

#[test]
fn a_batch_of_any_measurement_is_compared_by_its_own_figures() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let batch = "repetitions = 2\npause = \"50ms\"\nmeasurements = [\"estimate rtt\", \"btc --segments 100\"]\nlabs = [\"small.toml\", \"fair.toml\"]\n";
    fs::write(place.path().join("any.toml"), batch).unwrap();
    let ran = run(
        place.path(),
        &["batch", "any.toml", "-o", "out", "--no-shuffle", "-q"],
    );
    finished(&ran);
    let compared = run(place.path(), &["compare", "out", "--all", "--json"])
        .ended(0)
        .json();
    let names: Vec<_> = values(&compared["groups"])
        .map(|group| group["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(names[0], "estimate rtt, small.toml");
    let row = |name: &str| {
        values(&compared["figures"])
            .find(|row| row["name"] == name)
            .unwrap()
            .clone()
    };
    let value = row("value");
    assert_eq!(value["unit"], "ms");
    // Round trips of the small lab: 5 ms each way. Bulk transfers have none.
    let mean = value["groups"][0]["mean"].as_f64().unwrap();
    assert!((10.0..20.0).contains(&mean), "{value}");
    assert!(value["groups"][2].is_null());
    assert!(row("throughput")["groups"][2]["mean"].as_f64().unwrap() > 0.1);
    let page = run(place.path(), &["compare", "out", "--all"]);
    assert!(
        page.ended(0).stdout.contains("throughput, Mbit/s"),
        "{page:?}"
    );
}
