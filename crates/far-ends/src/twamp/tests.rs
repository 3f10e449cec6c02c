//! Both ends of TWAMP with each other, and each with octets of anybody.

use super::*;
use crate::{Exchange, Moment, Request, Responder};
use proptest::prelude::*;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use units::{Dscp, TrafficClass};

const WALL: u64 = 1_795_000_000_000_000_000;
const TEST_PORT: u16 = 8_620;

fn asked(payload: usize) -> Asked {
    Asked {
        family: 4,
        sender_port: 50_000,
        receiver_port: PORT,
        payload,
        dscp: Dscp::EF,
        wall_ns: WALL,
    }
}

/// A client's conversation with a server to which it comes from `from`; the port that was agreed on.
fn talk(from: &str, agreed: &Arc<Agreed>) -> (Result<Option<u16>, String>, Conversation) {
    let mut client = Client::new(asked(172));
    let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
    let from: IpAddr = from.parse().unwrap();
    let agreed = Arc::clone(agreed);
    let mut server = Conversation::new(from, TEST_PORT, agreed, 7, &mut to_client);
    loop {
        // Octet by octet: a stream has no messages.
        let mut port = Ok(None);
        for octet in to_client.drain(..) {
            port = client.handle(&[octet], &mut to_server);
            if port != Ok(None) {
                return (port, server);
            }
        }
        for octet in to_server.drain(..) {
            server.handle(&[octet], WALL, &mut to_client).unwrap();
        }
        if to_client.is_empty() {
            return (port, server);
        }
    }
}

fn request(octets: &[u8], port: u16) -> Request<'_> {
    let at = |wall_ns| Moment {
        wall_ns,
        mono_ns: 0,
    };
    Request {
        octets,
        peer: SocketAddr::from(([192, 0, 2, 1], port)),
        received: at(WALL + 5_000_000),
        replied: at(WALL + 5_100_000),
        class: TrafficClass::default(),
        hops_left: 61,
    }
}

#[test]
fn a_session_that_was_agreed_on_is_reflected_until_its_connection_ends() {
    let agreed = Arc::new(Agreed::default());
    let mut reflector = Reflector::new(Arc::clone(&agreed));
    let mut sender = sender(Terms {
        payload: 172,
        duration: Duration::from_secs(10),
        interval: Duration::from_millis(20),
        class: TrafficClass::default(),
        secret: 9,
    });
    let (mut packet, mut reply) = (Vec::new(), Vec::new());
    sender.request(0, WALL, &mut packet);
    assert_eq!(packet.len(), 172);
    assert!(!reflector.respond(&request(&packet, 50_000), &mut reply));

    let (port, server) = talk("192.0.2.1", &agreed);
    assert_eq!(port, Ok(Some(TEST_PORT)));
    for number in 0..5 {
        sender.request(number, WALL, &mut packet);
        assert!(reflector.respond(&request(&packet, 50_000), &mut reply));
        assert_eq!(reply.len(), packet.len());
        let told = sender.handle(&reply, number).unwrap();
        assert_eq!(told.number, number);
        let stamps = told.stamps.unwrap();
        assert!(stamps.received_ns.abs_diff(WALL + 5_000_000) < 2);
        assert!(stamps.replied_ns.abs_diff(WALL + 5_100_000) < 2);
        // The reflector counts, which shows from the second number on.
        assert_eq!(told.arrived, (number > 0).then_some(number + 1));
    }
    // Nobody else's packets.
    assert!(!reflector.respond(&request(&packet, 50_001), &mut reply));
    assert_eq!(reflector.dscp(request(&packet, 50_000).peer), Dscp::EF);
    let mut more = Vec::new();
    let mut server = server;
    assert!(server.latest_ns() >= Some(WALL + 5_000_000));
    // Late packets are answered for the Timeout that was asked for, ten seconds.
    assert_eq!(server.handle(&Client::stop(), WALL, &mut more), Ok(()));
    assert!(more.is_empty() && reflector.respond(&request(&packet, 50_000), &mut reply));
    let mut late = request(&packet, 50_000);
    late.received.wall_ns = WALL + 10_000_000_001;
    assert!(!reflector.respond(&late, &mut reply));
    assert!(reflector.respond(&request(&packet, 50_000), &mut reply));
    drop(server);
    assert!(!reflector.respond(&request(&packet, 50_000), &mut reply));
}

#[test]
fn one_connection_has_one_round_of_sessions_after_another() {
    let agreed = Arc::new(Agreed::default());
    let mut reflector = Reflector::new(Arc::clone(&agreed));
    let mut out = Vec::new();
    let client = "192.0.2.1".parse().unwrap();
    let mut server = Conversation::new(client, TEST_PORT, agreed, 7, &mut out);
    let mut set_up = vec![0; 164];
    set_up[3] = 1;
    server.handle(&set_up, WALL, &mut out).unwrap();
    let mut wanted = vec![0; 112];
    (wanted[0], wanted[1]) = (5, 4);
    wanted[12..14].copy_from_slice(&50_000_u16.to_be_bytes());
    let mut start = vec![0; 32];
    start[0] = 2;
    for round in 0..40 {
        out.clear();
        server.handle(&wanted, WALL, &mut out).unwrap();
        assert_eq!((out.len(), out[0]), (48, 0), "{round}");
        assert!(!reflector.respond(&request(&[0; 60], 50_000), &mut out));
        server.handle(&start, WALL, &mut out).unwrap();
        assert!(reflector.respond(&request(&[0; 60], 50_000), &mut out));
        assert_eq!(out[..4], [0; 4], "a session's replies are numbered from 0");
        server.handle(&Client::stop(), WALL, &mut out).unwrap();
    }
}

#[test]
fn short_packets_get_the_shortest_reply() {
    let agreed = Arc::new(Agreed::default());
    let mut reflector = Reflector::new(Arc::clone(&agreed));
    let (_, _server) = talk("192.0.2.1", &agreed);
    let mut reply = Vec::new();
    for (length, replied) in [(13, None), (14, Some(41)), (41, Some(41)), (60, Some(60))] {
        let packet = vec![1; length];
        let is_answered = reflector.respond(&request(&packet, 50_000), &mut reply);
        assert_eq!(is_answered.then_some(reply.len()), replied, "{length}");
    }
}

#[test]
fn a_session_is_one_clients_and_only_its_own() {
    let agreed = Arc::new(Agreed::default());
    let (first, server) = talk("192.0.2.1", &agreed);
    assert_eq!(first, Ok(Some(TEST_PORT)));
    let (second, _) = talk("::ffff:192.0.2.1", &agreed);
    assert!(second.unwrap_err().contains("no room at the moment"));
    drop(server);
    assert_eq!(talk("192.0.2.1", &agreed).0, Ok(Some(TEST_PORT)));
    // By another version of IP than the connection.
    let (other, _) = talk("2001:db8::1", &agreed);
    assert!(other.unwrap_err().contains("does not support"));
}

/// A request for packets of somebody else's, or that the server should send.
#[test]
fn nobody_else_can_be_made_to_send_or_receive() {
    let agreed = Arc::new(Agreed::default());
    let mut out = Vec::new();
    let client = "192.0.2.1".parse().unwrap();
    let mut server = Conversation::new(client, TEST_PORT, agreed, 7, &mut out);
    let mut set_up = vec![0; 164];
    set_up[3] = 1;
    server.handle(&set_up, WALL, &mut out).unwrap();
    for (place, value) in [(16, 198), (2, 1), (3, 1), (1, 6)] {
        let mut request = vec![0; 112];
        (request[0], request[1], request[12]) = (5, 4, 100);
        request[place] = value;
        out.clear();
        server.handle(&request, WALL, &mut out).unwrap();
        assert_eq!((out.len(), out[0]), (48, 3), "{place}");
    }
    // OWAMP's request, which has none of these answers.
    assert_eq!(server.handle(&[1], WALL, &mut out), Err(Ended));
}

#[test]
fn a_server_that_wants_a_key_is_told_of_in_a_line() {
    for (modes, said) in [(0, "no clients at the moment"), (6, "wants a key")] {
        let mut greeting = vec![0; 64];
        greeting[15] = modes;
        let refused = Client::new(asked(172)).handle(&greeting, &mut Vec::new());
        assert!(refused.unwrap_err().contains(said));
    }
}

proptest! {
    #[test]
    fn no_octets_panic(octets in prop::collection::vec(any::<u8>(), 0..600), cut in 0_usize..600) {
        let mut out = Vec::new();
        let (first, second) = octets.split_at(cut.min(octets.len()));
        let mut client = Client::new(asked(172));
        if client.handle(first, &mut out).is_ok() {
            let _ = client.handle(second, &mut out);
        }
        let agreed = Arc::new(Agreed::default());
        let from = "192.0.2.1".parse().unwrap();
        let mut server = Conversation::new(from, TEST_PORT, Arc::clone(&agreed), 7, &mut out);
        if server.handle(first, WALL, &mut out).is_ok() {
            let _ = server.handle(second, WALL, &mut out);
        }
        let mut reflector = Reflector::new(agreed);
        reflector.respond(&request(&octets, 50_000), &mut out);
    }
}
