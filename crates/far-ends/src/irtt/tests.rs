use super::*;
use crate::{Moment, Request, Responder};
use proptest::prelude::*;
use units::{Dscp, TrafficClass};

fn client() -> Client {
    client_with(None)
}

fn client_with(key: Option<Key>) -> Client {
    let terms = Terms {
        payload: 172,
        duration: Duration::from_secs(10),
        interval: Duration::from_millis(20),
        class: TrafficClass {
            dscp: Dscp::EF,
            ..TrafficClass::default()
        },
        secret: 1,
    };
    Client::new(terms, key)
}

/// A server's answer to an opening.
fn grant(flags: u8, token: u64, params: Params) -> Vec<u8> {
    let mut out = [MAGIC.as_slice(), &[OPEN | REPLY | flags]].concat();
    out.extend(token.to_le_bytes());
    params.emit(&mut out);
    out
}

#[test]
fn a_connection_is_opened_used_and_closed() {
    let mut client = client();
    // As `irtt client -i 20ms -d 40s -l 172 --stats=count --tstamp=both --clock=wall --dscp=184` begins.
    let opening = client.opening().unwrap();
    assert_eq!(opening[..6], [0x14, 0xa7, 0x5b, 1, 1, 2]);
    assert!(opening.ends_with(&[5, 2, 6, 6, 7, 2, 8, 0xf0, 2]));
    let asked = client.asked;
    assert_eq!(client.handle_opening(b"\x14\xa7\x5b\x01"), Opening::Pending);
    assert_eq!(client.handle_opening(&grant(0, 7, asked)), Opening::Open);
    let mut out = Vec::new();
    client.request(300, 0, &mut out);
    assert_eq!(out.len(), 172);
    assert_eq!(
        out[..16],
        [0x14, 0xa7, 0x5b, 0, 7, 0, 0, 0, 0, 0, 0, 0, 44, 1, 0, 0]
    );
    out[3] = REPLY;
    out[16] = 9;
    out[20] = 5;
    out[28] = 6;
    let reply = Reply {
        number: 300,
        stamps: Some(Stamps {
            received_ns: 5,
            replied_ns: 6,
        }),
        arrived: Some(9),
        class: None,
    };
    assert_eq!(client.handle(&out, 300), Some(reply));
    assert_eq!(client.handle(&out, 299), None, "not sent yet");
    out[4] = 8;
    assert_eq!(client.handle(&out, 300), None, "of another connection");
    let closing = client.closing().unwrap();
    assert_eq!(closing, [0x14, 0xa7, 0x5b, 4, 7, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_server_that_grants_less_is_understood() {
    let mut client = client();
    let less = Params {
        received_stats: WINDOW | COUNT,
        stamp_at: AT_MIDPOINT,
        clock: WALL | MONOTONIC,
        length: 0,
        ..client.asked
    };
    assert_eq!(client.handle_opening(&grant(0, 7, less)), Opening::Open);
    let mut out = Vec::new();
    client.request(0, 0, &mut out);
    assert_eq!(out.len(), 16 + 4 + 8 + 16);
    out[3] = REPLY;
    out[28] = 3;
    let both = Stamps {
        received_ns: 3,
        replied_ns: 3,
    };
    assert_eq!(client.handle(&out, 0).unwrap().stamps, Some(both));
    let none = Params {
        stamp_at: 0,
        received_stats: 0,
        ..less
    };
    client.handle_opening(&grant(0, 7, none));
    let reply = client.handle(&out, 0).unwrap();
    assert_eq!((reply.stamps, reply.arrived), (None, None));
}

#[test]
fn a_server_that_refuses_says_why() {
    let mut client = client();
    let mut refused =
        |flags, token, params| match client.handle_opening(&grant(flags, token, params)) {
            Opening::Refused(reason) => reason,
            other => panic!("{other:?}"),
        };
    let asked = self::client().asked;
    let version_2 = Params {
        version: 2,
        ..asked
    };
    assert!(refused(CLOSE, 0, version_2).contains("version 2"));
    let slow = Params {
        interval_ns: 1_000_000_000,
        ..asked
    };
    assert!(refused(0, 7, slow).contains("interval is 1000 ms"));
    let short = Params {
        duration_ns: 9_000_000_000,
        ..asked
    };
    assert!(refused(0, 7, short).contains("duration is 9 s"));
    assert!(refused(HMAC, 7, asked).contains("--irtt-key"));
}

/// A datagram to a server from `port`, at `seconds`.
fn ask(server: &mut Server, octets: &[u8], port: u16, seconds: u64) -> Option<Vec<u8>> {
    let at = |ns| Moment {
        wall_ns: 1_795_000_000_000_000_000 + ns,
        mono_ns: ns,
    };
    let received = seconds * 1_000_000_000;
    let request = Request {
        octets,
        peer: ([192, 0, 2, 1], port).into(),
        received: at(received),
        replied: at(received + 10_000),
        class: TrafficClass::default(),
        hops_left: 64,
    };
    let mut reply = Vec::new();
    server.respond(&request, &mut reply).then_some(reply)
}

#[test]
fn our_client_and_our_server_understand_each_other() {
    let (mut client, mut server) = (client(), Server::new(2, 7, None));
    let opened = ask(&mut server, &client.opening().unwrap(), 1, 0).unwrap();
    assert_eq!(client.handle_opening(&opened), Opening::Open);
    let mut request = Vec::new();
    // The second request is lost.
    for (number, arrived) in [(0, 1), (2, 2), (3, 3)] {
        client.request(number, 0, &mut request);
        let reply = ask(&mut server, &request, 1, 1).unwrap();
        assert_eq!(reply.len(), request.len());
        let told = client.handle(&reply, number).unwrap();
        let stamps = told.stamps.unwrap();
        assert_eq!(stamps.received_ns, 1_795_000_001_000_000_000);
        assert_eq!(stamps.replied_ns - stamps.received_ns, 10_000);
        assert_eq!((told.number, told.arrived), (number, Some(arrived)));
    }
    assert_eq!(ask(&mut server, &request, 2, 1), None, "from elsewhere");
    assert_eq!(ask(&mut server, &request, 1, 46), None, "too late");
    assert_eq!(ask(&mut server, &client.closing().unwrap(), 1, 2), None);
    assert_eq!(ask(&mut server, &request, 1, 2), None, "closed");
}

#[test]
fn who_has_a_key_speaks_to_nobody_without_it() {
    let key = |text: &str| Some(text.parse().unwrap());
    let keys = [key("secret"), key("other"), None];
    for (at, of_client) in keys.iter().enumerate() {
        for (there, of_server) in keys.iter().enumerate() {
            let mut client = client_with(of_client.clone());
            let mut server = Server::new(1, 7, of_server.clone());
            let opening = client.opening().unwrap();
            let opened = ask(&mut server, &opening, 1, 0);
            assert_eq!(opened.is_some(), at == there, "{at} {there}");
            let Some(opened) = opened else { continue };
            assert_eq!(client.handle_opening(&opened), Opening::Open);
            let mut request = Vec::new();
            client.request(0, 0, &mut request);
            let reply = ask(&mut server, &request, 1, 0).unwrap();
            assert_eq!([request.len(), reply.len()], [172, 172]);
            assert_eq!(client.handle(&reply, 0).unwrap().arrived, Some(1));
            if of_client.is_some() {
                let mut forged = reply.clone();
                forged[40] ^= 1;
                assert_eq!(client.handle(&forged, 0), None);
            }
            ask(&mut server, &client.closing().unwrap(), 1, 0);
            assert_eq!(ask(&mut server, &request, 1, 0), None, "closed");
        }
    }
}

#[test]
fn the_window_tells_which_of_the_last_requests_came() {
    let mut client = client();
    client.asked.received_stats = WINDOW;
    let mut server = Server::new(1, 7, None);
    let opened = ask(&mut server, &client.opening().unwrap(), 1, 0).unwrap();
    client.handle_opening(&opened);
    let mut request = Vec::new();
    let mut window = |number| {
        client.request(number, 0, &mut request);
        let reply = ask(&mut server, &request, 1, 0).unwrap();
        u64::from_le_bytes(field(&reply, HEAD).unwrap())
    };
    let windows = [5, 6, 9, 7, 200].map(&mut window);
    assert_eq!(windows, [0b1, 0b11, 0b11001, 0b11101, 1]);
}

#[test]
fn a_server_forgets_the_eldest_and_refuses_other_versions() {
    let mut server = Server::new(1, 7, None);
    let mut first = client();
    first.handle_opening(&ask(&mut server, &first.opening().unwrap(), 1, 0).unwrap());
    ask(&mut server, &client().opening().unwrap(), 2, 0).unwrap();
    let mut request = Vec::new();
    first.request(0, 0, &mut request);
    assert_eq!(ask(&mut server, &request, 1, 0), None);
    let mut other = client();
    other.asked.version = 2;
    let answer = ask(&mut server, &other.opening().unwrap(), 1, 0).unwrap();
    assert!(matches!(
        client().handle_opening(&answer),
        Opening::Refused(_)
    ));
}

proptest! {
    #[test]
    fn a_server_answers_with_no_more_than_it_was_asked_with(octets in proptest::collection::vec(any::<u8>(), 0..100), flags in 0..16_u8) {
        let mut server = Server::new(1, 7, None);
        let all = [MAGIC.as_slice(), &[flags], &octets].concat();
        if let Some(reply) = ask(&mut server, &all, 1, 0) {
            // An opening's answer has a token, too.
            let more = if flags & OPEN == 0 { 0 } else { 8 };
            prop_assert!(reply.len() <= all.len() + more);
        }
    }

    #[test]
    fn any_octets_are_read(octets in proptest::collection::vec(any::<u8>(), 0..100), opens in any::<bool>()) {
        let mut octets = octets;
        octets.splice(0..0, [MAGIC.as_slice(), &[REPLY | u8::from(opens)]].concat());
        let mut client = client();
        let _ = client.handle_opening(&octets);
        let mut out = Vec::new();
        client.request(1, 0, &mut out);
        let _ = client.handle(&octets, u32::MAX);
    }
}
