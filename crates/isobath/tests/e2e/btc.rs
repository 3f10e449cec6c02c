//! Bulk transfers: in labs, and between two hosts with somebody on the path who means no good.

use crate::carrier::{Carrier, through};
use crate::support::{
    Machine, Signal, TempDir, entries, eventually, folder, number, rows, run, values,
};
use crate::two_hosts::Server;
use schema::btc::tables::{SegmentRow, Transfer, WindowRow};
use serde_json::{Value, json};
use session::AccessKey;
use session::wire::{Flags, Kind, Probe};
use std::net::UdpSocket;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;
use transport::wire::{self, Datagram};
use transport::{Ack, PacketId, SackBlocks, Segment};
use units::{Instant, TrafficClass};

/// 8 Mbit/s and 20 ms, 1 % lost on the way there.
const LOSSY: &str = r#"
summary = "a small link with loss"
client = "near"
server = "far"
hosts = ["near", "far"]
[[link]]
between = ["near", "far"]
up = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", packets = 50 } }, { kind = "loss", probability = 0.01 }, { kind = "delay", delay = "10ms" }]
down = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", packets = 50 } }, { kind = "delay", delay = "10ms" }]
"#;

/// 5 of 8 Mbit/s are taken by what the link generates itself, of which more is lost than of a transfer.
const SHARED: &str = r#"
summary = "a small link with cross traffic"
client = "near"
server = "far"
hosts = ["near", "far"]
[[link]]
between = ["near", "far"]
up = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", packets = 20 }, cross = { pace = "poisson", rates = ["5Mbit"], sizes = [200] } }, { kind = "delay", delay = "10ms" }]
down = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", packets = 50 } }, { kind = "delay", delay = "10ms" }]
"#;

fn place() -> TempDir {
    folder(&[("lossy.toml", LOSSY), ("shared.toml", SHARED)])
}

/// Runs `isobath btc --lab lossy.toml` with `more`; the record is in `r`.
#[track_caller]
fn in_lab(place: &Path, more: &[&str]) -> Value {
    let common = ["btc", "--lab", "lossy.toml", "--quiet", "--json", "-o", "r"];
    run(place, &[&common, more].concat()).measured()
}

#[test]
fn what_a_links_cross_traffic_loses_is_not_the_transfers_loss() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let args = [
        "btc",
        "--lab",
        "shared.toml",
        "--tools",
        "ours,kernel",
        "--segments",
        "725",
    ];
    let told = run(
        place.path(),
        &[&args[..], &["-q", "--json", "-o", "r"]].concat(),
    );
    told.measured();
    let record = place.path().join("r");
    let [ours, kernel] = &rows::<Transfer>(&record)[..] else {
        panic!("two transfers");
    };
    let segments = rows::<SegmentRow>(&record);
    let arrived = segments
        .iter()
        .filter(|s| s.kind == "data" && s.end == "receiver");
    assert_eq!(arrived.count() as u64, ours.sent_packets - ours.lost);
    assert!(kernel.lost <= kernel.retransmits, "{kernel:?}");
}

/// Holds btc/definition, btc/unique-data, btc/loss-clustering, btc/ancillary, btc/cap-cooperative, btc/cap-size.
#[test]
fn a_transfer_over_a_lossy_link_is_whole_and_its_counters_agree() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let run = in_lab(place.path(), &["--segments", "725"]);
    let record = place.path().join("r");
    let [transfer] = &rows::<Transfer>(&record)[..] else {
        panic!("one transfer");
    };
    assert_eq!(transfer.outcome, "complete");
    assert_eq!(transfer.bytes, 1_049_800, "the paper's octets");
    assert_eq!(transfer.sent_packets, 725 + transfer.retransmits);
    let mbps = number(&run, "/summary/throughput_mbps");
    assert!(mbps > 0.1 && mbps < 8.0 * 1_448.0 / 1_500.0, "{mbps}");
    assert!(number(&run, "/summary/rtt_ms/min") >= 20.0);
    // Every packet left a row at both ends, but for those that were lost.
    let segments = rows::<SegmentRow>(&record);
    let data = |end: &str| {
        segments
            .iter()
            .filter(|s| s.kind == "data" && s.end == end)
            .count()
    };
    assert_eq!(data("sender") as u64, transfer.sent_packets);
    assert_eq!(
        data("receiver") as u64,
        transfer.sent_packets - transfer.lost
    );
    let copies = segments.iter().filter(|s| s.end == "sender" && s.copy > 0);
    assert_eq!(copies.count() as u64, transfer.retransmits);
    // The record says all of it again.
    let shown = crate::support::run(place.path(), &["show", "r", "--json"]);
    assert_eq!(shown.ended(0).json()["summary"], run["summary"]);
}

/// Holds btc/directions, btc/cap-cooperative.
#[test]
fn the_far_end_can_be_the_sender() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let run = in_lab(
        place.path(),
        &["--reverse", "--duration", "2s", "--cc", "cubic"],
    );
    let [transfer] = &rows::<Transfer>(&place.path().join("r"))[..] else {
        panic!("one transfer");
    };
    assert_eq!(transfer.outcome, "time");
    // No loss that way: the link is full before the second is over.
    assert!(number(&run, "/summary/throughput_mbps") > 4.0, "{run:#}");
    assert!(number(&run, "/summary/segments") * 1_448.0 <= 8e6 / 8.0 * 2.2);
}

/// Holds btc/cap-one-way.
#[test]
fn identifiers_alone_are_enough_for_a_sender() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let run = in_lab(place.path(), &["--one-way", "--segments", "300"]);
    assert_eq!(run["plan"]["mode"], "one-way");
    assert_eq!(run["summary"]["outcomes"], json!({"complete": 1}));
    assert!((number(&run, "/summary/segments") - 300.0).abs() < 0.5);
}

/// Holds btc/cap-tcp.
#[test]
fn each_pair_has_one_of_ours_and_one_of_the_kernels() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let run = in_lab(
        place.path(),
        &[
            "--compare",
            "--repeat",
            "2",
            "--segments",
            "200",
            "--window",
            "40",
        ],
    );
    let transfers = rows::<Transfer>(&place.path().join("r"));
    let tools: Vec<&str> = transfers.iter().map(|transfer| &*transfer.tool).collect();
    let order: Vec<_> = values(&run["plan"]["order"])
        .map(|tool| tool.as_str().unwrap())
        .collect();
    assert_eq!(tools, order);
    assert!(
        transfers
            .iter()
            .all(|transfer| transfer.bytes == 200 * 1_448),
        "{transfers:?}"
    );
    assert!(
        transfers
            .iter()
            .all(|t| t.sent_packets >= 200 && t.lost <= t.sent_packets - 200),
        "{transfers:?}"
    );
    assert_eq!(values(&run["summary"]["pairs"]).count(), 2);
    assert_eq!(run["summary"]["kernel"]["cc"], "reno");
    assert!((number(&run, "/summary/difference_pct/n") - 2.0).abs() < 0.5);
}

/// A window that the kernel opened as it saw need stayed at 55 segments on this path, whatever its sender's window.
#[test]
fn the_kernels_receiver_offers_a_window_that_is_no_limit() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    in_lab(
        place.path(),
        &["--tools", "kernel", "--segments", "300", "--window", "200"],
    );
    let windows = rows::<WindowRow>(&place.path().join("r"));
    let widest = windows.iter().map(|row| row.window).max();
    assert!(widest >= Some(150), "{widest:?}");
}

/// Holds btc/segment-size.
#[test]
fn a_segment_too_long_for_the_interface_is_told_with_the_one_that_fits() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let arguments = [
        "btc",
        "--lab",
        "lossy.toml",
        "-q",
        "--option",
        "mss=1460",
        "-o",
        "r",
    ];
    let ran = run(place.path(), &arguments);
    ran.ended(3);
    assert!(ran.stdout.contains("use --option mss=1448"), "{ran:#?}");
    assert_eq!(
        rows::<Transfer>(&place.path().join("r"))[0].outcome,
        "failed"
    );
}

/// Holds btc/interference.
#[test]
fn garbage_tampering_replays_and_strangers_change_no_octet() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let path = Carrier::to(&server.host);
    path.mischief.store(true, Ordering::Relaxed);
    let more = ["--segments", "500", "--window", "20"];
    let ran = through(&path, &server, place.path(), &more).finish();
    let run = ran.json();
    assert!(
        (number(&run, "/summary/segments") - 500.0).abs() < 0.5,
        "{run:#}"
    );
    assert_eq!(run["summary"]["outcomes"], json!({"complete": 1}));
    // Each packet came twice, which is once; the stranger's copies came to nobody.
    assert!(number(&run, "/summary/loss_pct") < 50.0);
    assert!(number(&run, "/summary/duplicates") > 0.0);
    assert!(
        number(&run, "/instrument/datagrams_refused") > 100.0,
        "{run:#}"
    );
    let codes: Vec<_> = values(&run["warnings"])
        .map(|w| w["code"].clone())
        .collect();
    assert!(codes.contains(&json!("datagrams_refused")), "{codes:?}");
}

#[test]
fn a_path_that_swallows_long_packets_is_called_one() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let path = Carrier::to(&server.host);
    path.longest.store(1_000, Ordering::Relaxed);
    let ran = through(&path, &server, place.path(), &["--patience", "2s"]).finish();
    let run = ran.ended(3).json();
    assert_eq!(run["status"], "failed");
    assert!(run["summary"]["throughput_mbps"].is_null());
    let told = run["warnings"][0]["message"].as_str().unwrap();
    assert!(
        told.contains("1500 octets") && told.contains("mss=1200"),
        "{told}"
    );
}

#[test]
fn a_server_that_is_killed_ends_the_transfer_and_the_record_stays() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let path = Carrier::to(&server.host);
    let running = through(
        &path,
        &server,
        place.path(),
        &["--duration", "60s", "--window", "4"],
    );
    eventually("rows are on disk", || {
        let record = place.path().join("r");
        record.exists()
            && entries(&record)
                .iter()
                .any(|name| name.starts_with("round_trips"))
    });
    server.running.signal(Signal::KILL);
    let run = running.finish().ended(3).json();
    let [transfer] = &rows::<Transfer>(&place.path().join("r"))[..] else {
        panic!("one transfer");
    };
    assert_eq!(
        (&*transfer.outcome, transfer.throughput_mbps),
        ("failed", None)
    );
    assert!(
        transfer
            .reason
            .as_ref()
            .unwrap()
            .contains("server was lost"),
        "{transfer:?}"
    );
    assert_eq!(run["warnings"][0]["code"], "server_lost");
}

#[test]
fn an_interrupt_keeps_what_there_is() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let path = Carrier::to(&server.host);
    let more = ["--segments", "50", "--repeat", "1000"];
    let running = through(&path, &server, place.path(), &more);
    eventually("transfers are on disk", || {
        let record = place.path().join("r");
        record.exists()
            && entries(&record)
                .iter()
                .any(|name| name.starts_with("transfers"))
    });
    running.signal(Signal::INT);
    let ran = running.finish();
    let run = ran.ended(130).json();
    assert_eq!(run["status"], "incomplete");
    assert!(
        rows::<Transfer>(&place.path().join("r"))
            .iter()
            .any(|t| t.outcome == "complete")
    );
}

/// A client that has a server send to it.
struct Receiving {
    client: session::Client,
    socket: UdpSocket,
}

impl Receiving {
    fn begin(server: &Server) -> Self {
        let key: AccessKey = server.key.parse().unwrap();
        let patience = Duration::from_secs(10);
        let mut client = session::connect(&server.host, None, Some(&key), patience).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(&server.host).unwrap();
        socket.set_read_timeout(Some(patience)).unwrap();
        let say = |client: &mut session::Client, line: Value| client.control.send(&line).unwrap();
        say(
            &mut client,
            json!({"btc": {"origin_ns": sys::clock::now().as_nanos()}}),
        );
        say(
            &mut client,
            json!({"round": [{
                "id": 0, "tool": "ours", "sends": true, "options": {}, "limit": {"segments": 1000},
                "class": "CS0", "patience": "5s"
            }]}),
        );
        let mut receiving = Self { client, socket };
        loop {
            receiving.hello();
            match receiving
                .client
                .control
                .recv::<Value>(Duration::from_millis(50))
            {
                Ok(answer) => assert_eq!(answer, json!("ready")),
                Err(session::Error::Timeout { .. }) => continue,
                Err(error) => panic!("{error}"),
            }
            receiving.client.control.send(&json!("go")).unwrap();
            return receiving;
        }
    }

    /// Shows the server where its segments are to go.
    fn hello(&self) {
        let request = Probe {
            kind: Kind::Request,
            class: TrafficClass::default(),
            arrived: TrafficClass::default(),
            stream: 0,
            flags: Flags::default(),
            sequence: 0,
            session: self.client.dialer.session(),
            sent: Instant::ZERO,
            received: Instant::ZERO,
            replied: Instant::ZERO,
        };
        let mut octets = [0; Probe::LEN];
        request
            .emit(&mut octets, &self.client.dialer.keys().to_server)
            .unwrap();
        self.socket.send(&octets).unwrap();
    }

    fn hear(&mut self) -> Value {
        self.client.control.recv(Duration::from_secs(10)).unwrap()
    }

    /// The next segment that arrives.
    fn segment(&self) -> Segment {
        let mut buffer = [0; 2_048];
        loop {
            let length = self.socket.recv(&mut buffer).unwrap();
            if let Ok((_, Datagram::Segment(segment))) = Datagram::parse(&buffer[..length]) {
                return segment;
            }
        }
    }

    fn send(&self, ack: &Ack) {
        let address = wire::Address {
            session: self.client.dialer.session(),
            stream: 0,
        };
        let mut octets = [0; wire::LONGEST_ACK];
        let length = wire::emit_ack(ack, address, &mut octets).unwrap();
        let octets = &mut octets[..length];
        let (before, after) = wire::covered(octets).unwrap();
        let tag = self.client.dialer.keys().to_server.tag(before, after);
        wire::set_tag(octets, tag).unwrap();
        self.socket.send(octets).unwrap();
    }
}

/// Holds btc/friendly.
#[test]
fn a_receiver_that_acknowledges_what_it_has_not_got_is_found_out() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let mut liar = Receiving::begin(&server);
    let first = liar.segment();
    // Eight segments at once, on the strength of the first.
    liar.send(&Ack {
        ack: first.seq.plus(8),
        id: first.id,
        highest: first.id,
        echo: first.sent,
        delay_ns: 0,
        window: 1_000,
        ece: false,
        sack: SackBlocks::NONE,
    });
    assert_eq!(liar.hear(), json!("over"));
    liar.client.control.send(&json!("end")).unwrap();
    let counters = loop {
        let line = liar.hear();
        if let Some(counters) = line.get("books") {
            break counters.clone();
        }
    };
    let sender = &counters[0]["sender"];
    assert_eq!(sender["outcome"], "lied", "{counters:#}");
    assert!(sender["violations"].as_u64() > Some(0));
    // What nobody sent is not acknowledged either.
    let mut other = Receiving::begin(&server);
    let first = other.segment();
    other.send(&Ack {
        ack: first.seq.plus(1),
        id: PacketId(first.id.0 ^ 1),
        highest: PacketId(first.id.0 ^ 1),
        echo: first.sent,
        delay_ns: 0,
        window: 1_000,
        ece: false,
        sack: SackBlocks::NONE,
    });
    assert_eq!(other.hear(), json!("over"));
}

/// Holds btc/friendly.
#[test]
fn rules_that_are_no_congestion_control_are_refused_by_the_server() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let key: AccessKey = server.key.parse().unwrap();
    let patience = Duration::from_secs(10);
    let mut client = session::connect(&server.host, None, Some(&key), patience).unwrap();
    client
        .control
        .send(&json!({"btc": {"origin_ns": 0}}))
        .unwrap();
    client
        .control
        .send(&json!({"round": [{
            "id": 0, "tool": "ours", "sends": true, "options": {"initial_window": 1_000_000},
            "limit": {"segments": 1000}, "class": "CS0", "patience": "5s"
        }]}))
        .unwrap();
    let answer: Value = client.control.recv(patience).unwrap();
    assert!(
        answer["refused"]
            .as_str()
            .unwrap()
            .contains("initial_window"),
        "{answer}"
    );
}
