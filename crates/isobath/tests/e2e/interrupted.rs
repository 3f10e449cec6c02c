//! Runs that do not come to their end: what was measured is kept, and nothing keeps running.

use crate::support::{
    Machine, Running, SMALL_LAB, Signal, TempDir, children, entries, eventually, folder, is_alive,
    isobath, number, rows, run, short_plan, values, with_own_mounts,
};
use schema::tables::{Counters, Sample};
use std::fs;

fn place() -> TempDir {
    folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(30))])
}

/// A long run in a lab that has been loaded for a while.
fn under_way(place: &TempDir) -> Running {
    let arguments = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "--json",
        "-o",
        "run",
    ];
    let running = Running::start(isobath(place.path(), &arguments));
    let record = place.path().join("run");
    eventually("the load is on disk", || {
        // run.json is there first, then the first flush makes the tables.
        record
            .join("series.arrows")
            .metadata()
            .is_ok_and(|file| file.len() > 20_000)
    });
    running
}

/// What this machine has that a lab could leave behind: interfaces and named namespaces.
fn belongings() -> (Vec<String>, Vec<String>) {
    let interfaces = entries("/sys/class/net".as_ref());
    let named = fs::exists("/run/netns")
        .unwrap()
        .then(|| entries("/run/netns".as_ref()));
    (interfaces, named.unwrap_or_default())
}

#[test]
fn ctrl_c_ends_the_run_in_order_and_keeps_the_record() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let running = under_way(&place);
    let helpers = children(running.id());
    assert!(!helpers.is_empty(), "the far end is a process of its own");
    running.signal(Signal::INT);
    let ran = running.finish();
    let told = ran.ended(130).json();
    assert_eq!(told["status"], "incomplete");
    let codes: Vec<_> = values(&told["warnings"])
        .map(|warning| &warning["code"])
        .collect();
    assert!(codes.contains(&&"interrupted".into()), "{codes:?}");
    assert!(number(&told, "/summary/latency_ms/idle/p50") >= 10.0);
    assert!(
        number(&told, "/summary/throughput_mbps/down") > 0.0,
        "of the time before"
    );
    assert_eq!(
        helpers.into_iter().find(|id| is_alive(*id)),
        None,
        "it outlived the run"
    );
    let record = place.path().join("run");
    let unfinished: Vec<_> = entries(&record)
        .into_iter()
        .filter(|f| f.ends_with(".arrows"))
        .collect();
    assert_eq!(unfinished, [""; 0], "the tables are for good");
    let shown = run(place.path(), &["show", "run", "--json"])
        .ended(0)
        .json();
    assert_eq!(shown, told);
}

#[test]
fn a_second_ctrl_c_is_not_waited_upon() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let running = under_way(&place);
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    running.finish().ended(130);
    run(place.path(), &["show", "run"]).ended(0);
}

#[test]
fn a_run_that_was_killed_left_a_record_and_nothing_else() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let before = belongings();
    let running = under_way(&place);
    let helpers = children(running.id());
    assert!(!helpers.is_empty(), "the far end is a process of its own");
    running.signal(Signal::KILL);
    running.wait();
    eventually("nothing of it is left", || {
        !helpers.iter().any(|id| is_alive(*id))
    });
    assert_eq!(belongings(), before);
    let record = place.path().join("run");
    assert!(rows::<Sample>(&record).len() > 20);
    assert!(!rows::<Counters>(&record).is_empty());
    let card = run(place.path(), &["show", "run"]).ended(0).stdout.clone();
    assert!(
        card.contains("INCOMPLETE") && card.contains("round trips"),
        "{card}"
    );
    let shown = run(place.path(), &["show", "run", "--json"])
        .ended(0)
        .json();
    assert_eq!(shown["status"], "incomplete");
    assert!(
        number(&shown, "/summary/latency_ms/idle/p50") >= 10.0,
        "{shown:#}"
    );
    assert!(
        number(&shown, "/summary/throughput_mbps/down") > 0.0,
        "{shown:#}"
    );
    // And the next one starts.
    run(place.path(), &["lab", "run", "small.toml", "--", "true"]).ended(0);
    assert_eq!(belongings(), before);
}

/// A command that leaves a process behind, and then waits or not.
fn leave_behind(then: &str) -> String {
    format!("setsid sleep 600 >/dev/null 2>&1 & echo $! > escaped.pid; {then}")
}

fn escaped(place: &TempDir) -> Option<u32> {
    let pid = fs::read_to_string(place.path().join("escaped.pid")).ok()?;
    pid.trim().parse().ok()
}

/// Alone, as the next test.
#[test]
fn quiet_what_a_command_leaves_running_ends_with_the_lab() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let command = leave_behind("true");
    let arguments = ["lab", "run", "small.toml", "--", "sh", "-c", &command];
    run(place.path(), &arguments).ended(0);
    let pid = escaped(&place).unwrap();
    eventually("it is swept", || !is_alive(pid));
}

/// Alone: any other lab would do the same.
#[test]
fn quiet_what_a_killed_lab_left_running_is_swept_by_the_next() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let command = leave_behind("exec sleep 600");
    let arguments = ["lab", "run", "small.toml", "--", "sh", "-c", &command];
    let running = Running::start(isobath(place.path(), &arguments));
    eventually("it has escaped", || escaped(&place).is_some());
    running.signal(Signal::KILL);
    running.wait();
    let pid = escaped(&place).unwrap();
    assert!(is_alive(pid), "it was meant to outlive its lab");
    run(place.path(), &["lab", "run", "small.toml", "--", "true"]).ended(0);
    eventually("it is swept", || !is_alive(pid));
}

/// A disk that fills up on the way: 100 kB of memory, mounted where only this run sees it.
#[test]
fn a_disk_that_is_full_ends_the_run_and_what_it_took_is_kept() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    // The copy goes out of the mount namespace, which ends with its last process.
    let script = r#"
mkdir disk kept && mount -t tmpfs -o size=100k none disk || exit 99
"$0" rrul --lab small.toml --plan plan.toml -o disk/run
status=$?
cp -r disk/run kept
exit $status
"#;
    let Some(ran) = with_own_mounts(place.path(), script) else {
        return;
    };
    let line = ran.refused(3);
    assert!(line.starts_with("rrul: cannot write disk/run/"), "{line}");
    assert!(line.contains("No space left on device"), "{line}");
    assert!(!rows::<Sample>(&place.path().join("kept/run")).is_empty());
    let card = run(place.path(), &["show", "kept/run"]);
    assert!(card.ended(0).stdout.contains("INCOMPLETE"), "{card:#?}");
}
