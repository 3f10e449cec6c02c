//! Captures that become vectors, from outside.

use crate::support::{Running, entries, folder, isobath, run};
use capture::pcapng;
use record::{TableReader, table};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

table! {
    /// The columns that are looked at here.
    struct Row in "vectors" {
        /// Which connection.
        vector: u64,
        /// What carried it.
        transport: record::Label,
        /// Who spoke.
        side: record::Label,
        /// How much.
        adu_bytes: u64,
        /// How long after the one before.
        wait_ns: u64,
        /// Both halves of the path.
        min_rtt_ns: Option<u64>,
        /// Who it was.
        initiator: Option<String>,
    }
}

const SYN: u8 = 2;
const ACK: u8 = 16;
const FIN_ACK: u8 = 17;

/// A segment of connection `port`: its time in ms, whether it is the client's, numbers, flags and payload.
struct Sent(u64, bool, [u32; 2], u8, u16);

/// The packet, headers alone.
fn packet(port: u16, sent: &Sent) -> (Vec<u8>, usize) {
    let Sent(_, client, [seq, ack], flags, payload) = *sent;
    let (mut from, mut to) = (([10, 0, 0, 1], port), ([10, 0, 0, 2], 80_u16));
    if !client {
        std::mem::swap(&mut from, &mut to);
    }
    let mut octets = vec![0x45, 0];
    octets.extend((40 + payload).to_be_bytes());
    octets.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    octets.extend(from.0);
    octets.extend(to.0);
    octets.extend(from.1.to_be_bytes());
    octets.extend(to.1.to_be_bytes());
    octets.extend(seq.to_be_bytes());
    octets.extend(ack.to_be_bytes());
    octets.extend([0x50, flags, 0xfa, 0xf0, 0, 0, 0, 0]);
    (octets, 40 + usize::from(payload))
}

/// Two conversations, the second within the first, and a SYN that nobody answers.
fn capture() -> Vec<u8> {
    let long = [
        Sent(0, true, [99, 0], SYN, 0),
        Sent(20, false, [499, 100], SYN | ACK, 0),
        Sent(30, true, [100, 500], ACK, 0),
        Sent(30, true, [100, 500], ACK, 300),
        Sent(80, false, [500, 400], ACK, 1_000),
        Sent(80, false, [1_500, 400], ACK, 200),
        Sent(2_000, true, [400, 1_700], FIN_ACK, 0),
        Sent(2_020, false, [1_700, 401], FIN_ACK, 0),
        Sent(2_030, true, [401, 1_701], ACK, 0),
    ];
    let short = [
        Sent(500, true, [9, 0], SYN, 0),
        Sent(520, false, [49, 10], SYN | ACK, 0),
        Sent(530, true, [10, 50], ACK, 7),
        Sent(560, false, [50, 17], ACK, 8),
        Sent(570, true, [17, 58], FIN_ACK, 0),
        Sent(590, false, [58, 18], FIN_ACK, 0),
        Sent(600, true, [18, 59], ACK, 0),
    ];
    let unanswered = [Sent(700, true, [5, 0], SYN, 0)];
    let connections = [(40_000, &long[..]), (40_001, &short), (40_002, &unanswered)];
    let mut all: Vec<_> = connections
        .into_iter()
        .flat_map(|(port, sent)| sent.iter().map(move |sent| (port, sent)))
        .collect();
    all.sort_by_key(|(_, sent)| sent.0);
    let mut file = pcapng::Writer::new(Vec::new(), &pcapng::Section::default()).unwrap();
    let interface = file.interface(&pcapng::Interface::default()).unwrap();
    for (port, sent) in all {
        let (octets, original_len) = packet(port, sent);
        let wall_ns = 1_700_000_000_000_000_000 + sent.0 * 1_000_000;
        let packet = pcapng::Packet {
            wall_ns,
            octets: &octets,
            original_len,
            direction: None,
        };
        file.packet(interface, &packet).unwrap();
    }
    file.finish().unwrap()
}

const CVEC: &str = "\
SEQ 0 1 1 1
w 64240 64240
r 30000
l 0.000000 0.000000
> 300
t 50000
< 1200
t 1920000
SEQ 500000 1 2 2
w 64240 64240
r 30000
l 0.000000 0.000000
> 7
t 30000
< 8
t 10000
";

/// Holds tmix/start, tmix/format, tmix/amounts, tmix/min-rtt.
#[test]
fn a_capture_becomes_vectors_in_every_format() {
    let place = folder(&[]);
    let path = |name: &str| place.path().join(name);
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    fs::write(path("two.pcapng"), capture()).unwrap();
    let ran = run(
        place.path(),
        &[
            "trace",
            "extract",
            "two.pcapng",
            "-o",
            "two.parquet",
            "--json",
        ],
    );
    let printed: Value = serde_json::from_str(&ran.ended(0).stdout).unwrap();
    let summary = &printed["summary"];
    assert_eq!(printed["test"], "trace-extract");
    assert_eq!(summary["packets"], 17);
    assert_eq!(summary["connections"]["sequential"], 2);
    assert_eq!(summary["connections"]["complete"], 2);
    assert_eq!(summary["discarded"]["one_way"]["connections"], 1);
    let rows = TableReader::<Row>::open(&path("two.parquet")).unwrap();
    let rows: Vec<_> = rows.flat_map(Result::unwrap).collect();
    let said = rows.iter().map(|row| {
        (
            row.vector,
            row.side.as_ref(),
            row.adu_bytes,
            row.wait_ns / 1_000_000,
        )
    });
    let said: Vec<_> = said.collect();
    // The short one ended first.
    assert_eq!(
        said,
        [
            (0, "initiator", 7, 0),
            (0, "acceptor", 8, 30),
            (1, "initiator", 300, 0),
            (1, "acceptor", 1_200, 50)
        ]
    );
    assert!(rows.iter().all(|row| row.min_rtt_ns == Some(30_000_000)));
    assert_eq!(rows[0].initiator.as_deref(), Some("10.0.0.1:40001"));
    // In the order of starts, from the capture and from the table.
    run(
        place.path(),
        &["trace", "extract", "two.pcapng", "-o", "two.cvec"],
    )
    .ended(0);
    assert_eq!(text("two.cvec"), CVEC);
    run(
        place.path(),
        &["trace", "convert", "two.parquet", "-o", "again.cvec"],
    )
    .ended(0);
    assert_eq!(text("again.cvec"), CVEC);
    // To the alternate form, to a table and back.
    run(
        place.path(),
        &["trace", "convert", "two.cvec", "-o", "two.alt.cvec"],
    )
    .ended(0);
    assert!(text("two.alt.cvec").contains("\nA 0 50000 1200\nA 1920000 0 0\n"));
    run(
        place.path(),
        &[
            "trace",
            "convert",
            "two.alt.cvec",
            "-o",
            "x",
            "--format",
            "parquet",
        ],
    )
    .ended(0);
    run(place.path(), &["trace", "convert", "x", "-o", "back.cvec"]).ended(0);
    assert_eq!(text("back.cvec"), CVEC);
    // The identifiers of a line are somebody's: a table keeps them.
    let named = CVEC.replace("SEQ 0 1 1 1", "SEQ 0 1 17 4242");
    fs::write(place.path().join("named.cvec"), &named).unwrap();
    for (from, to) in [
        ("named.cvec", "named.parquet"),
        ("named.parquet", "again.named.cvec"),
    ] {
        run(place.path(), &["trace", "convert", from, "-o", to]).ended(0);
    }
    assert_eq!(text("again.named.cvec"), named);
    let left = [
        "again.cvec",
        "again.named.cvec",
        "back.cvec",
        "named.cvec",
        "named.parquet",
        "two.alt.cvec",
        "two.cvec",
        "two.parquet",
        "two.pcapng",
        "x",
    ];
    assert_eq!(entries(place.path()), left);
}

/// A question and its answer by UDP, and a connection of one octet.
fn questions() -> Vec<u8> {
    let mut file = pcapng::Writer::new(Vec::new(), &pcapng::Section::default()).unwrap();
    let interface = file.interface(&pcapng::Interface::default()).unwrap();
    let mut put = |at_ms: u64, octets: &[u8], original_len: usize| {
        let packet = pcapng::Packet {
            wall_ns: 1_700_000_000_000_000_000 + at_ms * 1_000_000,
            octets,
            original_len,
            direction: None,
        };
        file.packet(interface, &packet).unwrap();
    };
    let datagram = |client: bool, payload: u16| {
        let (mut octets, _) = packet(40_000, &Sent(0, client, [0, 0], 0, 0));
        octets.truncate(24);
        octets[2..4].copy_from_slice(&(28 + payload).to_be_bytes());
        octets[9] = 17;
        octets.extend((8 + payload).to_be_bytes());
        octets.extend([0, 0]);
        octets
    };
    put(0, &datagram(true, 40), 68);
    put(30, &datagram(false, 100), 128);
    let tcp = [
        Sent(50, true, [9, 0], SYN, 0),
        Sent(70, false, [49, 10], SYN | ACK, 0),
        Sent(80, true, [10, 50], ACK, 1),
    ];
    for sent in tcp {
        let (octets, length) = packet(40_001, &sent);
        put(sent.0, &octets, length);
    }
    file.finish().unwrap()
}

/// Holds tmix/tcp-only.
#[test]
fn flows_of_udp_are_in_the_table_and_not_in_a_text() {
    let place = folder(&[]);
    let path = |name: &str| place.path().join(name);
    fs::write(path("q.pcapng"), questions()).unwrap();
    let extract = |out: &str| {
        let arguments = ["trace", "extract", "q.pcapng", "--json", "-o", out];
        let ran = run(place.path(), &arguments);
        serde_json::from_str::<Value>(&ran.ended(0).stdout).unwrap()
    };
    let printed = extract("q.parquet");
    assert_eq!(printed["summary"]["udp"]["exchange"]["flows"], 1);
    assert_eq!(printed["summary"]["udp"]["exchange"]["bytes"], 196);
    assert_eq!(printed["summary"]["connections"]["sequential"], 1);
    let rows = TableReader::<Row>::open(&path("q.parquet")).unwrap();
    let rows: Vec<_> = rows.flat_map(Result::unwrap).collect();
    let udp: Vec<_> = rows.iter().filter(|row| row.transport == "udp").collect();
    let said = udp.iter().map(|row| (row.adu_bytes, row.wait_ns));
    assert_eq!(said.collect::<Vec<_>>(), [(40, 0), (100, 30_000_000)]);
    assert_eq!((rows.len(), udp[0].min_rtt_ns), (3, None));
    // A text has the connection alone, and says so, whether from the capture or from the table.
    let printed = extract("q.cvec");
    assert_eq!(printed["warnings"][0]["code"], "udp_left_out");
    let convert = ["trace", "convert", "q.parquet", "-o", "again.cvec"];
    let said = run(place.path(), &convert);
    assert!(said.ended(0).stdout.contains("\n1 flows of UDP left out"));
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    assert!(text("q.cvec").starts_with("SEQ 50000 1 1 1\n"));
    assert_eq!(text("again.cvec"), text("q.cvec"));
    // From table to table nothing is lost.
    run(
        place.path(),
        &["trace", "convert", "q.parquet", "-o", "r.parquet"],
    )
    .ended(0);
    let again = TableReader::<Row>::open(&path("r.parquet")).unwrap();
    let again: Vec<_> = again.flat_map(Result::unwrap).collect();
    assert!(
        again
            .iter()
            .map(|row| &row.transport)
            .eq(rows.iter().map(|row| &row.transport))
    );
}

#[test]
fn a_capture_may_come_through_a_pipe_and_be_cut_short() {
    let place = folder(&[]);
    let capture = capture();
    let mut command = isobath(place.path(), &["trace", "extract", "-", "--json"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&capture[..capture.len() - 9])
        .unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    let printed: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(printed["summary"]["packets"], 16);
    assert_eq!(printed["warnings"][0]["code"], "capture_cut");
    // Damage is more than an end.
    let mut damaged = capture;
    let words = damaged.chunks(4).collect::<Vec<_>>();
    let packets = words.iter().enumerate();
    // The length of the tenth packet's block: shorter than any block.
    let mut packets = packets.filter(|(_, word)| **word == [6, 0, 0, 0]);
    let (tenth, _) = packets.nth(9).unwrap();
    damaged[4 * tenth + 4] = 4;
    fs::write(place.path().join("damaged"), damaged).unwrap();
    let ran = run(place.path(), &["trace", "extract", "damaged", "--json"]);
    let printed: Value = serde_json::from_str(&ran.ended(3).stdout).unwrap();
    assert_eq!(printed["warnings"][0]["code"], "capture_damaged");
    assert_eq!(printed["status"], "incomplete");
}

#[test]
fn tunnels_are_read_or_left_alone_and_what_cannot_be_read_is_named() {
    let place = folder(&[]);
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capture/tests/encapsulations");
    let extract = |name: &str, more: &[&str]| {
        let capture = captures.join(name);
        let arguments = ["trace", "extract", capture.to_str().unwrap(), "--json"];
        let ran = run(place.path(), &[&arguments, more].concat());
        serde_json::from_str::<Value>(&ran.ended(0).stdout).unwrap()
    };
    let inner = &extract("vxlan.pcap", &[])["summary"];
    assert_eq!(inner["kept"]["complete"]["packets"], 10);
    assert_eq!(inner["tunnelled"], 10);
    let outer = &extract("vxlan.pcap", &["--outer"])["summary"];
    assert_eq!(outer["connections"]["complete"], 0);
    assert_eq!(
        (&outer["not_tcp"]["udp"], &outer["tunnelled"]),
        (&10.into(), &0.into())
    );
    let printed = extract("not_read.pcap", &[]);
    let warnings = printed["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0]["code"], "frames_unread");
    assert_eq!(
        warnings[0]["message"],
        "3 frames are of kinds that are not read: 2 of MACsec (EtherType 0x88e5), 1 of ESP (IP protocol 50)"
    );
    let unread = &printed["summary"]["unread"];
    assert_eq!(unread["MACsec (EtherType 0x88e5)"], 2);
    assert_eq!(printed["summary"]["not_tcp"]["not_ip"], 5);
}

#[test]
fn mistakes_leave_nothing_behind() {
    let place = folder(&[("text", "hello"), ("bad.cvec", "SEQ 0 1 0 0\n> 1\n> 2\n")]);
    let refused = |arguments: &[&str], code: i32, said: &str| {
        let ran = Running::start(isobath(place.path(), arguments)).finish();
        assert!(ran.refused(code).contains(said), "{ran:#?}");
        assert_eq!(entries(place.path()), ["bad.cvec", "text"]);
    };
    refused(
        &["trace", "extract", "text", "-o", "x.cvec"],
        3,
        "neither pcap nor pcapng",
    );
    refused(
        &["trace", "extract", "nowhere", "-o", "x.parquet"],
        3,
        "nowhere",
    );
    refused(&["trace", "extract", "text", "-o", "x.txt"], 2, "--format");
    refused(&["trace", "extract", "-", "-"], 2, "once");
    refused(
        &["trace", "convert", "bad.cvec", "-o", "x.parquet"],
        3,
        "line 3: no wait",
    );
    refused(
        &["trace", "convert", "bad.cvec", "-o", "bad.cvec"],
        2,
        "another",
    );
    refused(
        &["trace", "convert", "bad.cvec", "-o", "x/y.cvec"],
        3,
        "cannot write",
    );
}
