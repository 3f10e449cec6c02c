//! Command lines that ask for what cannot be: one line that says why, the promised status, and nothing left behind.

use crate::support::{Machine, SMALL_LAB, TempDir, entries, folder, run, short_plan};
use std::fs;

/// The files that every case finds.
fn place() -> TempDir {
    let broken_lab = "summary = 'x'\nclient = 'a'\nserver =\n";
    let broken_plan = "summary = 'x'\nduration = '3s'\nspeed = 9\n";
    let place = folder(&[
        ("small.toml", SMALL_LAB),
        ("plan.toml", &short_plan(2)),
        ("broken-lab.toml", broken_lab),
        ("broken-plan.toml", broken_plan),
        ("no-way.toml", &SMALL_LAB.replace("\"8Mbit\"", "\"fast\"")),
        (
            "far-off.toml",
            &SMALL_LAB.replace(
                "between = [\"near\", \"far\"]",
                "between = [\"near\", \"moon\"]",
            ),
        ),
        ("a-file", ""),
    ]);
    fs::create_dir(place.path().join("full")).unwrap();
    fs::write(place.path().join("full/mine"), "keep me").unwrap();
    place
}

#[track_caller]
fn refused(arguments: &[&str], code: i32, said: &[&str]) {
    let place = place();
    let before = entries(place.path());
    let ran = run(place.path(), arguments);
    let line = ran.refused(code);
    for part in said {
        assert!(line.contains(part), "'{part}' is not in: {line}");
    }
    assert_eq!(
        entries(place.path()),
        before,
        "{arguments:?} left something behind"
    );
    assert_eq!(
        entries(&place.path().join("full")),
        ["mine"],
        "somebody else's file"
    );
}

#[test]
fn a_bare_number_is_seconds_wherever_a_duration_is_asked_for() {
    for verb in [&["rrul"][..], &["btc"], &["estimate", "rtt"]] {
        // The time is understood; the lab is not.
        let wrong = ["--lab", "dls", "--duration", "10"];
        refused(&[verb, &wrong].concat(), 2, &["no lab is called 'dls'"]);
    }
    let unclear = ["btc", "--lab", "dsl", "--duration", "10x"];
    refused(&unclear, 2, &["'10x' is not a time"]);
}

#[test]
fn a_name_that_is_not_known_is_answered_with_those_that_are() {
    refused(
        &["rrul", "--lab", "dls"],
        2,
        &["rrul: no lab is called 'dls'", "dsl-fq_codel"],
    );
    refused(
        &["rrul", "--lab", "dsl", "--plan", "rul"],
        2,
        &["no plan is called 'rul'", "--list-plans"],
    );
    refused(
        &["lab", "show", "dls"],
        2,
        &["lab: no lab is called 'dls'", "dsl-fq_codel"],
    );
    refused(
        &["lab", "run", "dls", "--", "true"],
        2,
        &["no lab is called 'dls'"],
    );
    refused(
        &["rrul", "--lab", "gone.toml"],
        2,
        &["cannot read gone.toml: No such file"],
    );
    refused(
        &["rrul", "--lab", "dsl", "--plan", "gone.toml"],
        2,
        &["cannot read gone.toml: No such"],
    );
}

#[test]
fn a_file_that_cannot_be_understood_is_named_with_the_line() {
    refused(
        &["rrul", "--lab", "broken-lab.toml"],
        2,
        &["broken-lab.toml line 3: "],
    );
    refused(
        &["lab", "show", "broken-lab.toml"],
        2,
        &["broken-lab.toml line 3: "],
    );
    refused(
        &["rrul", "--lab", "no-way.toml"],
        2,
        &["no-way.toml line ", "fast"],
    );
    refused(
        &["rrul", "--lab", "far-off.toml"],
        2,
        &["far-off.toml: ", "moon"],
    );
    let plan = ["rrul", "--lab", "small.toml", "--plan", "broken-plan.toml"];
    refused(
        &plan,
        2,
        &["broken-plan.toml line 3: ", "`speed`", "`duration`"],
    );
}

#[test]
fn a_load_too_short_to_settle_is_refused_before_the_run() {
    let arguments = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "--duration",
        "400ms",
    ];
    refused(&arguments, 2, &["400ms", "use a longer --duration"]);
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_answered_with_those_it_has() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let kernel = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    let mut said = vec!["congestion control 'nosuch'"];
    said.extend(kernel.split_whitespace());
    let arguments = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "--cc",
        "nosuch",
    ];
    refused(&arguments, 2, &said);
    refused(&[&arguments[..], &["-o", "run"]].concat(), 2, &said);
}

#[test]
fn a_place_that_does_not_take_the_record_is_told_before_the_run() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let into = |out| {
        [
            "rrul",
            "--lab",
            "small.toml",
            "--plan",
            "plan.toml",
            "-o",
            out,
        ]
    };
    refused(&into("full"), 2, &["full is not an empty folder", "--out"]);
    refused(
        &into("a-file/run"),
        3,
        &["cannot write a-file/run: Not a directory", "--out"],
    );
    refused(
        &into("/proc/run"),
        3,
        &["cannot write /proc/run: No such file", "--out"],
    );
}

#[test]
fn a_lab_command_that_cannot_start_is_told() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let small = |more: &[&'static str]| [&["lab", "run", "small.toml"], more].concat();
    refused(
        &small(&["--", "/no-such-program"]),
        2,
        &["no-such-program: No such file"],
    );
    refused(
        &small(&["--on", "mars", "--", "true"]),
        2,
        &["'mars'", "near, far"],
    );
    refused(
        &small(&["--also", "mars=true", "--", "true"]),
        2,
        &["'mars'", "near, far"],
    );
    refused(
        &small(&["--also", "mars", "--", "true"]),
        2,
        &["'mars' is not NODE=COMMAND"],
    );
}

#[test]
fn what_is_no_record_is_told() {
    refused(&["show", "gone"], 3, &["gone holds no run.json"]);
    refused(&["show", "full"], 3, &["full holds no run.json"]);
    refused(&["export", "--csv", "full"], 3, &["full holds no run.json"]);
}

/// The parser's own complaints take several lines, with a hint at the usage.
#[test]
fn what_the_parser_refuses_ends_with_status_2() {
    let place = place();
    let cases: &[&[&str]] = &[
        &["rrul"],
        &["rrul", "192.0.2.1", "--lab", "small.toml"],
        &["rrul", "--lab", "small.toml", "--duration", "soon"],
        &["rrul", "--lab", "small.toml", "--dscp", "GOLD"],
        &["rrul", "--lab", "small.toml", "-4", "-6"],
        &["rrul", "192.0.2.1", "--key", "iso1-mistyped"],
        &["export", "full"],
        &["serve", "--ephemeral", "--identity", "x"],
        &["lab", "run", "small.toml"],
        &["sound", "the", "depth"],
    ];
    for arguments in cases {
        let ran = run(place.path(), arguments);
        assert_eq!(ran.ended(2).stdout, "", "{arguments:?}");
        assert!(
            ran.stderr.starts_with("error: "),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
}
