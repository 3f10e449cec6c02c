use super::*;
use crate::clock;
use std::net::IpAddr;
use units::{Dscp, Ecn, TrafficClass};

const LOOPBACKS: [&str; 2] = ["127.0.0.1:0", "[::1]:0"];
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn bound(local: &str) -> UdpSocket {
    UdpSocket::bind(local.parse().unwrap()).unwrap()
}

fn to(socket: &UdpSocket, payload: &'static [u8]) -> Outgoing<'static> {
    Outgoing {
        payload,
        to: Some(socket.local_addr().unwrap()),
        from: None,
        class: TrafficClass::default(),
    }
}

/// Receives until `count` datagrams have been shown to `see`.
#[track_caller]
fn receive(socket: &UdpSocket, count: usize, mut see: impl FnMut(Datagram<'_>)) {
    let mut batch = RecvBatch::new(BATCH, 2_048);
    let mut seen = 0;
    while seen < count {
        assert!(socket.wait(PATIENCE).unwrap().datagram, "{seen} of {count}");
        seen += socket.recv(&mut batch).unwrap();
        batch.iter().for_each(&mut see);
    }
    assert_eq!(seen, count);
}

/// Waits for events until `count` have come.
#[track_caller]
fn events(socket: &UdpSocket, count: usize) -> Vec<Event> {
    let mut events = Vec::new();
    while events.len() < count {
        assert!(socket.wait(PATIENCE).unwrap().event, "{events:?}");
        while let Some(event) = socket.poll_event().unwrap() {
            events.push(event);
        }
    }
    events
}

#[test]
fn every_traffic_class_arrives_in_both_families() {
    for local in LOOPBACKS {
        let (sender, receiver) = (bound(local), bound(local));
        for octet in 0..=255 {
            let class = TrafficClass::from_octet(octet);
            let datagram = Outgoing {
                class,
                ..to(&receiver, b"x")
            };
            assert_eq!(sender.send(&[datagram]).unwrap().count, 1);
            receive(&receiver, 1, |got| {
                assert_eq!(got.class, Some(class), "{local}");
            });
        }
    }
}

#[test]
fn an_ipv4_peer_of_a_dual_stack_socket_is_seen_and_answered_as_such() {
    let (client, server) = (bound("127.0.0.1:0"), bound("[::]:0"));
    let port = server.local_addr().unwrap().port();
    let class = TrafficClass {
        dscp: Dscp::EF,
        ecn: Ecn::Ect1,
    };
    let asked: SocketAddr = ([127, 0, 0, 9], port).into();
    let question = Outgoing {
        payload: b"q",
        to: Some(asked),
        from: None,
        class,
    };
    client.send(&[question]).unwrap();
    receive(&server, 1, |got| {
        assert_eq!(got.source, client.local_addr().unwrap());
        assert_eq!((got.local, got.class), (Some(asked.ip()), Some(class)));
        let answer = Outgoing {
            payload: b"a",
            to: Some(got.source),
            from: got.local,
            class,
        };
        assert_eq!(server.send(&[answer]).unwrap().count, 1);
    });
    receive(&client, 1, |got| {
        assert_eq!((got.source, got.class), (asked, Some(class)));
    });
}

#[test]
fn a_wildcard_socket_answers_from_the_address_it_was_asked_at() {
    for (wildcard, asked) in [("0.0.0.0:0", "127.0.0.7"), ("[::]:0", "::1")] {
        let server = bound(wildcard);
        let asked = SocketAddr::new(asked.parse().unwrap(), server.local_addr().unwrap().port());
        let client = bound(if asked.is_ipv4() {
            LOOPBACKS[0]
        } else {
            LOOPBACKS[1]
        });
        let question = Outgoing {
            to: Some(asked),
            ..to(&client, b"q")
        };
        client.send(&[question]).unwrap();
        receive(&server, 1, |got| {
            assert_eq!(got.local, Some(asked.ip()));
            let answer = Outgoing {
                from: got.local,
                ..to(&client, b"a")
            };
            server.send(&[answer]).unwrap();
        });
        receive(&client, 1, |got| assert_eq!(got.source, asked));
    }
}

#[test]
fn a_connected_dual_stack_socket_marks_what_it_sends_to_an_ipv4_peer() {
    let (mut client, server) = (bound("[::]:0"), bound("127.0.0.1:0"));
    client.connect(server.local_addr().unwrap()).unwrap();
    let class = TrafficClass::from_octet(0xb9);
    let datagram = Outgoing {
        payload: b"x",
        to: None,
        from: None,
        class,
    };
    client.send(&[datagram]).unwrap();
    receive(&server, 1, |got| assert_eq!(got.class, Some(class)));
}

/// Waits until the kernel stamps what arrives: it begins some time after it was asked to.
#[track_caller]
pub(super) fn await_stamps(sender: &UdpSocket, receiver: &UdpSocket) {
    let mut stamped = false;
    for _ in 0..2_000 {
        sender.send(&[to(receiver, b"?")]).unwrap();
        receive(receiver, 1, |got| stamped = got.wall_ns.is_some());
        if stamped {
            return;
        }
        clock::sleep_until(clock::now() + Duration::from_millis(1));
    }
    panic!("the kernel never stamps what it takes in");
}

/// Holds manager/stamps.
#[test]
fn kernel_stamps_lie_between_the_clock_readings_around_the_calls() {
    for local in LOOPBACKS {
        let (sender, receiver) = (bound(local), bound(local));
        await_stamps(&sender, &receiver);
        let mut last = 0;
        for _ in 0..50 {
            let before = clock::stamp().wall_ns;
            sender.send(&[to(&receiver, b"x")]).unwrap();
            receive(&receiver, 1, |got| {
                let at = got.wall_ns.unwrap();
                let after = clock::stamp().wall_ns;
                assert!(before <= at && at <= after, "{before} {at} {after}");
                assert!(at >= last);
                last = at;
            });
        }
    }
}

#[test]
fn transmit_stamps_carry_the_identifiers_that_send_returned() {
    for local in LOOPBACKS {
        let (sender, receiver) = (bound(local), bound(local));
        sender.enable_tx_stamps().unwrap();
        let before = clock::stamp().wall_ns;
        let mut expected = Vec::new();
        for size in [1, 3, 1, 8] {
            let sent = sender.send(&vec![to(&receiver, b"x"); size]).unwrap();
            assert_eq!(sent.count, size);
            expected.extend((sent.first_id..).take(size));
        }
        let after = clock::stamp().wall_ns;
        let mut last = before;
        for (event, expected) in events(&sender, expected.len()).iter().zip(expected) {
            let Event::Sent { id, wall_ns } = *event else {
                panic!("{event:?}")
            };
            assert_eq!(id, expected);
            assert!(last <= wall_ns && wall_ns <= after);
            last = wall_ns;
        }
        assert_eq!(sender.poll_event().unwrap(), None);
    }
}

#[test]
fn a_batch_of_64_arrives_whole_and_in_order() {
    let (sender, receiver) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    let payloads: Vec<[u8; 100]> = (0..100).map(|n| [n; 100]).collect();
    let datagrams: Vec<_> = payloads
        .iter()
        .map(|payload| Outgoing {
            payload,
            ..to(&receiver, b"")
        })
        .collect();
    assert_eq!(sender.send(&datagrams).unwrap().count, BATCH);
    let mut batch = RecvBatch::new(BATCH, 1_500);
    assert_eq!(receiver.recv(&mut batch).unwrap(), BATCH);
    for (n, got) in batch.iter().enumerate() {
        assert_eq!(got.payload, payloads[n]);
        assert_eq!(got.source, sender.local_addr().unwrap());
    }
    assert_eq!(receiver.recv(&mut batch).unwrap(), 0);
    assert_eq!(batch.iter().len(), 0);
}

#[test]
fn a_long_datagram_is_cut_and_says_so() {
    let (sender, receiver) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    sender
        .send(&[
            to(&receiver, &[1; 300]),
            to(&receiver, &[2; 100]),
            to(&receiver, b""),
        ])
        .unwrap();
    let mut batch = RecvBatch::new(8, 100);
    assert_eq!(receiver.recv(&mut batch).unwrap(), 3);
    let told: Vec<_> = batch
        .iter()
        .map(|got| (got.payload.len(), got.length, got.is_truncated()))
        .collect();
    assert_eq!(told, [(100, 300, true), (100, 100, false), (0, 0, false)]);
}

#[test]
fn a_refused_datagram_is_an_event_and_numbers_stay_right() {
    for local in LOOPBACKS {
        let nobody = bound(local).local_addr().unwrap();
        let mut sender = bound(local);
        sender.connect(nobody).unwrap();
        sender.enable_tx_stamps().unwrap();
        let datagram = Outgoing {
            payload: b"x",
            to: None,
            from: None,
            class: TrafficClass::default(),
        };
        for id in 0..3 {
            let sent = sender.send(&[datagram]).unwrap();
            assert_eq!((sent.count, sent.first_id), (1, id));
        }
        let mut batch = RecvBatch::new(1, 100);
        assert_eq!(sender.recv(&mut batch).unwrap(), 0);
        let mut ids = Vec::new();
        for event in events(&sender, 6) {
            match event {
                Event::Sent { id, .. } => ids.push(id),
                Event::Icmp(error) => {
                    assert_eq!(error.errno, libc::ECONNREFUSED);
                    assert_eq!(
                        error.kind,
                        Some(if nobody.is_ipv4() { (3, 3) } else { (1, 4) })
                    );
                    assert_eq!(error.to, Some(nobody));
                    assert_eq!(error.reporter, Some(nobody.ip()));
                    assert_eq!(error.quoted.as_bytes(), b"x");
                    assert!(!error.is_hop_limit());
                }
            }
        }
        assert_eq!(ids, [0, 1, 2]);
    }
}

#[test]
fn a_hop_limit_of_none_is_refused_and_any_other_taken() {
    for local in LOOPBACKS {
        let socket = bound(local);
        socket.set_hop_limit(1).unwrap();
        socket.set_hop_limit(255).unwrap();
        assert!(socket.set_hop_limit(0).is_err() || local.starts_with('['));
    }
}

#[test]
fn what_cannot_be_sent_is_an_error_with_the_destination() {
    let sender = bound("127.0.0.1:0");
    let octets = vec![0; 70_000];
    let datagram = Outgoing {
        payload: &octets,
        ..to(&sender, b"")
    };
    let error = sender.send(&[datagram]).unwrap_err().to_string();
    assert!(
        error.starts_with("send 70000 octets to 127.0.0.1:"),
        "{error}"
    );
    let taken = UdpSocket::bind(sender.local_addr().unwrap()).unwrap_err();
    assert_eq!(taken.kind(), Some(io::ErrorKind::AddrInUse));
}

#[test]
fn datagrams_that_found_no_room_are_counted() {
    let (sender, receiver) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    let granted = receiver.set_buffers(4_096, 65_536).unwrap();
    assert!(
        granted.receive < 65_536 && granted.send >= 4_096,
        "{granted:?}"
    );
    let mut batch = RecvBatch::new(BATCH, 1_500);
    sender.send(&[to(&receiver, &[0; 1_400]); BATCH]).unwrap();
    let room = receiver.recv(&mut batch).unwrap();
    assert!(room < BATCH);
    sender.send(&[to(&receiver, b"after")]).unwrap();
    assert_eq!(receiver.recv(&mut batch).unwrap(), 1);
    assert_eq!(batch.overflows() as usize, BATCH - room);
    // Another socket that is read into the same buffers has its own.
    let other = bound("127.0.0.1:0");
    sender.send(&[to(&other, b"x")]).unwrap();
    assert_eq!(other.recv(&mut batch).unwrap(), 1);
    assert_eq!(batch.overflows(), 0);
}

#[test]
fn waiting_for_nothing_ends_with_nothing() {
    let socket = bound("127.0.0.1:0");
    let ready = socket.wait(Duration::from_micros(200)).unwrap();
    assert_eq!(ready, Ready::default());
    assert_eq!(socket.poll_event().unwrap(), None);
}

#[test]
fn control_messages_of_any_shape_are_read_without_panic() {
    use crate::control::Control;
    let mut control = Control::EMPTY;
    control.push(libc::IPPROTO_IP, libc::IP_RECVERR, &[4; 3]);
    control.push(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &[1; 7]);
    control.push(libc::IPPROTO_IP, libc::IP_PKTINFO, &[]);
    assert_eq!(event::event(control.as_bytes(), None), None);
    assert_eq!(
        receive::marks(control.as_bytes()),
        receive::Marks::default()
    );
}

#[test]
fn an_icmp_error_reads_as_a_sentence() {
    let error = IcmpError {
        errno: libc::ECONNREFUSED,
        kind: Some((3, 3)),
        to: Some("10.0.0.1:9".parse().unwrap()),
        reporter: Some(IpAddr::from([10, 0, 0, 1])),
        mtu: None,
        wall_ns: None,
        quoted: Quoted::EMPTY,
    };
    assert_eq!(
        error.to_string(),
        "datagram to 10.0.0.1:9: Connection refused (os error 111), says 10.0.0.1"
    );
}

#[test]
fn a_socket_beside_another_takes_what_its_peer_sends_and_nothing_else() {
    let shared = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = shared.local_addr().unwrap();
    let client = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let peer = client.local_addr().unwrap();
    let beside = shared.beside(peer, Some(port.ip())).unwrap();
    client.send_to(b"peer", port).unwrap();
    stranger.send_to(b"stranger", port).unwrap();
    let received = |socket: &UdpSocket| {
        let mut batch = RecvBatch::new(4, 64);
        assert!(socket.wait(PATIENCE).unwrap().datagram);
        socket.recv(&mut batch).unwrap();
        let payloads: Vec<_> = batch.iter().map(|d| d.payload.to_vec()).collect();
        payloads
    };
    assert_eq!(received(&beside), [b"peer".to_vec()]);
    assert_eq!(received(&shared), [b"stranger".to_vec()]);
    // The permission to share the port was for that moment.
    let joined = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
    joined.set_reuse_address(true).unwrap();
    assert!(joined.bind(&port.into()).is_err());
    drop(beside);
    client.send_to(b"again", port).unwrap();
    assert_eq!(received(&shared), [b"again".to_vec()]);
}

#[test]
fn a_datagram_that_would_have_to_be_cut_fails_where_that_is_forbidden() {
    let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(peer.local_addr().unwrap()).unwrap();
    socket.forbid_fragments().unwrap();
    let mtu = socket.path_mtu().unwrap() as usize;
    // The loopback interface takes more than a datagram can have where its MTU is 64 KiB and more.
    let longest = (mtu - 28).min(65_507);
    let octets = vec![0; longest + 1];
    let out = |length: usize| Outgoing {
        payload: &octets[..length],
        to: None,
        from: None,
        class: TrafficClass::default(),
    };
    assert_eq!(socket.send(&[out(longest)]).unwrap().count, 1);
    let error = socket.send(&[out(longest + 1)]).unwrap_err();
    assert!(error.is_too_long(), "{error}");
}
