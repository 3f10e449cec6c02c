use super::*;
use proptest::prelude::*;
use units::{Dscp, TrafficClass};

fn client() -> Client {
    Client::new(Terms {
        payload: 172,
        duration: Duration::from_secs(10),
        interval: Duration::from_millis(20),
        class: TrafficClass {
            dscp: Dscp::EF,
            ..TrafficClass::default()
        },
        secret: 1,
    })
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
    assert_eq!(client.duration(), Duration::from_secs(40));
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
    assert!(refused(0, 7, slow).contains("every 1000 ms"));
    assert!(refused(HMAC, 7, asked).contains("HMAC"));
}

proptest! {
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
