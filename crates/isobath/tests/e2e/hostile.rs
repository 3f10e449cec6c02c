//! What strangers send to `isobath serve`: it neither answers, nor grows, nor ends.

mod also;

use crate::support::{Machine, eventually, folder, number, run};
use crate::two_hosts::Server;
use session::wire::{Flags, Kind, Probe};
use session::{AccessKey, DataKey, DataKeys};
use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;
use units::{Instant, TrafficClass};

const SEED: u64 = 0x150_ba74;
const CONNECTIONS: usize = 2_000;
const DATAGRAMS: usize = 4_000;
/// Growth that is the allocator's, not the strangers'.
const SLACK_KB: u64 = 6_000;
const PROBES: &str = r#"
summary = "round trips"
idle_before = "300ms"
duration = "600ms"
idle_after = "100ms"
probe = [{ kind = "udp_rr" }, { kind = "tcp_rr" }]
"#;

/// `SplitMix64`: the same octets in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    /// Up to `most` octets that begin like something known, or not.
    fn octets(&mut self, beginnings: &[&[u8]], most: usize) -> Vec<u8> {
        let mut octets = beginnings[self.below(beginnings.len())].to_vec();
        let length = self.below(most);
        octets.extend((0..length).map(|_| self.next().to_le_bytes()[0]));
        octets.truncate(1 + self.below(most));
        octets
    }
}

fn resident_kb(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Connections that begin like TLS, like a data stream, like a web browser, like nothing, and stop anywhere.
fn connect_and_talk(address: SocketAddr, random: &mut Random, times: usize) {
    let beginnings: [&[u8]; 5] = [
        b"",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x16\x03\x01\xff\xff",
        b"ISOB\x01",
        b"GET / HTTP/1.1\r\n",
    ];
    for _ in 0..times {
        let mut socket = TcpStream::connect(address).unwrap();
        // The server may have closed it already.
        let _ = socket.write_all(&random.octets(&beginnings, 600));
    }
}

/// A request as a client sends it, of a session that does not exist.
fn request(random: &mut Random) -> Vec<u8> {
    let probe = Probe {
        kind: Kind::Request,
        class: TrafficClass::default(),
        arrived: TrafficClass::default(),
        stream: 1,
        flags: Flags::default(),
        sequence: 7,
        session: random.next(),
        sent: Instant::from_nanos(1),
        received: Instant::ZERO,
        replied: Instant::ZERO,
    };
    let mut datagram = vec![0; 64];
    probe
        .emit(
            &mut datagram,
            &DataKeys::from(DataKey::new([7; 32])).to_server,
        )
        .unwrap();
    datagram
}

/// Holds mbm/security.
#[test]
fn strangers_get_no_answer_and_leave_nothing_behind() {
    let _machine = Machine::without_networks();
    let place = folder(&[("probes.toml", PROBES)]);
    let mut server = Server::start(place.path(), &["--ephemeral"]);
    let address: SocketAddr = server.host.parse().unwrap();
    let random = &mut Random(SEED);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let babble = |random: &mut Random, times: usize| {
        for _ in 0..times {
            let mut datagram = match random.below(3) {
                0 => random.octets(&[b"", b"ISOB", b"ISOB\x01\x01"], 3_000),
                _ => request(random),
            };
            if random.below(2) == 0 {
                datagram.truncate(random.below(datagram.len() + 1));
            }
            // A full buffer is the system's business.
            let _ = socket.send_to(&datagram, address);
        }
    };
    // What the server allocates once, it has allocated after this.
    connect_and_talk(address, random, CONNECTIONS / 4);
    babble(random, DATAGRAMS / 4);
    let client = [
        "rrul",
        &server.host,
        "--plan",
        "probes.toml",
        "--json",
        "--key",
        &server.key,
    ];
    // What is left behind is left behind each time; what the allocator keeps for later is not.
    let (mut before, mut grown) = (resident_kb(server.running.id()), Vec::new());
    loop {
        connect_and_talk(address, random, CONNECTIONS);
        babble(random, DATAGRAMS);
        // A client comes through after all of them; so they have been looked at.
        let waited = run(place.path(), &client).measured();
        assert!(number(&waited, "/summary/latency_ms/idle/n") > 10.0);
        let after = resident_kb(server.running.id());
        let more = after.saturating_sub(before);
        if more < SLACK_KB {
            break;
        }
        grown.push(more);
        assert!(grown.len() < 3, "it grew by {grown:?} kB (seed {SEED:#x})");
        before = after;
    }
    let mut answer = [0; 2_048];
    let answered = socket.recv_from(&mut answer);
    assert!(
        answered.is_err(),
        "a stranger was answered: {answered:?} (seed {SEED:#x})"
    );
    assert!(!server.running.is_over());
}

/// Who has the key is let in, but not believed everything.
#[test]
fn a_client_that_talks_nonsense_is_shown_out_and_the_others_are_served() {
    let _machine = Machine::without_networks();
    let place = folder(&[("probes.toml", PROBES)]);
    let server = Server::start(place.path(), &["--ephemeral"]);
    let key: AccessKey = server.key.parse().unwrap();
    let stream = |id: u64| serde_json::json!({"id": id, "role": "sink", "class": "CS0", "cc": null, "stop": "1s"});
    let setup = |total: &str, streams: Vec<serde_json::Value>| serde_json::json!({"setup": {"origin_ns": u64::MAX, "total": total, "bin": "100ms", "streams": streams}});
    let nonsense = [
        serde_json::json!(null),
        serde_json::json!({"setup": {}}),
        serde_json::json!({"finish": [[[[1]]]]}),
        setup("1s", vec![serde_json::json!({"id": -1})]),
        setup("100000000h", Vec::new()),
        setup("7200s", Vec::new()),
        setup("1s", (0..600).map(stream).collect()),
        serde_json::json!("x".repeat(200_000)),
    ];
    for (index, said) in nonsense.iter().enumerate() {
        let patience = Duration::from_secs(20);
        let mut client = session::connect(&server.host, None, Some(&key), patience).unwrap();
        if client.control.send(said).is_err() {
            continue; // longer than any line
        }
        let answer = client.control.recv::<serde_json::Value>(patience);
        let fine = answer.as_ref().map_or_else(
            |error| matches!(error, session::Error::Closed { .. }),
            |said| said.get("refused").is_some(),
        );
        assert!(fine, "nonsense {index}: {answer:?}");
    }
    eventually("a client is served", || {
        let client = [
            "rrul",
            &server.host,
            "--plan",
            "probes.toml",
            "--json",
            "--key",
            &server.key,
        ];
        run(place.path(), &client).measured()["summary"].is_object()
    });
}
