//! `isobath replay` and `isobath trace`: connections and their octets, by tcptrace and by tshark.

use super::labs;
use super::packets::{Packet, SYN, Seen};
use super::scene::{Scene, can_watch};
use super::table::{Table, assert_holds, print_decided};
use crate::replay::vectors;
use crate::support::{Machine, has, number, run, values};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// Octets of a connection's two directions, by the port that opened it and how many had opened from there before.
type Connections = HashMap<(u16, usize), (u64, u64)>;

/// Connections in the order in which they opened.
fn numbered(opened: impl IntoIterator<Item = (u16, (u64, u64))>) -> Connections {
    let mut from: HashMap<u16, usize> = HashMap::new();
    let number = |(port, octets)| {
        let before = from.entry(port).or_default();
        *before += 1;
        ((port, *before - 1), octets)
    };
    opened.into_iter().map(number).collect()
}

/// By the sequence numbers in the captures of either receiver.
fn by_tshark(scene: &Scene) -> Connections {
    let mut connections = Connections::new();
    for (packets, up) in [(&scene.far, true), (&scene.near, false)] {
        // The number that its last SYN had, how many there were before, and what came since then.
        let mut seen: HashMap<u16, (u32, usize, Seen)> = HashMap::new();
        let ours = packets.iter().filter(|packet| packet.up == up);
        for (port, segment) in ours.filter_map(|packet| Some((packet.ports.0, packet.segment?))) {
            let (syn, before, octets) = seen
                .entry(port)
                .or_insert_with(|| (segment.seq, 0, Seen::default()));
            if segment.flags & SYN != 0 && segment.seq != *syn {
                (*syn, *before, *octets) = (segment.seq, *before + 1, Seen::default());
            }
            let fresh = octets.add(segment);
            let connection = connections.entry((port, *before)).or_default();
            *if up {
                &mut connection.0
            } else {
                &mut connection.1
            } += fresh;
        }
    }
    connections
}

/// By tcptrace, of the server's capture; it does not read pcapng.
fn by_tcptrace(place: &Path) -> Connections {
    let convert = ["-F", "pcap", "far.pcapng", "far.pcap"];
    let made = Command::new("editcap")
        .args(convert)
        .current_dir(place)
        .status();
    assert!(made.unwrap().success());
    let arguments = ["-n", "-l", "--csv", "far.pcap"];
    let said = Command::new("tcptrace")
        .args(arguments)
        .current_dir(place)
        .output();
    let text = String::from_utf8(said.unwrap().stdout).unwrap();
    let mut lines = text
        .lines()
        .filter(|line| line.contains(',') && !line.starts_with('#'))
        .map(|line| line.split(',').map(str::trim).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|title| *title == name).unwrap();
    let columns = ["port_a", "unique_bytes_sent_a2b", "unique_bytes_sent_b2a"].map(column);
    numbered(lines.map(|row| {
        let [port, there, back] = columns.map(|at| row[at].parse::<u64>().unwrap());
        (u16::try_from(port).unwrap(), (there, back))
    }))
}

/// So many connections, replayed towards the server.
fn compared(lab: &str, count: u32) -> Table {
    let files: &[(&str, &str)] = &[("v.cvec", &vectors(count))];
    let scene = Scene::of(lab, files, "replay v.cvec server");
    let mut table = Table::new("replay", lab);
    let summary = scene.summary();
    let place = scene.place();
    run(place, &["export", "r", "--csv", "-o", "csv"]).ended(0);
    let csv = scene.text("csv/connections.csv");
    let mut lines: Vec<Vec<_>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let head = lines.remove(0);
    let column = |name: &str| head.iter().position(|title| *title == name).unwrap();
    let columns = [
        "source_port",
        "received_by_acceptor",
        "received_by_initiator",
    ]
    .map(column);
    let started = head
        .iter()
        .position(|title| *title == "started_ns")
        .unwrap();
    lines.sort_by_key(|row| row[started].parse::<u64>().ok());
    let ours = numbered(lines.into_iter().map(|row| {
        let [port, there, back] = columns.map(|at| row[at].parse::<u64>().unwrap());
        (u16::try_from(port).unwrap(), (there, back))
    }));
    for (tool, theirs) in [
        ("tshark", by_tshark(&scene)),
        ("tcptrace", by_tcptrace(place)),
    ] {
        // The other connection is control.
        table.exact(
            "connections",
            number(&summary, "/connections/completed"),
            theirs.len() as f64 - 1.0,
            tool,
        );
        let same = ours
            .iter()
            .filter(|(port, octets)| theirs.get(port) == Some(octets));
        table.exact(
            "connections with the same octets each way",
            ours.len() as f64,
            same.count() as f64,
            tool,
        );
        let octets: u64 = ours
            .keys()
            .filter_map(|port| theirs.get(port))
            .map(|(a, b)| a + b)
            .sum();
        table.exact(
            "bytes.sent",
            number(&summary, "/bytes/sent"),
            octets as f64,
            tool,
        );
    }
    traced(&mut table, &scene);
    table
}

/// What `isobath trace` finds in the server's capture.
fn traced(table: &mut Table, scene: &Scene) {
    let place = scene.place();
    let found = run(
        place,
        &[
            "trace",
            "extract",
            "far.pcapng",
            "-o",
            "found.parquet",
            "--json",
        ],
    );
    let summary = &found.ended(0).json()["summary"];
    let kinds =
        ["sequential", "concurrent"].map(|kind| number(summary, &format!("/connections/{kind}")));
    let theirs = by_tcptrace(place);
    table.exact(
        "trace extract: connections",
        kinds.iter().sum(),
        theirs.len() as f64,
        "tcptrace",
    );
    table.exact(
        "trace extract: packets",
        number(summary, "/packets"),
        scene.far.len() as f64,
        "tshark",
    );
    let octets: u64 = scene.far.iter().map(|packet| packet.octets).sum();
    table.exact(
        "trace extract: bytes",
        number(summary, "/bytes"),
        octets as f64,
        "tshark",
    );
    let described = run(place, &["trace", "describe", "found.parquet", "--json"]);
    let set = values(&described.ended(0).json()["summary"]["sets"])
        .next()
        .unwrap()
        .clone();
    let opens = |packet: &&Packet| packet.segment.is_some_and(|s| s.flags & 0x12 == SYN);
    let syn = |packet: &Packet| Some((packet.flow(), packet.segment?.seq));
    let opened = scene.far.iter().filter(opens).filter_map(syn);
    // A SYN that is sent again has the same number.
    let opened: std::collections::HashSet<_> = opened.collect();
    table.exact(
        "trace describe: connections.all",
        number(&set, "/connections/all"),
        opened.len() as f64,
        "tshark",
    );
    let all: u64 = theirs.values().map(|(there, back)| there + back).sum();
    table.exact(
        "trace describe: bytes.all",
        number(&set, "/bytes/all"),
        all as f64,
        "tcptrace",
    );
}

/// Holds tmix/sockets, tmix/adu.
#[test]
fn quiet_oracle_of_replay() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if can_watch() && has("tcptrace") {
        assert_holds(|| compared("lossy", 40));
    }
}

#[test]
#[ignore = "all labs: docs/oracle.md"]
fn quiet_oracle_of_replay_in_all_labs() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let mut wrong = 0;
    for lab in labs() {
        wrong += print_decided(|| compared(lab, 100));
    }
    assert_eq!(wrong, 0, "figures that do not hold");
}
