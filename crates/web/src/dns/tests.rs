use super::*;
use crate::names::host_name;
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

const TOKEN: u64 = 0x0123_4567_89ab_cdef;
const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7));

/// The far end's answer to `query`, asked at `local`.
fn asked(query: &[u8], local: IpAddr) -> Option<Reply> {
    let mut out = vec![1, 2, 3];
    let is_answered = answer(query, |token| token == TOKEN, local, &mut out);
    assert_eq!(is_answered, !out.is_empty());
    assert!(out.len() <= query.len());
    is_answered.then(|| reply(&out).unwrap())
}

fn ask(name: &str, family: Family, local: IpAddr) -> Option<Reply> {
    let query = query(7, name, family);
    assert_eq!(query.len(), 128, "{name}");
    asked(&query, local)
}

#[test]
fn a_live_host_has_the_address_it_was_asked_at() {
    let name = host_name("www", TOKEN);
    let reply = |addresses| {
        let (id, rcode, is_truncated) = (7, 0, false);
        Some(Reply {
            id,
            rcode,
            is_truncated,
            addresses,
        })
    };
    assert_eq!(ask(&name, Family::V4, V4), reply(vec![V4]));
    assert_eq!(ask(&name, Family::V6, V6), reply(vec![V6]));
    let mapped = "::ffff:192.0.2.7".parse().unwrap();
    assert_eq!(ask(&name, Family::V4, mapped), reply(vec![V4]));
    assert_eq!(ask(&name, Family::V6, V4), reply(vec![]));
    assert_eq!(ask(&name, Family::V4, V6), reply(vec![]));
    assert_eq!(ask(&name.to_uppercase(), Family::V4, V4), reply(vec![V4]));
}

#[test]
fn other_names_of_ours_do_not_exist_and_names_of_others_get_no_answer() {
    for name in [
        host_name("www", TOKEN ^ 1),
        "isobath.test".into(),
        "x.isobath.test".into(),
    ] {
        let reply = ask(&name, Family::V4, V4).unwrap();
        assert_eq!(
            (reply.rcode, reply.rcode_name()),
            (3, "Non-Existent Domain")
        );
        assert!(reply.addresses.is_empty());
    }
    for name in ["example.com", "xisobath.test", "test", "."] {
        assert_eq!(ask(name, Family::V4, V4), None, "{name}");
    }
}

#[test]
fn a_question_without_room_gets_a_truncated_answer() {
    let mut name = Name::from_ascii(host_name("www", TOKEN)).unwrap();
    name.set_fqdn(true);
    let mut message = Message::new(9, MessageType::Query, OpCode::Query);
    message.add_query(Query::query(name, RecordType::A));
    let query = message.to_vec().unwrap();
    let reply = asked(&query, V4).unwrap();
    assert!(reply.is_truncated);
    assert_eq!((reply.id, reply.rcode, reply.addresses), (9, 0, vec![]));
}

#[test]
fn other_classes_are_refused_and_other_versions_of_edns_told_so() {
    let query = query(7, &host_name("www", TOKEN), Family::V4);
    let class = query.len() - 128 + 12 + host_name("www", TOKEN).len() + 2 + 2;
    let mut chaos = query.clone();
    assert_eq!(chaos[class..class + 2], [0, 1]);
    chaos[class + 1] = 3;
    assert_eq!(asked(&chaos, V4).unwrap().rcode, 5);
    let mut version = query;
    // After the question: root name, type, payload, upper response code, version.
    let at = class + 2 + 1 + 2 + 2 + 1;
    version[at] = 1;
    let reply = asked(&version, V4).unwrap();
    assert_eq!((reply.rcode, reply.addresses), (16, vec![]));
}

#[test]
fn only_questions_look_like_one() {
    let query = query(0x4953, &host_name("www", TOKEN), Family::V4);
    assert!(looks_like_query(&query));
    for (at, value) in [(2, 0x80), (2, 0x28), (4, 1), (5, 0), (5, 2), (7, 1), (9, 1)] {
        let mut other = query.clone();
        other[at] = value;
        assert!(!looks_like_query(&other), "{at}");
    }
    assert!(!looks_like_query(
        b"ISOB\x00\x01\x00\x00\x00\x00\x00\x00 and the rest"
    ));
    assert!(!looks_like_query(&query[..16]));
    assert!(!looks_like_query(&vec![0; 65_000]));
}

#[test]
fn what_is_no_answer_is_told_apart() {
    assert_eq!(reply(b"hello"), Err(DnsError::Malformed));
    let question = query(1, "www.example", Family::V4);
    assert_eq!(reply(&question), Err(DnsError::Question));
    assert!(query(1, &"x".repeat(64), Family::V4).is_empty());
}

proptest! {
    #[test]
    fn no_octets_panic_and_no_answer_is_longer(octets in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut out = Vec::new();
        answer(&octets, |_| true, V6, &mut out);
        prop_assert!(out.len() <= octets.len());
        let _ = reply(&octets);
    }

    #[test]
    fn no_damaged_question_panics_or_grows(
        at in 0_usize..128, octet: u8, cut in 0_usize..128, host in "[a-z]{1,32}",
    ) {
        let mut octets = query(1, &host_name(&host, TOKEN), Family::V6);
        octets[at] = octet;
        octets.truncate(128 - cut);
        let mut out = Vec::new();
        answer(&octets, |_| true, V6, &mut out);
        prop_assert!(out.len() <= octets.len());
        let _ = reply(&out);
    }

    #[test]
    fn every_host_is_answered_whole(host in "[a-z0-9]{1,32}", token: u64, id: u16) {
        let query = query(id, &host_name(&host, token), Family::V6);
        let mut out = Vec::new();
        prop_assert!(answer(&query, |live| live == token, V6, &mut out));
        let reply = reply(&out).unwrap();
        prop_assert_eq!((reply.id, reply.addresses), (id, vec![V6]));
    }
}
