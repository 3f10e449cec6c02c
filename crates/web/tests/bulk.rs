//! Loads over QUIC between the real ends, on the loopback interface.
#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

mod stand;

use isobath_web::Target;
use isobath_web::bulk::{self, Bulk, Loads};
use stand::{LONG, Stand, TOKEN};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use sys::clock;
use sys::udp::{BATCH, Outgoing, RecvBatch, UdpSocket};
use units::{Dscp, Ecn, Rate, TrafficClass};

const GREETING: [u8; bulk::GREETING] = *b"0123456789abcdefghijklmnopqrstuv";
const HALF: Duration = Duration::from_millis(500);

fn never() -> bool {
    false
}

fn loads(stand: &Stand) -> Loads {
    stand.site.loads(TOKEN, stand.address().ip())
}

fn connect(stand: &Stand) -> Result<Bulk, String> {
    bulk::connect(&stand.target, &GREETING, LONG, &never)
}

/// Sends at the one end for `time`, receives at the other; octets that came.
fn carry((mut sender, mut receiver): (Bulk, Bulk), time: Duration, rate: Option<Rate>) -> u64 {
    let read = AtomicU64::new(0);
    let latest = clock::now() + time + HALF;
    thread::scope(|scope| {
        let receiving = scope.spawn(|| receiver.receive(&read, latest, &never));
        let sent = sender.send(clock::now() + time, rate, &never);
        assert_eq!(sent, Ok(()));
        let watch = sender.watch().info();
        assert!(watch.rtt.unwrap() > Duration::ZERO && watch.snd_cwnd > Some(0));
        assert!(watch.segs_out.unwrap() > 0 && watch.bytes_received.is_none());
        drop(sender);
        assert!(receiving.join().unwrap().is_some());
    });
    read.into_inner()
}

#[test]
fn octets_go_down_and_up_and_the_greeting_comes_first() {
    let stand = Stand::new();
    let loads = loads(&stand);
    for is_up in [false, true] {
        let near = connect(&stand).unwrap();
        let far = loads.next(LONG).unwrap();
        assert_eq!(far.greeting(), &GREETING);
        let ends = if is_up { (near, far) } else { (far, near) };
        // How much depends on the machine.
        assert!(carry(ends, HALF, None) > 0);
    }
}

#[test]
fn a_rate_is_kept_to() {
    let stand = Stand::new();
    let loads = loads(&stand);
    let near = connect(&stand).unwrap();
    let far = loads.next(LONG).unwrap();
    let rate = Rate::from_bps(8_000_000).unwrap();
    let begun = clock::now();
    let octets = carry((near, far), 2 * HALF, Some(rate));
    // A machine that stands still sends less.
    let most = rate.bytes_in(clock::now().since(begun)) + 2_000;
    assert!((1..most).contains(&octets), "{octets} of {most}");
}

/// Hands datagrams on between one client and a server, both ways with the class with which they came; all classes, up and down.
fn hand_on(between: &UdpSocket, server: SocketAddr, stop: &AtomicBool) -> [Vec<TrafficClass>; 2] {
    let mut batch = RecvBatch::new(BATCH, 2_048);
    let (mut client, mut classes) = (None, [Vec::new(), Vec::new()]);
    while !stop.load(Ordering::Relaxed) {
        between.wait(Duration::from_millis(20)).unwrap();
        between.recv(&mut batch).unwrap();
        for datagram in batch.iter() {
            let is_up = datagram.source != server;
            let class = datagram.class.unwrap();
            classes[usize::from(!is_up)].push(class);
            if is_up {
                client = Some(datagram.source);
            }
            let out = Outgoing {
                payload: datagram.payload,
                to: if is_up { Some(server) } else { client },
                from: None,
                class,
            };
            between.send(&[out]).unwrap();
        }
    }
    classes
}

#[test]
fn both_ends_mark_all_packets_with_the_clients_class() {
    let stand = Stand::new();
    let loads = loads(&stand);
    let between = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let stop = AtomicBool::new(false);
    let target = Target {
        peer: between.local_addr().unwrap(),
        dscp: Dscp::EF,
        ..stand.target
    };
    let classes = thread::scope(|scope| {
        let handing = scope.spawn(|| hand_on(&between, stand.address(), &stop));
        let near = bulk::connect(&target, &GREETING, LONG, &never).unwrap();
        let far = loads.next(LONG).unwrap();
        let rate = Rate::from_bps(1_000_000).unwrap();
        assert!(carry((far, near), HALF, Some(rate)) > 0);
        stop.store(true, Ordering::Relaxed);
        handing.join().unwrap()
    });
    for way in classes {
        assert!(way.len() > 2);
        assert!(way.iter().all(|class| class.dscp == Dscp::EF), "{way:?}");
        // QUIC asks for marks of congestion (RFC 9000 section 13.4).
        assert!(way.iter().any(|class| class.ecn == Ecn::Ect0), "{way:?}");
    }
}

#[test]
fn whoever_is_told_to_stop_stops() {
    let stand = Stand::new();
    let loads = loads(&stand);
    let mut near = connect(&stand).unwrap();
    let far = loads.next(LONG).unwrap();
    let (stop, read) = (AtomicBool::new(false), AtomicU64::new(0));
    let latest = clock::now() + LONG;
    thread::scope(|scope| {
        let receiving =
            scope.spawn(|| near.receive(&read, latest, &|| stop.load(Ordering::Relaxed)));
        thread::park_timeout(Duration::from_millis(50));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(receiving.join().unwrap(), None);
        assert!(clock::now() < latest, "it was told so");
    });
    drop(far);
}

#[test]
fn a_session_that_wants_no_loads_has_none() {
    let stand = Stand::new();
    let (_, _published) = stand.publish("today");
    // It has a page, so its connection is taken, and closed when it is seen what it is for.
    let ended = connect(&stand).and_then(|mut near| {
        let (read, latest) = (AtomicU64::new(0), clock::now() + LONG);
        assert_eq!(near.receive(&read, latest, &never), None);
        near.send(latest, None, &never)
    });
    let why = ended.unwrap_err();
    assert!(why.contains("closed"), "{why}");
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let good = stand.target;
    let stranger = Target {
        fingerprint: [0; 32],
        ..good
    };
    let nobody = Target {
        peer: silent.local_addr().unwrap(),
        ..good
    };
    for (target, end) in [
        (stranger, "is not the host that the key was made for"),
        (nobody, "nobody answers"),
    ] {
        let failed = bulk::connect(&target, &GREETING, HALF, &never);
        let why = failed.map(drop).unwrap_err();
        assert!(why.ends_with(end), "{why}");
    }
}
