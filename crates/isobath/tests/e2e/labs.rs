//! `isobath lab`: other people's programs inside an emulated network.

use crate::support::{
    Machine, PROGRAM, Running, SMALL_LAB, Signal, children, eventually, folder, has, is_alive,
    isobath, number, run,
};
use record::Record;
use rustix::process::{Pid, kill_process_group};
use schema::tables::Counters;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt as _;

const LABS: [&str; 26] = [
    "lan",
    "fiber",
    "gigabit",
    "cable",
    "cable-hops",
    "dsl",
    "dsl-fq_codel",
    "dsl-ecn",
    "dsl-remark",
    "dsl-boost",
    "shaped",
    "dsl-long",
    "dsl-v4",
    "dsl-v6-blackhole",
    "dsl-icmp",
    "lte",
    "satellite",
    "lossy",
    "weak-client",
    "rtt-fair",
    "vantage-point",
    "manager-dumbbell",
    "fleet",
    "step",
    "dumbbell",
    "wire",
];

#[test]
fn every_lab_on_the_list_is_shown_and_its_toml_is_the_same_lab() {
    let place = folder(&[]);
    let list = run(place.path(), &["lab", "list"]).ended(0).stdout.clone();
    let names: Vec<_> = list
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(names, LABS);
    for name in names {
        let shown = run(place.path(), &["lab", "show", name])
            .ended(0)
            .stdout
            .clone();
        assert!(
            shown.starts_with(&format!("{name}: ")) && shown.contains("round trip"),
            "{shown}"
        );
        let toml = run(place.path(), &["lab", "show", name, "--toml"])
            .ended(0)
            .stdout
            .clone();
        fs::write(place.path().join("copy.toml"), toml).unwrap();
        let copied = run(place.path(), &["lab", "show", "copy.toml"])
            .ended(0)
            .stdout
            .clone();
        let body = |text: &str| text.split_once(": ").unwrap().1.to_owned();
        assert_eq!(body(&copied), body(&shown));
    }
}

#[test]
fn the_exit_status_of_the_command_is_passed_on() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB)]);
    for (command, status) in [("true", 0), ("exit 7", 7), ("kill -KILL $$", 137)] {
        let ran = run(
            place.path(),
            &["lab", "run", "small.toml", "--", "sh", "-c", command],
        );
        // What TCP its programs get is said where it is not what the lab states.
        let said = ran.ended(status).stderr.lines();
        let more = said.filter(|line| !line.starts_with("lab: TCP of other programs"));
        assert_eq!(more.count(), 0, "{command}: {}", ran.stderr);
    }
}

/// What an independent program sends through a link and what the link's record says are one.
#[test]
fn a_record_tells_what_the_links_did_while_a_command_ran() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("iperf3") {
        return;
    }
    let place = folder(&[("small.toml", SMALL_LAB)]);
    let arguments = ["--also", "far=iperf3 -s -1", "--out", "record", "--"];
    let client = ["iperf3", "-c", "far", "-t", "4", "-J"];
    let ran = run(
        place.path(),
        &[&["lab", "run", "small.toml"], &arguments[..], &client].concat(),
    );
    ran.ended(0);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let received = number(&told, "/end/sum_received/bytes");
    let record = Record::open(&place.path().join("record")).unwrap();
    let run_json = serde_json::to_value(record.run()).unwrap();
    assert_eq!(
        (&run_json["test"], &run_json["summary"]["exit_status"]),
        (&json!("lab run"), &json!(0))
    );
    let up = &run_json["summary"]["lab"][0];
    assert_eq!(
        (&up["link"], &up["direction"]),
        (&json!("near-far"), &json!("up"))
    );
    let queue_ms = number(up, "/queue_ms/max");
    // 30 kB at 8 Mbit/s.
    assert!((15.0..=30.5).contains(&queue_ms), "{up:#}");
    let rows = record.rows::<Counters>().unwrap();
    let carried = |way: &str| {
        let rows = rows.iter().filter(|row| row.direction == way);
        rows.map(|row| row.bytes).sum::<u64>() as f64
    };
    // Headers add 72 octets to 1,428; what was sent again is little.
    assert!(
        (1.03..1.15).contains(&(carried("up") / received)),
        "{} {received}",
        carried("up")
    );
    assert!(carried("down") < 0.1 * carried("up"));
    let scorecard = run(place.path(), &["show", "record"])
        .ended(0)
        .stdout
        .clone();
    assert!(
        scorecard.contains("iperf3 -c far") && scorecard.contains("near-far up"),
        "{scorecard}"
    );
    assert!(ran.stderr.contains("near-far up"), "{}", ran.stderr);
    run(place.path(), &["report", "record"]).ended(0);
    let page = fs::read_to_string(place.path().join("record/report.html")).unwrap();
    assert!(page.contains("The longest queue was that of near-far up"));
    // Of what never ran there is no record.
    let none = [
        "lab",
        "run",
        "small.toml",
        "--out",
        "none",
        "--",
        "no-such-program",
    ];
    run(place.path(), &none).refused(2);
    assert!(!place.path().join("none").exists());
}

#[test]
fn a_node_has_its_names_its_addresses_and_nothing_of_this_machine() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB)]);
    let on = |node: &str, command: &[&str]| {
        let place = place.path();
        run(
            place,
            &[&["lab", "run", "small.toml", "--on", node, "--"], command].concat(),
        )
        .ended(0)
        .stdout
        .clone()
    };
    assert!(on("near", &["getent", "ahostsv4", "far"]).starts_with("10.77.0.2"));
    assert!(on("far", &["getent", "ahostsv6", "near"]).starts_with("fd77::1"));
    let interfaces = on("far", &["cat", "/proc/net/dev"]);
    let names: BTreeSet<_> = interfaces
        .lines()
        .filter_map(|line| line.split_once(':'))
        .collect();
    let names: Vec<_> = names.iter().map(|(name, _)| name.trim()).collect();
    assert_eq!(names, ["lo", "to-near"]);
}

#[test]
fn the_shell_is_the_users_own() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB)]);
    let mut command = isobath(place.path(), &["lab", "shell", "small.toml"]);
    command.env("SHELL", "/bin/false");
    Running::start(command).finish().ended(1);
}

/// Ctrl-C goes to the whole group, the end of a session to the program alone.
#[test]
fn ctrl_c_or_termination_ends_the_command_and_then_the_lab() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    for (signal, to_all) in [(Signal::INT, true), (Signal::TERM, false)] {
        let place = folder(&[("small.toml", SMALL_LAB)]);
        let also = ["--also", "far=exec sleep 600"];
        let command = ["--", "sh", "-c", "touch started; exec sleep 600"];
        let arguments = [&["lab", "run", "small.toml"], &also[..], &command].concat();
        let mut lab = isobath(place.path(), &arguments);
        lab.process_group(0);
        let running = Running::start(lab);
        eventually("the command runs", || place.path().join("started").exists());
        let commands = children(running.id());
        assert_eq!(commands.len(), 2);
        if to_all {
            let group = Pid::from_raw(running.id().cast_signed()).unwrap();
            kill_process_group(group, signal).unwrap();
        } else {
            running.signal(signal);
        }
        running.finish().ended(128 + signal.as_raw());
        assert!(!commands.iter().any(|id| is_alive(*id)), "{signal:?}");
    }
}

#[test]
fn what_runs_beside_the_command_ends_with_it_whatever_it_made_of_its_environment() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB)]);
    // Its shell does not pass on that it is to end, and nothing in its environment tells whose it is.
    let also = "far=env -i /bin/sh -c 'echo $$ >pid; exec /bin/sleep 600'; true";
    let waits = ["--", "sh", "-c", "until [ -s pid ]; do sleep 0.1; done"];
    let arguments = [&["lab", "run", "small.toml", "--also", also], &waits[..]].concat();
    run(place.path(), &arguments).ended(0);
    let told = fs::read_to_string(place.path().join("pid")).unwrap();
    let id = told.trim().parse().unwrap();
    eventually("it has ended", || !is_alive(id));
}

#[test]
fn quiet_ping_meets_the_delay_and_the_loss_of_the_link() {
    if !has("ping") {
        return;
    }
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[]);
    let ping = ["ping", "-c", "200", "-i", "0.02", "-W", "2", "server"];
    let said = run(
        place.path(),
        &[&["lab", "run", "lossy", "--"], &ping[..]].concat(),
    )
    .ended(0)
    .stdout
    .clone();
    let (sent, received) = said
        .lines()
        .find_map(|line| {
            let (sent, rest) = line.split_once(" packets transmitted, ")?;
            Some((
                sent.parse::<u32>().ok()?,
                rest.split_once(" received")?.0.parse::<u32>().ok()?,
            ))
        })
        .unwrap_or_else(|| panic!("{said}"));
    // 1 % each way: 4 of 200 are expected, and with this seed some are lost.
    assert_eq!(sent, 200);
    assert!((180..200).contains(&received), "{said}");
    let least = said
        .split_once("min/avg/max/mdev = ")
        .unwrap()
        .1
        .split_once('/')
        .unwrap()
        .0;
    let least: f64 = least.parse().unwrap();
    assert!((40.0..60.0).contains(&least), "{said}");
}

#[test]
fn the_same_seed_loses_the_same_packets_and_another_loses_others() {
    if !has("ping") {
        return;
    }
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let lossy = SMALL_LAB.replace(
        "{ kind = \"delay\"",
        "{ kind = \"loss\", probability = 0.3 }, { kind = \"delay\"",
    );
    let place = folder(&[("lossy.toml", &lossy)]);
    let answered = |seed: &str| -> BTreeSet<String> {
        let ping = [
            "--seed",
            seed,
            "--",
            "ping",
            "-n",
            "-c",
            "40",
            "-i",
            "0.02",
            "-W",
            "1",
            "10.77.0.2",
        ];
        let ran = run(
            place.path(),
            &[&["lab", "run", "lossy.toml"], &ping[..]].concat(),
        );
        let lines = ran.ended(0).stdout.lines();
        let sequence = lines.filter_map(|line| line.split("icmp_seq=").nth(1)?.split(' ').next());
        sequence.map(str::to_owned).collect()
    };
    let first = answered("1");
    assert!((1..40).contains(&first.len()), "{first:?}");
    assert_eq!(first, answered("1"));
    assert_ne!(first, answered("2"));
}

/// An independent program finds the rate that the lab was told to have.
#[test]
fn quiet_iperf3_finds_the_rate_of_the_dsl_line() {
    if !has("iperf3") {
        return;
    }
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[]);
    let lab = [
        "lab",
        "run",
        "dsl",
        "--also",
        "server=iperf3 -s -1 >iperf3.txt",
    ];
    let iperf3 = [
        "--", "iperf3", "-c", "server", "-R", "-J", "-t", "4", "-O", "1", "-C", "cubic",
    ];
    let found = run(place.path(), &[&lab[..], &iperf3].concat())
        .ended(0)
        .json();
    let mbps = number(&found, "/end/sum_received/bits_per_second") / 1e6;
    // 20 Mbit/s of packets of 1,500 octets, of which 1,448 are payload.
    let expected = 20.0 * 1_448.0 / 1_500.0;
    assert!(
        (mbps / expected - 1.0).abs() < 0.1,
        "{mbps:.2} Mbit/s, not {expected:.2}"
    );
}

/// The client inside a lab that somebody else made is a client like any other.
#[test]
fn a_lab_inside_a_lab_starts() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("small.toml", SMALL_LAB)]);
    let inner = [
        PROGRAM,
        "lab",
        "run",
        "small.toml",
        "--",
        "sh",
        "-c",
        "exit 5",
    ];
    run(
        place.path(),
        &[&["lab", "run", "small.toml", "--"], &inner[..]].concat(),
    )
    .ended(5);
}
