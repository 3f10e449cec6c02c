//! Sweeps in virtual time, from outside.

use crate::support::{Ran, Running, eventually, folder, isobath, run, with_own_mounts};
use record::TableReader;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;

const SWEEP: &str = "repetitions = 3\nmeasurements = ['btc --rate 10Mbit --loss 1%']\ntables = ['transfers']\n\
                     [parameters]\nrtt = ['10ms', '40ms']\ncc = ['cubic', 'reno']\nduration = '2s'\n";

record::table! {
    /// A run of the sweep, in part.
    struct SweptRow in "runs" {
        /// Number.
        run: Option<i64>,
        /// A parameter.
        rtt: Option<String>,
        /// Which repetition.
        repetition: Option<i64>,
        /// Whether it measured.
        status: Option<String>,
        /// Why not.
        reason: Option<String>,
        /// A figure.
        throughput_mbps: Option<f64>,
    }
}

record::table! {
    /// A transfer of the sweep, in part.
    struct SweptTransfer in "transfers" {
        /// Number.
        run: u64,
        /// A figure.
        throughput_mbps: Option<f64>,
    }
}

fn rows<T: record::Row>(path: &Path) -> Vec<T> {
    let reader = TableReader::open(path).unwrap();
    reader.flat_map(Result::unwrap).collect()
}

fn sweep(place: &Path, arguments: &[&str]) -> Ran {
    run(place, &[&["sim", "sweep", "--json"], arguments].concat())
}

#[test]
fn a_sweep_that_was_killed_goes_on_and_ends_as_one_that_was_not() {
    let place = folder(&[("s.toml", SWEEP)]);
    let printed = sweep(place.path(), &["s.toml", "-o", "one", "--jobs", "1"])
        .ended(0)
        .json();
    assert_eq!(printed["runs"], 12);
    assert_eq!(printed["complete"], 12);
    let whole = fs::read(place.path().join("one/runs.parquet")).unwrap();
    let swept: Vec<SweptRow> = rows(&place.path().join("one/runs.parquet"));
    let numbers: Vec<_> = swept.iter().filter_map(|row| row.run).collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    // It is the run that one would make by hand.
    let alone = "sim btc --rate 10Mbit --loss 1% --rtt 40ms --cc cubic --duration 2s --seed 2 --json -o alone";
    let alone = run(place.path(), &alone.split(' ').collect::<Vec<_>>())
        .ended(0)
        .json();
    let same = swept.iter().find(|row| {
        // Parameters go by their names, so `cc` first.
        row.rtt.as_deref() == Some("40ms") && row.repetition == Some(2) && row.run <= Some(6)
    });
    let same = same.unwrap();
    assert_eq!(
        same.throughput_mbps,
        alone["summary"]["throughput_mbps"].as_f64()
    );
    let number = same.run.unwrap();
    let tables: Vec<SweptTransfer> =
        rows(&place.path().join(format!("one/transfers/{number}.parquet")));
    assert_eq!(tables.len(), 1);
    assert_eq!(i64::try_from(tables[0].run), Ok(number));
    assert_eq!(tables[0].throughput_mbps, same.throughput_mbps);

    // Killed in the middle of a line, with half of its runs made, on another number of threads.
    fs::create_dir(place.path().join("two")).unwrap();
    fs::copy(
        place.path().join("one/sweep.json"),
        place.path().join("two/sweep.json"),
    )
    .unwrap();
    let lines = fs::read(place.path().join("one/runs.jsonl")).unwrap();
    fs::write(
        place.path().join("two/runs.jsonl"),
        &lines[..lines.len() / 2],
    )
    .unwrap();
    sweep(place.path(), &["--resume", "two", "--jobs", "2"]).ended(0);
    assert!(fs::read(place.path().join("two/runs.parquet")).unwrap() == whole);
    let compared = run(place.path(), &["compare", "one", "--json"])
        .ended(0)
        .json();
    assert_eq!(compared["groups"].as_array().map(Vec::len), Some(4));
}

#[test]
fn who_interrupts_a_sweep_keeps_its_runs_and_is_told_how_to_go_on() {
    let text =
        "repetitions = 200\nmeasurements = ['btc --rate 20Mbit --rtt 20ms --duration 60s']\n";
    let place = folder(&[("s.toml", text)]);
    let child = Running::start(isobath(
        place.path(),
        &["sim", "sweep", "s.toml", "-o", "out"],
    ));
    eventually("the first run is made", || {
        fs::metadata(place.path().join("out/runs.jsonl")).is_ok_and(|file| file.len() > 0)
    });
    child.signal(Signal::INT);
    let ran = child.finish();
    ran.ended(130);
    assert!(
        ran.stderr
            .contains("go on with 'isobath sim sweep --resume out'"),
        "{}",
        ran.stderr
    );
    let lines = fs::read_to_string(place.path().join("out/runs.jsonl")).unwrap();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["status"], "complete");
    }
}

/// On a disk of memory, mounted where only these runs see it: too small, and then large enough.
#[test]
fn a_sweep_whose_disk_is_full_says_so_and_goes_on_when_there_is_room() {
    let place = folder(&[("s.toml", SWEEP)]);
    sweep(place.path(), &["s.toml", "-o", "whole"]).ended(0);
    let script = r#"
mkdir disk && mount -t tmpfs -o size=24k none disk || exit 99
"$0" sim sweep s.toml -q --jobs 1 -o disk/out
status=$?
ls disk/out/transfers | wc -l > made
mount -o remount,size=4m disk || exit 99
"$0" sim sweep -q --resume disk/out >&2 || exit 98
cp -r disk/out kept
exit $status
"#;
    let Some(ran) = with_own_mounts(place.path(), script) else {
        return;
    };
    ran.ended(3);
    assert!(ran.stderr.contains("No space left on device"), "{ran:?}");
    let made = fs::read_to_string(place.path().join("made")).unwrap();
    assert!(made.trim().parse::<u32>().unwrap() < 12, "{made}");
    let [whole, kept] =
        ["whole", "kept"].map(|name| fs::read(place.path().join(name).join("runs.parquet")));
    assert!(whole.unwrap() == kept.unwrap());
    let tables = fs::read_dir(place.path().join("kept/transfers")).unwrap();
    assert_eq!(tables.count(), 12);
}

#[test]
fn what_cannot_be_swept_is_told_in_one_line() {
    let place = folder(&[
        (
            "speed.toml",
            "measurements = ['btc --lab dsl']\nparameters.speed = 9\n",
        ),
        ("verb.toml", "measurements = ['rsvp --lab dsl']\n"),
        (
            "capture.toml",
            "measurements = ['replay v.parquet --lab dsl --capture']\n",
        ),
        (
            "lab.toml",
            "measurements = ['btc']\nlabs = ['no-such-lab']\n",
        ),
        (
            "mixed.toml",
            "measurements = ['btc --rate 1Mbit --rtt 10ms']\n[parameters]\nduration = ['1s', '9999h']\n",
        ),
    ]);
    let refused = |file: &str| {
        sweep(place.path(), &[file, "-o", "out"])
            .refused(2)
            .to_owned()
    };
    assert!(
        refused("speed.toml")
            .contains("btc --lab dsl, speed 9, run 1: error: unexpected argument '--speed'")
    );
    assert!(refused("verb.toml").contains("unrecognized subcommand 'rsvp'"));
    assert!(refused("capture.toml").contains("leave --capture out"));
    assert!(refused("lab.toml").contains("no-such-lab"));
    assert!(!place.path().join("out").exists());
    // What only the run itself finds out is its own failure, and tried again when the sweep goes on.
    let printed = sweep(place.path(), &["mixed.toml", "-o", "out"])
        .ended(3)
        .json();
    assert_eq!(
        (&printed["complete"], &printed["failed"]),
        (&1.into(), &1.into())
    );
    let swept: Vec<SweptRow> = rows(&place.path().join("out/runs.parquet"));
    assert_eq!(swept[1].status.as_deref(), Some("failed"));
    assert!(
        swept[1]
            .reason
            .as_deref()
            .is_some_and(|why| why.contains("at most 3600 s"))
    );
    sweep(place.path(), &["--resume", "out"]).ended(3);
    assert!(
        sweep(place.path(), &["mixed.toml", "-o", "out"])
            .refused(2)
            .contains("--resume")
    );
    assert!(
        sweep(place.path(), &["--resume", "nowhere"])
            .refused(2)
            .contains("there is no folder nowhere")
    );
}

#[test]
fn without_threads_there_is_one_line_and_a_status() {
    let text = "repetitions = 2\nmeasurements = ['btc --rate 20Mbit --rtt 20ms --duration 1s']\n";
    let place = folder(&[("s.toml", text)]);
    let mut ours = isobath(
        place.path(),
        &["sim", "sweep", "s.toml", "-o", "out", "--jobs", "2", "-q"],
    );
    // No address space holds a stack of 2^50 octets: the first thread is refused, whatever memory there is.
    ours.env("RUST_MIN_STACK", (1_u64 << 50).to_string());
    let ran = Running::start(ours).finish();
    assert!(ran.refused(3).contains("gives no more threads"));
}
