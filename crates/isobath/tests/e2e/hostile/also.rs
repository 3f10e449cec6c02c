//! A thousand strangers at each server that is there for other people's clients.

use super::{Random, SEED, SLACK_KB, resident_kb};
use crate::support::{Machine, folder, run, short_plan};
use crate::two_hosts::Server;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::time::Duration;

const STRANGERS: usize = 1_000;
/// Of them, who stay until all have been there.
const STAYING: usize = 300;

/// One whose SYN finds the queue full does not try again.
const PATIENCE: Duration = Duration::from_millis(500);

/// What messages of these protocols begin with: some octets of STAMP, of TWAMP, of IRTT, of iperf3's cookie, of TLS, of HTTP, of UDPSTP.
const BEGINNINGS: [&[u8]; 7] = [
    b"",
    b"\x00\x00\x00\x01\x00\x00\x00\x00",
    b"\x14\xa7\x5b\x01",
    b"abcdefghijklmnopqrstuvwxyz234567abcd\x00",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\xac\xe1\x00\x14",
];

/// Ports that are free for TCP and UDP, each another one.
fn free_ports<const N: usize>() -> [u16; N] {
    let pair = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
        Some((port, socket, listener))
    };
    let pairs = std::iter::repeat_with(pair).flatten().take(N);
    let held: Vec<_> = pairs.collect();
    std::array::from_fn(|index| held[index].0)
}

/// Connections, some of which stay open until the last, and datagrams.
fn visit(port: u16, random: &mut Random) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut staying = Vec::new();
    for _ in 0..STRANGERS {
        let _ = socket.send_to(&random.octets(&BEGINNINGS, 1_400), address);
        // One that is full does not take it, and one that serves no TCP.
        let Ok(mut stream) = TcpStream::connect_timeout(&address, PATIENCE) else {
            continue;
        };
        let _ = stream.write_all(&random.octets(&BEGINNINGS, 600));
        if staying.len() < STAYING {
            staying.push(stream);
        }
    }
}

fn all_visit<const N: usize>(ports: [u16; N], random: &mut Random) {
    for port in ports {
        visit(port, random);
    }
}

fn all_served(place: &Path, clients: &[String]) {
    for words in clients {
        served(place, words);
    }
}

/// Measures by `words` again and again until the server has seen all strangers off.
fn served(place: &Path, words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let deadline = sys::clock::now() + crate::support::PATIENCE;
    loop {
        let _ = std::fs::remove_dir_all(place.join("out"));
        let ran = run(place, &[&words[..], &["-q", "-o", "out"]].concat());
        // A machine that is too busy (4) has been served, too.
        if matches!(ran.code(), Some(0 | 4)) {
            return;
        }
        assert!(sys::clock::now() < deadline, "{words:?}: {ran:#?}");
    }
}

#[test]
fn strangers_at_the_servers_for_others_leave_nothing_behind() {
    let _machine = Machine::without_networks();
    let place = folder(&[("plan.toml", &short_plan(2))]);
    let names = ["stamp", "twamp", "irtt", "iperf3", "ndt7", "rpm", "udpst"];
    let ports: [u16; 7] = free_ports();
    let also = names.iter().zip(ports);
    let also: Vec<_> = also.map(|(name, port)| format!("{name}:{port}")).collect();
    let also = also.join(",");
    let options = ["--ephemeral", "--also", &also, "--udpst-key", "secret"];
    let mut server = Server::start(place.path(), &options);
    let random = &mut Random(SEED);
    // What the servers allocate once, they have allocated after this.
    all_visit(ports, random);
    let clients = [
        format!("estimate loss stamp://127.0.0.1:{} -d 300ms", ports[0]),
        format!("estimate loss twamp://127.0.0.1:{} -d 300ms", ports[1]),
        format!("estimate loss irtt://127.0.0.1:{} -d 300ms", ports[2]),
        format!("rrul iperf3://127.0.0.1:{} --plan plan.toml", ports[3]),
        format!(
            "rrul ndt7://127.0.0.1:{} --plan plan.toml --insecure",
            ports[4]
        ),
        format!(
            "rpm https://127.0.0.1:{} --insecure --ways down --interval 500ms --most 3s",
            ports[5]
        ),
        format!(
            "udpst 127.0.0.1:{} --udpst-key secret --duration 5s --ways down",
            ports[6]
        ),
    ];
    all_served(place.path(), &clients);
    let (mut before, mut grown) = (resident_kb(server.running.id()), Vec::new());
    loop {
        all_visit(ports, random);
        // They are shown out before these are served.
        all_served(place.path(), &clients[..3]);
        let after = resident_kb(server.running.id());
        let more = after.saturating_sub(before);
        if more < SLACK_KB {
            break;
        }
        grown.push(more);
        assert!(grown.len() < 4, "it grew by {grown:?} kB (seed {SEED:#x})");
        before = after;
    }
    assert!(!server.running.is_over());
}
