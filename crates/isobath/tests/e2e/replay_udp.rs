//! Flows of UDP, from a capture through a replay to its own capture.

use crate::support::{Machine, folder, number, run};
use capture::pcapng;
use record::TableReader;
use schema::replay::tables::Flow;
use serde_json::Value;
use std::fs;
use std::path::Path;

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
const SYN: u8 = 2;
const ACK: u8 = 16;

/// An IP packet that was seen: when, in microseconds, its headers, and its length with the payload.
struct Seen(u64, Vec<u8>, u16);

/// The IP header of a packet with `length` octets after it, and the ports. From the client, or to it.
fn header(protocol: u8, ports: [u16; 2], from_client: bool, length: u16) -> Vec<u8> {
    let (mut ips, mut ports) = ([CLIENT, SERVER], ports);
    if !from_client {
        ips.reverse();
        ports.reverse();
    }
    let mut octets = vec![0x45, 0];
    octets.extend((20 + length).to_be_bytes());
    octets.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    octets.extend(ips.concat());
    octets.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    octets
}

fn datagram(at_us: u64, ports: [u16; 2], from_client: bool, payload: u16) -> Seen {
    let mut octets = header(17, ports, from_client, 8 + payload);
    octets.extend((8 + payload).to_be_bytes());
    octets.extend([0, 0]);
    Seen(at_us, octets, 28 + payload)
}

fn segment(at_us: u64, from_client: bool, numbers: [u32; 2], flags: u8, payload: u16) -> Seen {
    let mut octets = header(6, [50_000, 80], from_client, 20 + payload);
    octets.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    octets.extend([0x50, flags, 0xfa, 0xf0, 0, 0, 0, 0]);
    Seen(at_us, octets, 40 + payload)
}

/// Forty questions, each with its answer after 3 ms.
fn questions() -> impl Iterator<Item = Seen> {
    let at = |number: u16| u64::from(number) * 25_000;
    (0..40).flat_map(move |number| {
        let ports = [40_000 + number, 53];
        [
            datagram(at(number), ports, true, 30 + number),
            datagram(at(number) + 3_000, ports, false, 200),
        ]
    })
}

/// A stream of 50 datagrams a second that nobody answers, another both ways, and a large answer.
fn streams() -> impl Iterator<Item = Seen> {
    let alone = (0..100).map(|number| datagram(number * 20_000, [5_006, 5_004], false, 1_000));
    let talk = (0..100_u16).flat_map(|number| {
        let at = 7_000 + u64::from(number) * 20_000;
        let ports = [6_000, 6_001];
        [
            datagram(at, ports, true, 160),
            datagram(at + 11_000, ports, false, 160 + number % 3),
        ]
    });
    let large = (0..30).map(|number| datagram(500_000 + number * 100, [7_000, 443], false, 1_250));
    let large = large.chain([datagram(504_000, [7_000, 443], false, 777)]);
    let asked = datagram(490_000, [7_000, 443], true, 1_250);
    alone.chain(talk).chain([asked]).chain(large)
}

/// A connection whose ends are 30 ms apart.
fn connection() -> [Seen; 4] {
    [
        segment(1_000, true, [9, 0], SYN, 0),
        segment(21_000, false, [49, 10], SYN | ACK, 0),
        segment(31_000, true, [10, 50], ACK, 1),
        segment(51_000, false, [50, 11], ACK, 1),
    ]
}

/// Vectors of what was seen, in `place`.
fn extract(place: &Path, mut seen: Vec<Seen>) {
    seen.sort_by_key(|one| one.0);
    let mut file = pcapng::Writer::new(Vec::new(), &pcapng::Section::default()).unwrap();
    let interface = file.interface(&pcapng::Interface::default()).unwrap();
    for Seen(at_us, octets, length) in &seen {
        let packet = pcapng::Packet {
            wall_ns: 1_700_000_000_000_000_000 + at_us * 1_000,
            octets,
            original_len: usize::from(*length),
            direction: None,
        };
        file.packet(interface, &packet).unwrap();
    }
    fs::write(place.join("v.pcapng"), file.finish().unwrap()).unwrap();
    run(place, &["trace", "extract", "v.pcapng", "-o", "v.parquet"]).ended(0);
}

fn replayed(place: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["replay", "v.parquet", "-o", "run", "--json"], arguments].concat();
    let ran = run(place, &arguments);
    // The machine may be busy, and then the run says so.
    assert!(matches!(ran.code(), Some(0 | 4)), "{}", ran.stderr);
    ran.json()
}

/// Everything of [`questions`], [`streams`] and [`connection`] was said and heard in the run at `place`.
fn assert_played(place: &Path, printed: &Value) {
    let summary = &printed["summary"];
    let udp = &summary["udp"];
    assert_eq!(udp["planned"], 43, "{summary}");
    assert_eq!(udp["completed"], 43, "{summary}");
    assert_eq!(udp["bytes"]["sent"], udp["bytes"]["planned"], "{summary}");
    // Each as it was; the large answer leaves as it came.
    assert_eq!(udp["datagrams"]["sent"], 80 + 100 + 200 + 32);
    assert_eq!(udp["datagrams"]["received"], udp["datagrams"]["sent"]);
    assert_eq!(udp["datagrams"]["lost"], 0);
    // Of connections is what is of connections, and nothing else.
    assert_eq!(summary["connections"]["planned"], 1);
    assert_eq!(summary["bytes"]["planned"], 2);
    assert_eq!(summary["duration_ms"]["n"], 1);
    assert_eq!(printed["plan"]["forecast"]["flows"], 43);
    let rows = TableReader::<Flow>::open(&place.join("run/flows.parquet")).unwrap();
    let rows: Vec<_> = rows.flat_map(Result::unwrap).collect();
    assert_eq!(rows.len(), 43);
    assert_eq!(rows.iter().filter(|row| row.isochronous).count(), 2);
    for row in &rows {
        assert_eq!(row.end, "complete");
        assert_eq!(row.received_by_acceptor, row.initiator_bytes);
        assert_eq!(row.received_by_initiator, row.acceptor_bytes);
        // What the connection has: nobody knows it of a flow.
        assert!((29_900..=30_100).contains(&row.rtt_us), "{}", row.rtt_us);
    }
}

#[test]
fn flows_are_played_in_virtual_time_as_on_sockets() {
    let place = folder(&[]);
    let seen = questions().chain(streams()).chain(connection());
    extract(place.path(), seen.collect());
    let played = [
        "sim",
        "replay",
        "v.parquet",
        "--capture",
        "-o",
        "run",
        "--json",
    ];
    let printed = run(place.path(), &played).ended(0).json();
    assert_played(place.path(), &printed);
    assert_eq!(printed["warnings"], serde_json::json!([]));
    let udp = &printed["summary"]["udp"];
    assert!(number(udp, "/send_lateness_ms/max") <= 0.0, "{udp}");
    let verified = run(place.path(), &["replay", "verify", "run", "--json"]);
    let found: Value = serde_json::from_str(&verified.ended(5).stdout).unwrap();
    for count in ["flows", "found", "same_bytes"] {
        assert_eq!(found["udp"][count], 43, "{found}");
    }
    assert_eq!(found["udp"]["asked"], found["udp"]["captured"]);
}

/// Holds tmix/udp.
#[test]
fn quiet_flows_are_played_beside_connections_and_found_in_the_capture() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[]);
    let seen = questions().chain(streams()).chain(connection());
    extract(place.path(), seen.collect());
    let printed = replayed(place.path(), &[]);
    assert_played(place.path(), &printed);
    let verified = run(place.path(), &["replay", "verify", "run", "--json"]);
    // One connection is too little to judge the others by.
    let found: Value = serde_json::from_str(&verified.ended(5).stdout).unwrap();
    assert_eq!(
        (&found["connections"], &found["found"]),
        (&1.into(), &1.into())
    );
    for count in ["flows", "found", "same_bytes"] {
        assert_eq!(found["udp"][count], 43, "{found}");
    }
    assert_eq!(found["udp"]["asked"], found["udp"]["captured"]);
    assert_eq!(found["udp"]["with_losses"], 0);
    let shown = run(place.path(), &["show", "run"]);
    let shown = &shown.ended(0).stdout;
    assert!(shown.contains("43 planned, 43 completed"), "{shown}");
    run(place.path(), &["report", "run", "-o", "page.html"]).ended(0);
}

#[test]
fn quiet_what_is_cut_is_told_apart_and_flows_alone_can_be_verified() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = folder(&[]);
    extract(place.path(), questions().chain(streams()).collect());
    let options = [
        "--duration",
        "1200ms",
        "--warm-up",
        "0s",
        "--cool-down",
        "0s",
        "-6",
    ];
    let printed = replayed(place.path(), &options);
    let udp = &printed["summary"]["udp"];
    assert_eq!(udp["planned"], 43);
    // The streams last two seconds.
    assert_eq!(udp["unfinished"], 2, "{udp}");
    assert_eq!(udp["completed"], 41, "{udp}");
    assert!(number(udp, "/bytes/sent") < number(udp, "/bytes/planned"));
    assert_eq!(udp["datagrams"]["lost"], 0, "{udp}");
    let verified = run(place.path(), &["replay", "verify", "run"]);
    let words = &verified.ended(0).stdout;
    assert!(words.starts_with("PASS"), "{words}");
    assert!(
        words.contains("41 whole, 41 found in the capture, 41 with the same octets"),
        "{words}"
    );
}
