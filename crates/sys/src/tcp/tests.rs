use super::*;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use units::TrafficClass;

const LOOPBACKS: [&str; 2] = ["127.0.0.1:0", "[::1]:0"];

/// Both ends of a connection: who opened it, and who accepted it.
fn connection(local: &str) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(local).unwrap();
    let opened = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (opened, listener.accept().unwrap().0)
}

/// Waits until a condition holds that the kernel brings about on its own.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if holds() {
            return;
        }
        crate::clock::sleep_until(crate::clock::now() + Duration::from_millis(1));
    }
    panic!("never: {what}");
}

#[test]
fn the_figures_of_a_transfer_are_those_of_what_was_sent() {
    const OCTETS: usize = 3_000_000;
    for local in LOOPBACKS {
        let (mut opened, mut accepted) = connection(local);
        let writer = std::thread::spawn(move || {
            opened.write_all(&vec![7; OCTETS]).unwrap();
            opened
        });
        accepted.read_exact(&mut vec![0; OCTETS]).unwrap();
        let opened = writer.join().unwrap();
        let all = Some(OCTETS as u64);
        assert_eq!(info(&accepted).unwrap().bytes_received, all);
        eventually("everything acknowledged", || {
            info(&opened).unwrap().bytes_acked == Some(OCTETS as u64 + 1)
        });
        let told = info(&opened).unwrap();
        assert_eq!(told.state, Some(TcpState::Established));
        assert_eq!((told.unacked, told.notsent_bytes), (Some(0), Some(0)));
        assert!(told.bytes_sent >= all);
        assert!(told.rtt.is_some_and(|rtt| rtt > Duration::ZERO));
        assert!(told.min_rtt.is_some() && told.min_rtt <= told.rtt);
        assert!(told.snd_cwnd > Some(1) && told.snd_mss > Some(500));
        assert!(told.data_segs_out > Some(0) && told.delivered >= told.data_segs_out);
        assert!(told.delivery_rate.is_some() && told.app_limited.is_some());
        assert!(told.busy.is_some() && told.rwnd_limited.is_some());
    }
}

#[test]
fn a_socket_that_is_not_tcp_is_an_error_that_says_so() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let error = info(&socket).unwrap_err().to_string();
    assert!(error.starts_with("read TCP_INFO of"), "{error}");
}

#[test]
fn discarded_octets_are_counted_and_gone() {
    let (mut opened, mut accepted) = connection("127.0.0.1:0");
    let empty = try_discard(&accepted, 100).unwrap_err();
    assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
    let octets: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let tail = octets[99_990..].to_vec();
    let writer = std::thread::spawn(move || opened.write_all(&octets).unwrap());
    let mut discarded = 0;
    while discarded < 99_990 {
        discarded += discard(&accepted, 99_990 - discarded).unwrap();
    }
    let mut rest = Vec::new();
    accepted.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, tail);
    assert_eq!(discard(&accepted, 100).unwrap(), 0);
    writer.join().unwrap();
}

#[test]
fn the_dscp_of_an_accepted_connection_is_that_of_its_opener() {
    // The IPv4 client of the dual-stack listener comes as a mapped address.
    for (listen, connect) in [
        ("127.0.0.1:0", "127.0.0.1"),
        ("[::1]:0", "::1"),
        ("[::]:0", "127.0.0.1"),
    ] {
        for octet in [0, 0x20, 0xb8, 0xfc] {
            let class = TrafficClass::from_octet(octet);
            let listener = TcpListener::bind(listen).unwrap();
            let port = listener.local_addr().unwrap().port();
            let to = SocketAddr::new(connect.parse().unwrap(), port);
            let opener = Socket::new(Domain::for_address(to), Type::STREAM, None).unwrap();
            set_traffic_class(&opener, class).unwrap();
            opener.connect(&to.into()).unwrap();
            let accepted = listener.accept().unwrap().0;
            assert_eq!(accepted_class(&accepted).unwrap(), Some(class), "{listen}");
        }
    }
}

#[test]
fn ecn_belongs_to_tcp_and_cannot_be_set() {
    let (opened, _accepted) = connection("127.0.0.1:0");
    set_traffic_class(&opened, TrafficClass::from_octet(0xbb)).unwrap();
    let tos = SockRef::from(&opened).tos_v4().unwrap();
    assert_eq!(tos, 0xb8);
}

#[test]
fn every_available_congestion_control_that_is_allowed_can_be_chosen() {
    let (opened, _accepted) = connection("127.0.0.1:0");
    let available = available_congestion().unwrap();
    assert!(available.iter().any(|name| name == "reno"), "{available:?}");
    for name in &available {
        match set_congestion(&opened, name) {
            Ok(()) => assert_eq!(&congestion(&opened).unwrap(), name),
            Err(Error::CongestionNotAllowed { .. }) => {}
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn an_unknown_congestion_control_is_refused_with_the_list_of_known_ones() {
    let (opened, _accepted) = connection("127.0.0.1:0");
    let error = set_congestion(&opened, "no-such-one").unwrap_err();
    assert!(matches!(error, Error::UnknownCongestion { .. }), "{error}");
    assert!(error.to_string().contains("reno"), "{error}");
}

#[test]
fn a_pacing_limit_shows_in_the_pacing_rate() {
    let (mut opened, accepted) = connection("127.0.0.1:0");
    let limit = Rate::from_bps(8_000_000);
    set_max_pacing(&opened, limit).unwrap();
    opened.write_all(&[0; 10_000]).unwrap();
    assert!(discard(&accepted, 10_000).unwrap() > 0);
    let pacing = info(&opened).unwrap().pacing_rate;
    assert!(pacing.is_some() && pacing <= limit, "{pacing:?}");
    set_max_pacing(&opened, None).unwrap();
}

#[test]
fn small_writes_can_be_hurried() {
    let (opened, _accepted) = connection("[::1]:0");
    set_nodelay(&opened, true).unwrap();
    assert!(opened.nodelay().unwrap());
}

#[test]
fn segments_are_as_short_as_was_asked_and_written_alone_they_leave_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    set_max_segment(&socket, 1_000).unwrap();
    set_nodelay(&socket, true).unwrap();
    socket
        .connect(&listener.local_addr().unwrap().into())
        .unwrap();
    let mut accepted = listener.accept().unwrap().0;
    let mss = info(&socket).unwrap().snd_mss.unwrap();
    // Time stamps take 12 of the 1,000.
    assert!((960..=1_000).contains(&mss), "{mss}");
    for _ in 0..3 {
        let segment = vec![7; mss as usize];
        assert_eq!(send(&socket, &segment, true, true).unwrap(), segment.len());
    }
    accepted.read_exact(&mut vec![0; 3 * mss as usize]).unwrap();
    assert_eq!(info(&socket).unwrap().data_segs_out, Some(3));
    // A write that does not wait is refused when nobody reads and there is no room.
    let refused = (0..100_000).find_map(|_| send(&socket, &[7; 4_096], false, false).err());
    assert_eq!(refused.unwrap().kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn a_window_that_is_offered_has_room_before_anything_arrives() {
    for local in LOOPBACKS {
        let (_opened, accepted) = connection(local);
        let room = || SockRef::from(&accepted).recv_buffer_size().unwrap();
        assert!(room() < 1_000_000, "{}", room());
        offer_window(&accepted, 1_000_000).unwrap();
        assert!(room() >= 1_000_000, "{}", room());
    }
}

#[test]
fn the_namespace_of_the_opener_decides_about_ecn_for_both_versions_of_ip() {
    for wanted in [false, true] {
        let ns = crate::netns::Netns::create().unwrap();
        ns.run(|| {
            set_ecn(wanted)?;
            assert_eq!(requests_ecn(), Some(wanted));
            for local in LOOPBACKS {
                let (opened, accepted) = connection(local);
                assert_eq!(info(&opened)?.ecn, Some(wanted), "{local}");
                assert_eq!(info(&accepted)?.ecn, Some(wanted), "{local}");
            }
            Ok::<(), Error>(())
        })
        .unwrap();
    }
}
