//! The protocols that need no session, each with a far end of three lines.

use super::*;
use crate::{dns, icmp, ntp, quic};
use proptest::prelude::*;

fn terms() -> Terms {
    Terms {
        payload: 172,
        duration: Duration::from_secs(10),
        interval: Duration::from_millis(20),
        class: TrafficClass::default(),
        secret: 0xfedc_ba98_7654_3210,
    }
}

/// Requests of three numbers, as `answer` turns them into replies, all seen after number 70,000.
fn replies(exchange: &mut dyn Exchange, answer: impl Fn(&mut Vec<u8>)) -> Vec<Option<u32>> {
    let reply = |number| {
        let mut octets = Vec::new();
        exchange.request(number, 0, &mut octets);
        answer(&mut octets);
        Some(exchange.handle(&octets, 70_000)?.number)
    };
    [5_000, 69_999, 70_001].map(reply).to_vec()
}

#[test]
fn time_servers_reply_with_both_stamps() {
    let mut client = ntp::Client::new(terms());
    let answer = |octets: &mut Vec<u8>| {
        octets[0] = 4 << 3 | 4;
        octets[1] = 2;
        octets.copy_within(40..48, 24);
        octets[32..40].copy_from_slice(&time::to_ntp(1_795_000_000_000_000_000).to_be_bytes());
        octets[40..48].copy_from_slice(&time::to_ntp(1_795_000_000_000_020_000).to_be_bytes());
    };
    assert_eq!(
        replies(&mut client, answer),
        [Some(5_000), Some(69_999), None]
    );
    let mut octets = Vec::new();
    client.request(1, 0, &mut octets);
    assert_eq!((octets.len(), octets[0]), (48, 0x23));
    answer(&mut octets);
    let stamps = client.handle(&octets, 1).unwrap().stamps.unwrap();
    assert!((stamps.replied_ns - stamps.received_ns).abs_diff(20_000) <= 1);
    octets[1] = 0;
    assert_eq!(client.handle(&octets, 1), None, "a kiss of death");
}

#[test]
fn resolvers_repeat_identifier_and_question() {
    let mut client = dns::Client::new(terms());
    let answer = |octets: &mut Vec<u8>| octets[2] |= 0x80;
    // Only the lower half of the number is on the wire: 70,001 is taken for the one 65,536 before it.
    assert_eq!(
        replies(&mut client, answer),
        [Some(5_000), Some(69_999), Some(70_001 - 65_536)]
    );
    assert_eq!(replies(&mut client, |_| {}), [None, None, None]);
    assert_eq!(
        replies(&mut client, |octets| {
            octets[2] |= 0x80;
            octets[14] = 7;
        }),
        [None, None, None],
        "another question"
    );
}

#[test]
fn servers_of_quic_repeat_both_connection_ids_and_name_versions() {
    let mut client = quic::Client::new(terms());
    let answer = |octets: &mut Vec<u8>| {
        // Destination and source change places (RFC 8999 section 6).
        let (there, back) = (octets[6..14].to_vec(), octets[15..23].to_vec());
        octets[1..5].fill(0);
        octets[6..14].copy_from_slice(&back);
        octets[15..23].copy_from_slice(&there);
        octets.truncate(23);
        octets.extend([0, 0, 0, 1]);
    };
    assert_eq!(
        replies(&mut client, answer),
        [Some(5_000), Some(69_999), None]
    );
    let spoiled = |at: usize| {
        replies(&mut quic::Client::new(terms()), |octets| {
            answer(octets);
            octets[at] ^= 0x80;
        })
    };
    // Short header, another version, IDs of another length and of somebody else.
    for at in [0, 1, 5, 6, 14, 22] {
        assert_eq!(spoiled(at), [None; 3], "{at}");
    }
    assert_eq!(replies(&mut client, |_| {}), [None; 3], "a request");
    let mut octets = Vec::new();
    client.request(1, 0, &mut octets);
    let version = u32::from_be_bytes(field(&octets, 1).unwrap());
    assert_eq!((octets.len(), version & 0x0f0f_0f0f), (1_200, 0x0a0a_0a0a));
}

#[test]
fn echoes_come_back_as_they_left() {
    for (is_v6, reply) in [(false, 0), (true, 129)] {
        let mut echo = icmp::Echo::new(terms(), is_v6);
        let answer = |octets: &mut Vec<u8>| octets[0] = reply;
        let found = replies(&mut echo, answer);
        assert_eq!(found[1], Some(69_999));
        assert_eq!(replies(&mut echo, |_| {})[1], None, "a request is no reply");
        let mut octets = Vec::new();
        echo.request(1, 0, &mut octets);
        assert_eq!(octets.len(), 172);
        let words = octets
            .chunks(2)
            .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
        let sum: u32 = words.sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        assert!(is_v6 || folded == 0xffff, "RFC 1071");
    }
}

#[test]
fn halves_of_numbers_are_the_latest_possible() {
    assert_eq!(expand(5, 4), None);
    assert_eq!(expand(5, 5), Some(5));
    assert_eq!(expand(0xffff, 0x1_0000), Some(0xffff));
    assert_eq!(expand(0, 0x1_0000), Some(0x1_0000));
}

proptest! {
    #[test]
    fn any_octets_are_read(octets in proptest::collection::vec(any::<u8>(), 0..100), latest in any::<u32>()) {
        let mut all: [Box<dyn Exchange>; 4] = [
            Box::new(ntp::Client::new(terms())),
            Box::new(dns::Client::new(terms())),
            Box::new(icmp::Echo::new(terms(), false)),
            Box::new(quic::Client::new(terms())),
        ];
        for exchange in &mut all {
            let _ = exchange.handle(&octets, latest);
        }
    }
}

#[test]
fn a_far_end_has_a_request_no_longer_than_the_round_trip_and_no_time_below_zero() {
    let held = |received_ns, replied_ns| {
        let stamps = Stamps {
            received_ns,
            replied_ns,
        };
        let held = stamps.held(Duration::from_micros(10));
        held.map(|held| held.as_nanos())
    };
    assert_eq!(held(5_000, 7_000), Some(2_000));
    assert_eq!(held(5_000, 15_000), Some(10_000));
    assert_eq!(held(5_000, 4_999), Some(0), "by two clocks");
    assert_eq!(held(5_000_000, 5_000), None, "long before it came");
    assert_eq!(held(5_000, u64::MAX), None, "longer than the round trip");
    assert_eq!(held(u64::MAX, 0), None);
    let of_our_time = |received_ns| {
        let stamps = Stamps {
            received_ns,
            replied_ns: received_ns,
        };
        stamps.is_of_our_time(1_795_000_000_000_000_000)
    };
    // A clock that was never set, and one of centuries ahead.
    assert_eq!([0, u64::MAX].map(of_our_time), [true, false]);
}
