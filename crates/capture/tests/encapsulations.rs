//! One conversation in many encapsulations, made by scapy (`encapsulations/make.py`): what is found is what tshark finds.

#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

use capture::dissect::{Dissected, Dissector, Reason, dissect};
use capture::read::Reader;
use isobath_capture as capture;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packets of the conversation, and octets of the request and of the response.
const PACKETS: usize = 10;
const OCTETS: [u64; 2] = [100, 1_200];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encapsulations")
}

/// What is found in each packet of a capture.
fn found(path: &Path, mut dissector: Dissector) -> (Vec<Dissected>, u64) {
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    let mut all = Vec::new();
    while let Some(packet) = reader.packet().unwrap() {
        all.push(dissector.dissect(&packet));
    }
    (all, dissector.tunnelled)
}

/// The captures of the conversation, by name.
fn captures() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder()).unwrap();
    let mut all: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "pcap"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .filter(|(name, _)| name != "not_read")
        .collect();
    all.sort();
    assert!(all.len() > 30);
    all
}

/// A segment as tshark prints it.
fn lines(path: &Path) -> Vec<String> {
    let (all, _) = found(path, Dissector::default());
    let line = |dissected: &Dissected| match dissected {
        Dissected::Tcp(segment) => {
            let [from, to] = [segment.from, segment.to].map(SocketAddr::from);
            format!(
                "{},{},{},{},{},{},{}",
                from.ip(),
                from.port(),
                to.ip(),
                to.port(),
                segment.seq,
                segment.ack,
                segment.payload
            )
        }
        other => format!("{other:?}"),
    };
    all.iter().map(line).collect()
}

/// The innermost segment of each packet.
fn tshark(name: &str, path: &Path) -> Vec<String> {
    let mut command = Command::new("tshark");
    command
        .arg("-r")
        .arg(path)
        .args(["-T", "fields", "-E", "separator=,", "-E", "occurrence=l"])
        // What it does not do unasked: a port of Linux' own, and Ethernet behind a control word.
        .args([
            "-d",
            "udp.port==8472,vxlan",
            "-o",
            "tcp.relative_sequence_numbers:FALSE",
        ]);
    if name == "mpls_ethernet" {
        command.args(["-d", "mpls.label==16,pwethcw"]);
    }
    let is_six = lines(path)[0].contains("fd01::");
    let addresses = if is_six {
        ["ipv6.src", "ipv6.dst"]
    } else {
        ["ip.src", "ip.dst"]
    };
    for field in [
        addresses[0],
        "tcp.srcport",
        addresses[1],
        "tcp.dstport",
        "tcp.seq",
        "tcp.ack",
        "tcp.len",
    ] {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_encapsulation_has_the_same_conversation() {
    for (name, path) in captures() {
        let (all, tunnelled) = found(&path, Dissector::default());
        let mut octets: BTreeMap<_, u64> = BTreeMap::new();
        for dissected in &all {
            let Dissected::Tcp(segment) = dissected else {
                panic!("{name}: {dissected:?}")
            };
            *octets
                .entry((segment.to.port, segment.from, segment.to))
                .or_default() += u64::from(segment.payload);
        }
        assert_eq!(all.len(), PACKETS, "{name}");
        assert!(octets.into_values().eq(OCTETS), "{name}");
        assert!(tunnelled == 0 || tunnelled == PACKETS as u64, "{name}");
    }
}

#[test]
fn every_segment_is_the_one_that_tshark_finds() {
    if Command::new("tshark").arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: tshark is not installed");
        return;
    }
    for (name, path) in captures() {
        assert_eq!(lines(&path), tshark(&name, &path), "{name}");
    }
}

#[test]
fn a_tunnel_that_is_left_alone_is_its_outer_flow() {
    let outer = Dissector {
        outer: true,
        ..Dissector::default()
    };
    let first = |name: &str| {
        let (all, tunnelled) = found(&folder().join(name), outer);
        assert_eq!(tunnelled, 0);
        all[3]
    };
    for (name, port) in [
        ("vxlan.pcap", 4_789),
        ("geneve.pcap", 6_081),
        ("gtp_5g.pcap", 2_152),
    ] {
        let Dissected::Udp(datagram) = first(name) else {
            panic!("{name}")
        };
        assert_eq!(datagram.to.port, port);
    }
    for (name, protocol) in [("gre.pcap", 47), ("ip_in_ip.pcap", 4)] {
        assert_eq!(first(name), Dissected::Other(Reason::Protocol(protocol)));
    }
    // Neither tags nor labels nor sessions are tunnels.
    for name in ["mpls.pcap", "pbb.pcap", "pppoe.pcap"] {
        assert!(matches!(first(name), Dissected::Tcp(_)), "{name}");
    }
}

#[test]
fn what_is_not_read_says_what_it_is() {
    let (all, _) = found(&folder().join("not_read.pcap"), Dissector::default());
    let Dissected::Udp(echo) = all[4] else {
        panic!("{:?}", all[4])
    };
    assert_eq!(echo.to.port, 2_152);
    let others = all.iter().filter_map(|dissected| match dissected {
        Dissected::Other(reason) => Some((reason.to_string(), reason.may_hide())),
        _ => None,
    });
    let others: Vec<_> = others.collect();
    let expected = [
        ("MACsec (EtherType 0x88e5)", true),
        ("MACsec (EtherType 0x88e5)", true),
        ("ESP (IP protocol 50)", true),
        ("EtherType 0x0806", false),
        ("EtherType 0x2000", false),
        ("LLC 0x42", false),
    ];
    assert_eq!(
        others,
        expected.map(|(name, hides)| (name.to_owned(), hides))
    );
}

/// Every capture cut after every octet: a packet that is too short is cut, or what lies further out; never another segment.
#[test]
fn no_place_to_cut_is_wrong() {
    for (name, path) in captures() {
        let mut reader = Reader::new(File::open(&path).unwrap()).unwrap();
        while let Some(packet) = reader.packet().unwrap() {
            let whole = dissect(&packet);
            for kept in 0..packet.octets.len() {
                let mut cut = packet;
                cut.octets = &packet.octets[..kept];
                match (dissect(&cut), whole) {
                    (Dissected::Tcp(mut segment), Dissected::Tcp(full)) => {
                        segment.options = full.options;
                        assert_eq!(segment, full, "{name} after {kept}");
                    }
                    (Dissected::Udp(datagram), _) => {
                        assert!([2_152, 4_789, 6_081, 8_472].contains(&datagram.to.port));
                    }
                    (Dissected::Other(Reason::Cut | Reason::Mpls), _) => {}
                    other => panic!("{name} after {kept}: {other:?}"),
                }
            }
        }
    }
}
