//! Odd connections, held against tshark: as many, and as many octets of each end.

use super::tests::{End, capture_of, extract, segment};
use super::*;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::Command;
use vectors::Side;

const CLIENT: End = ([10, 0, 0, 1], 40_000);
const SERVER: End = ([10, 2, 0, 1], 443);
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
/// With ACK.
const FIN: u8 = 17;

/// A capture in the making, of the connection of one port of the client.
#[derive(Default)]
struct Scene {
    segments: Vec<(u64, Vec<u8>)>,
    port: u16,
}

impl Scene {
    fn up(&mut self, numbers: [u32; 2], flags: u8, payload: u16) -> &mut Self {
        self.add([self.client(), SERVER], numbers, flags, payload)
    }

    fn down(&mut self, numbers: [u32; 2], flags: u8, payload: u16) -> &mut Self {
        self.add([SERVER, self.client()], numbers, flags, payload)
    }

    const fn client(&self) -> End {
        (CLIENT.0, CLIENT.1 + self.port)
    }

    /// 10 ms after the one before.
    fn add(&mut self, ends: [End; 2], numbers: [u32; 2], flags: u8, payload: u16) -> &mut Self {
        let at_ms = self.segments.len() as u64 * 10;
        self.segments
            .push((at_ms, segment(ends, numbers, flags, payload)));
        self
    }

    fn open(&mut self) -> &mut Self {
        self.up([999, 0], SYN, 0)
            .down([1_999, 1_000], SYN | ACK, 0)
            .up([1_000, 2_000], ACK, 0)
    }
}

/// Connections, and octets to each port.
type Sums = (usize, BTreeMap<u16, u64>);

fn ours(octets: &[u8]) -> Sums {
    let (all, found) = extract(octets, 1, Options::default());
    let mut sums = BTreeMap::new();
    for one in all {
        let ports = one.seen.ends.map(|end: SocketAddr| end.port());
        for turn in one.vector.body.turns() {
            let to = match turn.side {
                Side::Initiator => ports[1],
                Side::Acceptor => ports[0],
            };
            *sums.entry(to).or_default() += turn.bytes;
        }
    }
    let connections = usize::try_from(found.counters.all.connections);
    (connections.unwrap(), sums)
}

/// `None` where there is none.
fn tsharks(octets: &[u8]) -> Option<Sums> {
    if Command::new("tshark").arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: tshark is not installed");
        return None;
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(octets).unwrap();
    let mut command = Command::new("tshark");
    command.arg("-r").arg(file.path()).args(["-T", "fields"]);
    for field in ["tcp.stream", "tcp.dstport", "tcp.len"] {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut streams = std::collections::BTreeSet::new();
    let mut sums = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let fields: Vec<u64> = line
            .split('\t')
            .map(|field| field.parse().unwrap())
            .collect();
        streams.insert(fields[0]);
        if fields[2] > 0 {
            *sums.entry(u16::try_from(fields[1]).unwrap()).or_default() += fields[2];
        }
    }
    Some((streams.len(), sums))
}

#[track_caller]
fn agrees(scene: &Scene, expected: &Sums) {
    let octets = capture_of(&scene.segments);
    assert_eq!(&ours(&octets), expected);
    if let Some(theirs) = tsharks(&octets) {
        assert_eq!(&theirs, expected);
    }
}

#[test]
fn connections_first_seen_by_a_keep_alive_have_no_octets() {
    let mut scene = Scene::default();
    for port in 0..100 {
        scene.port = port;
        scene
            .up([999, 2_000], ACK, 0)
            .down([2_000, 1_000], ACK, 0)
            .up([1_000, 2_000], FIN, 0)
            .down([2_000, 1_001], FIN, 0)
            .up([1_001, 2_001], ACK, 0);
    }
    agrees(&scene, &(100, BTreeMap::new()));
}

#[test]
fn data_behind_a_reset_has_its_octets() {
    let mut scene = Scene::default();
    scene
        .open()
        .up([1_000, 2_000], ACK, 100)
        .down([2_000, 1_100], ACK, 1_000)
        .up([1_100, 0], RST, 0)
        .down([3_000, 1_100], ACK, 1_000)
        .down([4_000, 1_100], ACK, 500);
    let sums = BTreeMap::from([(443, 100), (40_000, 2_500)]);
    agrees(&scene, &(1, sums));
}

#[test]
fn a_connection_refused_three_times_is_one_connection() {
    let mut scene = Scene::default();
    for _ in 0..3 {
        scene.up([999, 0], SYN, 0).down([0, 1_000], RST | ACK, 0);
    }
    agrees(&scene, &(1, BTreeMap::new()));
}

#[test]
fn a_number_of_nobodys_adds_no_octets() {
    let mut scene = Scene::default();
    scene
        .open()
        .up([1_000, 2_000], ACK, 100)
        .up([1_001_000, 2_000], ACK, 0)
        .down([2_000, 1_100], ACK, 700)
        .up([1_100, 900_000], ACK, 0)
        .up([1_100, 2_700], FIN, 0)
        .down([2_700, 1_101], FIN, 0)
        .up([1_101, 2_701], ACK, 0);
    let sums = BTreeMap::from([(443, 100), (40_000, 700)]);
    agrees(&scene, &(1, sums));
}
