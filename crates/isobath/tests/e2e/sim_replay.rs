//! Replays in virtual time, from outside, and beside the same replay on real sockets.

use crate::replay::vectors;
use crate::support::{Machine, folder, has, number, rows, run, with_own_mounts};
use schema::replay::tables::{Connection, Goodput, Offered};
use schema::tables::Counters;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

fn simulated(place: &Path, out: &str, more: &[&str]) -> Value {
    let arguments = [&["sim", "replay", "v.cvec", "--json", "-o", out], more].concat();
    run(place, &arguments).ended(0).json()
}

#[test]
fn everything_is_said_and_heard_and_the_same_seed_gives_the_same_tables() {
    let place = folder(&[("v.cvec", &vectors(120))]);
    let printed = simulated(place.path(), "one", &[]);
    let summary = &printed["summary"];
    assert_eq!(printed["status"], "complete");
    assert_eq!(summary["connections"]["completed"], 120);
    assert_eq!(summary["bytes"]["sent"], summary["bytes"]["planned"]);
    assert_eq!(summary["drops"], 0);
    // 96 sequential connections of two epochs; the shortest round trip is 11 ms, the wait 600 ms.
    assert_eq!(summary["response_ms"]["n"], 192);
    assert!(number(summary, "/response_ms/min") >= 11.0);
    assert!(number(summary, "/start_lateness_ms/max") <= 0.0);
    assert!(number(summary, "/active_connections/max") > 1.0);
    let heard: Vec<Goodput> = rows(&place.path().join("one"));
    let heard: u64 = heard.iter().map(|row| row.bytes).sum();
    assert_eq!(summary["bytes"]["sent"], heard);
    let _ = simulated(place.path(), "two", &[]);
    for entry in fs::read_dir(place.path().join("one")).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |run: &str| fs::read(place.path().join(run).join(&name)).unwrap();
        let is_same = read("one") == read("two");
        assert!(is_same || name == "run.json", "{name:?}");
    }
    let shown = run(place.path(), &["show", "one"]);
    let card = &shown.ended(0).stdout;
    assert!(
        card.contains("dumbbell, simulated") && card.contains("120 completed"),
        "{card}"
    );
    run(place.path(), &["compare", "one", "two"]).ended(0);
    run(place.path(), &["report", "one", "-o", "page.html"]).ended(0);
}

/// What tshark reads in the capture of the run `name`: the values of `fields`, packet by packet.
pub(crate) fn dissected(place: &Path, name: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command
        .arg("-r")
        .arg(place.join(name).join("bottleneck.pcapng"));
    for check in ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE"] {
        command.args(["-o", check]);
    }
    command.args(["-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let said = command.output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let text = String::from_utf8(said.stdout).unwrap();
    let values = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().map(values).collect()
}

#[test]
fn a_capture_holds_what_was_played_and_tshark_finds_nothing_wrong_with_it() {
    let place = folder(&[("v.cvec", &vectors(120))]);
    let printed = simulated(place.path(), "run", &["--capture"]);
    assert_eq!(printed["status"], "complete");
    let verified = run(place.path(), &["replay", "verify", "run", "--json"]);
    let found: Value = serde_json::from_str(&verified.ended(0).stdout).unwrap();
    assert_eq!(found["verdict"], "PASS", "{found}");
    assert_eq!(
        (&found["found"], &found["same_adus"]),
        (&120.into(), &120.into())
    );
    assert!(number(&found, "/rtt_error_ms/max") < 0.1, "{found}");
    if !has("tshark") {
        return;
    }
    let fields = [
        "frame.len",
        "tcp.len",
        "ip.checksum.status",
        "tcp.analysis.lost_segment",
        "tcp.analysis.ack_lost_segment",
        "tcp.analysis.retransmission",
        "_ws.malformed",
    ];
    let packets = dissected(place.path(), "run", &fields);
    let counters: Vec<Counters> = rows(&place.path().join("run"));
    let counted = |of: fn(&Counters) -> u64| counters.iter().map(of).sum::<u64>();
    assert_eq!(packets.len() as u64, counted(|row| row.packets));
    let sum = |field: usize| {
        let values = packets.iter().map(|packet| packet[field].parse::<u64>());
        values.map(Result::unwrap).sum::<u64>()
    };
    assert_eq!(sum(0), counted(|row| row.bytes), "octets of IP packets");
    assert_eq!(printed["summary"]["bytes"]["sent"], sum(1));
    for packet in &packets {
        assert_eq!(packet[2], "1", "a bad checksum: {packet:?}");
        assert!(packet[3..].iter().all(String::is_empty), "{packet:?}");
    }
}

#[test]
fn a_capture_behind_loss_acknowledges_nothing_that_was_not_sent() {
    let place = folder(&[("v.cvec", &vectors(60))]);
    let _ = simulated(place.path(), "run", &["--lab", "lossy", "--capture"]);
    let connections: Vec<Connection> = rows(&place.path().join("run"));
    let resent = |row: &Connection| u64::from(row.retransmits.unwrap());
    assert!(connections.iter().map(resent).sum::<u64>() > 10);
    if !has("tshark") {
        return;
    }
    let fields = [
        "tcp.stream",
        "tcp.srcport",
        "tcp.dstport",
        "tcp.nxtseq",
        "tcp.ack",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "frame.len",
        "ip.len",
    ];
    // The end of what was seen, by connection and port of its sender.
    let mut ends: HashMap<(u64, u64), u64> = HashMap::new();
    let mut blocks = 0;
    for packet in dissected(place.path(), "run", &fields) {
        let value = |field: usize| packet[field].parse::<u64>().unwrap_or(0);
        let edges = |field: usize| {
            let edges = packet[field].split(',').filter(|edge| !edge.is_empty());
            let edges = edges.map(|edge| edge.parse::<u64>().unwrap());
            edges.collect::<Vec<_>>()
        };
        assert_eq!(value(7), value(8), "{packet:?}");
        let end = ends.entry((value(0), value(1))).or_default();
        *end = value(3).max(*end);
        let peer = ends.get(&(value(0), value(2))).copied();
        // What was lost before it came here is acknowledged when it has come again.
        assert!(value(4) <= peer.unwrap_or(0), "{packet:?} {peer:?}");
        for (left, right) in edges(5).into_iter().zip(edges(6)) {
            assert!(left < right && Some(right) <= peer, "{packet:?} {peer:?}");
            blocks += 1;
        }
    }
    assert!(blocks > 10, "selective acknowledgements: {blocks}");
    // Each end's numbers begin with its SYN and end with its FIN.
    let planned = connections.iter();
    let planned: u64 = planned
        .map(|row| row.request_bytes + row.response_bytes)
        .sum();
    assert_eq!(ends.values().sum::<u64>(), planned + 2 * ends.len() as u64);
}

#[test]
fn a_narrow_link_queues_and_what_is_left_at_the_end_is_cut() {
    let place = folder(&[("v.cvec", &vectors(60))]);
    let options = [
        "--bottleneck",
        "2Mbit",
        "--duration",
        "5s",
        "--structure",
        "block-sequential",
    ];
    let printed = simulated(place.path(), "run", &options);
    let summary = &printed["summary"];
    assert_eq!(summary["connections"]["planned"], 50);
    assert!(number(summary, "/connections/unfinished") > 0.0);
    assert!(number(summary, "/queue_ms/max") > 100.0, "{summary}");
    let carried = number(summary, "/throughput_mbps/forward");
    // A packet at either edge of a second may count whole.
    assert!(carried > 1.5 && carried < 2.01, "{carried}");
}

#[test]
fn who_waits_longer_than_any_patience_is_waited_for() {
    let vector = "SEQ 0 1 1 1\nw 65535 65535\nr 10000\nl 0.000000 0.000000\n> 100\nt 1200000000\n< 5000\nt 0\n";
    let place = folder(&[("v.cvec", vector)]);
    let printed = simulated(place.path(), "run", &[]);
    assert_eq!(printed["status"], "complete");
    assert_eq!(printed["summary"]["connections"]["completed"], 1);
    assert!(number(&printed["summary"], "/response_ms/max") >= 1.2e6);
}

#[test]
fn a_pause_longer_than_any_patience_is_passed() {
    let both = ["0", "10000000000"].map(|start| one(start, "100", "0", "10000"));
    let place = folder(&[("v.cvec", &both.concat())]);
    let printed = simulated(place.path(), "run", &["--lab", "wire"]);
    assert_eq!(printed["status"], "complete");
    assert_eq!(printed["summary"]["connections"]["completed"], 2);
}

#[test]
fn a_lab_that_does_not_give_round_trips_is_told() {
    let place = folder(&[("v.cvec", &vectors(20))]);
    let codes = |printed: &Value| -> Vec<String> {
        let warnings = printed["warnings"].as_array().unwrap().iter();
        warnings
            .map(|warning| warning["code"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(codes(&simulated(place.path(), "own", &[])).is_empty());
    let labs = simulated(place.path(), "dsl", &["--lab", "dsl"]);
    assert!(codes(&labs).contains(&"rtts_left_out".to_owned()), "{labs}");
}

#[test]
fn what_cannot_be_played_is_refused_before_anything_is_written() {
    let place = folder(&[("v.cvec", &vectors(2)), ("none.cvec", "")]);
    for (arguments, says) in [
        (&["none.cvec"][..], "no vector"),
        (&["v.cvec", "--lab", "nowhere"], "nowhere"),
        (&["v.cvec", "--cc", "bbr"], "bbr"),
        (
            &["v.cvec", "--lab", "wire", "--bottleneck", "1Mbit"],
            "no link of this lab has a rate",
        ),
        (
            &["v.cvec", "--lab", "wire", "--capture"],
            "no bottleneck to capture at",
        ),
    ] {
        let ran = run(place.path(), &[&["sim", "replay"], arguments].concat());
        assert!(ran.ended(2).stderr.contains(says), "{}", ran.stderr);
    }
}

/// A connection that says `bytes` after a start and a wait of so many microseconds, over a round trip of as many.
fn one(start: &str, bytes: &str, wait: &str, rtt: &str) -> String {
    format!(
        "SEQ {start} 1 1 1\nw 65535 65535\nr {rtt}\nl 0.000000 0.000000\n> {bytes}\nt {wait}\n< 5000\nt 0\n"
    )
}

#[test]
fn what_is_cut_or_absurd_is_refused_in_a_line() {
    let most = u64::MAX.to_string();
    let whole = one("0", "100", "0", "10000");
    let place = folder(&[
        ("whole.cvec", &whole),
        ("cut.cvec", whole.split('>').next().unwrap()),
        ("huge.cvec", &one("0", &most, "0", "10000")),
        ("late.cvec", &one(&most, "100", "0", "10000")),
        ("slow.cvec", &one("0", "100", &most, "10000")),
        ("far.cvec", &one("0", "100", "0", &most)),
    ]);
    let convert = ["trace", "convert", "whole.cvec", "-o", "whole.parquet"];
    run(place.path(), &convert).ended(0);
    let table = fs::read(place.path().join("whole.parquet")).unwrap();
    fs::write(place.path().join("cut.parquet"), &table[..table.len() / 2]).unwrap();
    for (file, says) in [
        ("cut.cvec", "has no ADUs"),
        ("cut.parquet", "is damaged"),
        ("huge.cvec", "packets"),
        ("late.cvec", "is over on day"),
        ("slow.cvec", "is over on day"),
        ("far.cvec", "is over on day"),
    ] {
        let ran = run(place.path(), &["sim", "replay", file, "-o", "run"]);
        let said = &ran.ended(3).stderr;
        assert!(said.contains(says) && said.lines().count() == 1, "{said}");
        assert!(!place.path().join("run").exists(), "{file}");
    }
}

/// A circle of three routers, of which the shorter way is taken; and an island.
#[test]
fn a_lab_with_a_loop_is_played_over_and_one_without_a_way_is_refused() {
    let lab = |links: &[[&str; 2]]| {
        let link = |[from, to]: &[&str; 2]| {
            let way = r#"[{ kind = "delay", delay = "5ms" }]"#;
            format!("[[link]]\nbetween = ['{from}', '{to}']\nup = {way}\ndown = {way}\n")
        };
        let head = "summary = 'a circle'\nclient = 'a'\nserver = 'b'\nhosts = ['a', 'b']\nrouters = ['x', 'y', 'z']\n";
        head.to_owned() + &links.iter().map(link).collect::<String>()
    };
    let circle = [["a", "x"], ["x", "y"], ["y", "z"], ["z", "x"], ["z", "b"]];
    let place = folder(&[
        ("v.cvec", &one("0", "100", "0", "10000")),
        ("circle.toml", &lab(&circle)),
        ("island.toml", &lab(&circle[..4])),
    ]);
    let printed = simulated(place.path(), "run", &["--lab", "circle.toml"]);
    assert_eq!(printed["summary"]["connections"]["completed"], 1);
    // Three links of 5 ms, there and back.
    let response = number(&printed["summary"], "/response_ms/min");
    assert!((response - 30.0).abs() < 0.1, "{response}");
    let arguments = ["sim", "replay", "v.cvec", "--lab", "island.toml"];
    let ran = run(place.path(), &arguments);
    assert!(
        ran.ended(2)
            .stderr
            .contains("no links lead from 'a' to 'b'"),
        "{}",
        ran.stderr
    );
}

/// Each connection beside the same one over sockets of the kernel: no window binds, nothing is lost.
#[test]
fn quiet_a_connection_takes_as_long_as_with_the_kernel() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[("v.cvec", &vectors(80))]);
    let arguments = ["replay", "v.cvec", "-o", "real", "--no-capture", "-q"];
    assert!(matches!(run(place.path(), &arguments).code(), Some(0 | 4)));
    let _ = simulated(place.path(), "simulated", &[]);
    let took = |name: &str| -> Vec<f64> {
        let mut rows: Vec<Connection> = rows(&place.path().join(name));
        rows.sort_by_key(|row| row.connection);
        let ms = |row: &Connection| {
            assert_eq!(row.end.as_ref(), "complete");
            (row.last_byte_ns.unwrap() - row.first_byte_ns.unwrap()) as f64 / 1e6
        };
        rows.iter().map(ms).collect()
    };
    let pairs = took("simulated").into_iter().zip(took("real"));
    let mut apart: Vec<f64> = pairs
        .map(|(ours, real)| (ours - real).abs() / real)
        .collect();
    apart.sort_by(f64::total_cmp);
    // On a busy machine the kernel's are late now and then.
    assert!(apart[apart.len() * 3 / 4] < 0.02, "{apart:?}");
}

#[test]
fn packets_are_counted_in_bins_as_fine_as_a_labs() {
    let place = folder(&[("v.cvec", &vectors(40))]);
    let offered = |out: &str, bins: &str| -> Vec<Offered> {
        simulated(place.path(), out, &["--bins", bins]);
        rows(&place.path().join(out))
    };
    let [coarse, fine] =
        [("coarse", "1ms"), ("fine", "100us")].map(|(out, bins)| offered(out, bins));
    let octets = |rows: &[Offered]| rows.iter().map(|row| row.bytes).sum::<u64>();
    assert_eq!(octets(&coarse), octets(&fine));
    assert!(coarse.iter().all(|row| row.t_ns % 1_000_000 == 0));
    assert!(fine.iter().all(|row| row.t_ns % 100_000 == 0));
    assert!(fine.iter().any(|row| row.t_ns % 1_000_000 != 0));
}

/// A disk that fills up on the way: 60 kB of memory, mounted where only this run sees it.
#[test]
fn a_disk_that_is_full_ends_the_replay_and_what_it_took_is_kept() {
    let place = folder(&[("v.cvec", &vectors(120))]);
    // The copy goes out of the mount namespace, which ends with its last process.
    let script = r#"
mkdir disk kept && mount -t tmpfs -o size=60k none disk || exit 99
"$0" sim replay v.cvec --duration 60s -o disk/run
status=$?
cp -r disk/run kept
exit $status
"#;
    let Some(ran) = with_own_mounts(place.path(), script) else {
        return;
    };
    let line = ran.refused(3);
    assert!(line.starts_with("sim: cannot write disk/run/"), "{line}");
    assert!(line.contains("No space left on device"), "{line}");
    assert!(!rows::<Goodput>(&place.path().join("kept/run")).is_empty());
    let card = run(place.path(), &["show", "kept/run"]);
    assert!(card.ended(0).stdout.contains("INCOMPLETE"), "{card:#?}");
}
