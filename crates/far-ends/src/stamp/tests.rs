use super::*;
use crate::{Moment, Request, Responder};
use proptest::prelude::*;
use std::time::Duration;

fn terms(payload: usize) -> Terms {
    Terms {
        payload,
        duration: Duration::from_secs(10),
        interval: Duration::from_millis(20),
        class: TrafficClass {
            dscp: Dscp::EF,
            ecn: Ecn::Ect0,
        },
        secret: 0x1234_5678_9abc_def0,
    }
}

/// What a reflector makes of a request that came from `port` with this mark.
fn reflect(
    reflector: &mut Reflector,
    octets: &[u8],
    port: u16,
    class: TrafficClass,
) -> Option<Vec<u8>> {
    let at = |wall_ns| Moment {
        wall_ns,
        mono_ns: 0,
    };
    let request = Request {
        octets,
        peer: ([192, 0, 2, 1], port).into(),
        received: at(RECEIVED),
        replied: at(REPLIED),
        class,
        hops_left: 61,
    };
    let mut reply = Vec::new();
    reflector.respond(&request, &mut reply).then_some(reply)
}

const SENT: u64 = 1_795_000_000_000_000_000;
const RECEIVED: u64 = SENT + 7_000_000;
const REPLIED: u64 = SENT + 7_100_000;

#[test]
fn a_request_is_laid_out_as_the_standard_says() {
    let mut out = Vec::new();
    Sender::new(terms(LEN), None).request(5, SENT, &mut out);
    assert_eq!(out.len(), 44);
    assert_eq!(out[..4], [0, 0, 0, 6], "number 1 is left out");
    assert_eq!(out[4..12], to_ntp(SENT).to_be_bytes());
    assert_ne!(out[13], 0, "a multiplier of 0 is forbidden");
    assert_eq!(out[14..16], [0xde, 0xf1]);
    assert!(out[16..].iter().all(|octet| *octet == 0));
    Sender::new(terms(172), None).request(5, SENT, &mut out);
    assert_eq!(out.len(), 172);
    assert_eq!(out[44..50], [0x80, 4, 0, 4, 46 << 2, 0]);
    assert_eq!(out[52..56], [0x80, 1, 0, 116]);
}

#[test]
fn a_reflector_tells_times_class_and_count() {
    let mut sender = Sender::new(terms(100), None);
    let mut reflector = Reflector::new(2, None);
    let mut request = Vec::new();
    let seen = TrafficClass {
        dscp: Dscp::CS1,
        ecn: Ecn::Ce,
    };
    // Request 1 is lost on its way.
    for (arrived, number) in [(None, 0), (Some(2), 2), (Some(3), 3)] {
        sender.request(number, SENT, &mut request);
        let reply = reflect(&mut reflector, &request, 9, seen).unwrap();
        assert_eq!(reply.len(), request.len());
        assert_eq!(reply[40], 61);
        let told = sender.handle(&reply, number).unwrap();
        let stamps = told.stamps.unwrap();
        assert!(stamps.received_ns.abs_diff(RECEIVED) <= 1);
        assert!(stamps.replied_ns.abs_diff(REPLIED) <= 1);
        assert_eq!((told.number, told.arrived), (number, arrived));
        assert_eq!(told.class, Some(seen));
        assert_eq!(
            sender
                .handle(&reply, number.wrapping_sub(1).min(number))
                .is_some(),
            number == 0,
            "nobody replies to what was not sent"
        );
    }
}

#[test]
fn a_stateless_reflector_repeats_the_number_of_each_request() {
    let mut sender = Sender::new(terms(100), None);
    let mut reflector = Reflector::stateless(None);
    let mut request = Vec::new();
    for number in [0, 2, 7] {
        sender.request(number, SENT, &mut request);
        let reply = reflect(&mut reflector, &request, 9, TrafficClass::default()).unwrap();
        assert_eq!(reply[..4], request[..4]);
        let told = sender.handle(&reply, number).unwrap();
        assert_eq!((told.number, told.arrived), (number, None));
        assert!(told.stamps.is_some());
    }
}

#[test]
fn a_reflector_that_repeats_our_number_does_not_count() {
    let mut sender = Sender::new(terms(44), None);
    let mut request = Vec::new();
    for number in 0..4 {
        sender.request(number, SENT, &mut request);
        let mut reply = reflect(
            &mut Reflector::new(1, None),
            &request,
            9,
            TrafficClass::default(),
        )
        .unwrap();
        reply.copy_within(24..28, 0);
        let told = sender.handle(&reply, number).unwrap();
        assert_eq!((told.number, told.arrived), (number, None));
    }
}

#[test]
fn somebody_elses_reply_is_none_of_ours() {
    let mut sender = Sender::new(terms(44), None);
    let other = Terms {
        secret: 77,
        ..terms(44)
    };
    let mut other = Sender::new(other, None);
    let mut request = Vec::new();
    other.request(0, SENT, &mut request);
    let mut reply = reflect(
        &mut Reflector::new(1, None),
        &request,
        9,
        TrafficClass::default(),
    )
    .unwrap();
    assert_eq!(sender.handle(&reply, 9), None);
    // A reflector of RFC 8762 alone knows no identifiers.
    reply[14..16].fill(0);
    assert!(sender.handle(&reply, 9).is_some());
    assert_eq!(sender.handle(&reply[..43], 9), None);
}

#[test]
fn stamps_of_ptp_are_known_by_their_bit() {
    let mut reply = vec![0; LEN];
    reply[28] = 1;
    reply[4..12].copy_from_slice(&(9_u64 << 32 | 5).to_be_bytes());
    reply[12] = 0x40;
    reply[16..24].copy_from_slice(&(8_u64 << 32 | 1).to_be_bytes());
    let told = Sender::new(terms(44), None).handle(&reply, 0).unwrap();
    let stamps = told.stamps.unwrap();
    assert_eq!(stamps.received_ns, 8_000_000_001);
    assert_eq!(stamps.replied_ns, 9_000_000_005);
}

#[test]
fn a_reflector_remembers_so_many_sessions() {
    let mut reflector = Reflector::new(2, None);
    let mut number =
        |port| reflect(&mut reflector, &[0; LEN], port, TrafficClass::default()).unwrap()[3];
    assert_eq!([1, 1, 2, 1, 2].map(&mut number), [0, 1, 0, 2, 1]);
    // The third session takes the place of the first.
    assert_eq!([3, 2, 1].map(&mut number), [0, 2, 0]);
}

#[test]
fn what_it_does_not_understand_comes_back_flagged() {
    let request = |tlvs: &[u8]| [&[0; LEN], tlvs].concat();
    let reflect = |tlvs: &[u8]| {
        let mut reflector = Reflector::new(1, None);
        let reply = reflect(&mut reflector, &request(tlvs), 1, TrafficClass::default());
        reply.unwrap()[LEN..].to_vec()
    };
    // A location, and padding behind it.
    assert_eq!(
        reflect(&[0x80, 2, 0, 1, 9, 0x80, 1, 0, 0]),
        [0x80, 2, 0, 1, 9, 0, 1, 0, 0]
    );
    // Longer than there is room; a class of another length.
    assert_eq!(reflect(&[0x80, 1, 0, 9, 0]), [0x40, 1, 0, 9, 0]);
    assert_eq!(reflect(&[0x80, 4, 0, 1, 7]), [0x40, 4, 0, 1, 7]);
    assert_eq!(reflect(&[0x80, 4, 0]), [0x40, 4, 0]);
}

const TAG_OF_REQUEST: [u8; 16] = [
    0x04, 0x13, 0x24, 0x3c, 0x8e, 0x57, 0x93, 0x18, 0x57, 0x0b, 0x7f, 0x2a, 0xa9, 0xfc, 0x6f, 0x5f,
];
const TAG_OF_TLVS: [u8; 16] = [
    0xa3, 0xa8, 0x10, 0xff, 0x03, 0x4a, 0x61, 0x3f, 0x70, 0x58, 0x42, 0x6c, 0x52, 0x55, 0x96, 0x92,
];

fn key() -> Key {
    "secret".parse().unwrap()
}

#[test]
fn a_signed_request_is_laid_out_as_the_standard_says() {
    let mut out = Vec::new();
    Sender::new(terms(112), Some(key())).request(5, SENT, &mut out);
    assert_eq!(out.len(), 112);
    assert_eq!(out[..4], [0, 0, 0, 6]);
    assert_eq!(out[16..24], to_ntp(SENT).to_be_bytes());
    assert_eq!(out[24..28], [24, 1, 0xde, 0xf1]);
    let zero = [4..16, 28..96].map(|range| out[range].iter().all(|octet| *octet == 0));
    assert_eq!(zero, [true; 2]);
    // By Python's hmac.new(b"secret", out[:96], "sha256").digest()[:16].
    assert_eq!(out[96..], TAG_OF_REQUEST);
    Sender::new(terms(172), Some(key())).request(5, SENT, &mut out);
    assert_eq!(out.len(), 172);
    assert_eq!(out[96..112], TAG_OF_REQUEST);
    let tlvs = [0x80, 4, 0, 4, 46 << 2, 0, 0, 0, 0x80, 8, 0, 16];
    assert_eq!(out[112..124], tlvs);
    // Of out[:4] + out[112:120].
    assert_eq!(out[124..140], TAG_OF_TLVS);
    assert_eq!(out[140..144], [0x80, 1, 0, 28]);
}

#[test]
fn who_has_the_key_tells_times_class_and_count_and_nobody_else_does() {
    let mut sender = Sender::new(terms(172), Some(key()));
    let mut reflector = Reflector::new(2, Some(key()));
    let (mut request, seen) = (Vec::new(), TrafficClass::from_octet(0x2f));
    sender.request(2, SENT, &mut request);
    let mut reply = reflect(&mut reflector, &request, 9, seen).unwrap();
    assert_eq!((reply.len(), reply[80]), (request.len(), 61));
    let told = sender.handle(&reply, 2).unwrap();
    assert!(told.stamps.unwrap().received_ns.abs_diff(RECEIVED) <= 1);
    assert_eq!(
        (told.number, told.arrived, told.class),
        (2, Some(1), Some(seen))
    );
    // Another key, none, and what was changed on its way.
    let other: Key = "hex:73656372657473".parse().unwrap();
    for key in [Some(other), None] {
        let mut stranger = Sender::new(terms(172), key);
        let mut forged = Vec::new();
        stranger.request(2, SENT, &mut forged);
        assert_eq!(reflect(&mut reflector, &forged, 9, seen), None);
        assert_eq!(stranger.handle(&reply, 2), None);
    }
    // The padding is nobody's; the class that was seen is signed, and so is all before it.
    reply[171] ^= 1;
    assert_eq!(sender.handle(&reply, 2), Some(told));
    reply[117] ^= 1;
    let without_class = Reply {
        class: None,
        ..told
    };
    assert_eq!(sender.handle(&reply, 2), Some(without_class));
    reply[20] ^= 1;
    assert_eq!(sender.handle(&reply, 2), None);
}

#[test]
fn tlvs_whose_tag_is_wrong_come_back_flagged() {
    let mut request = Vec::new();
    Sender::new(terms(172), Some(key())).request(2, SENT, &mut request);
    request[116] ^= 4;
    let seen = TrafficClass::from_octet(0x2f);
    let reply = reflect(&mut Reflector::new(1, Some(key())), &request, 9, seen).unwrap();
    assert_eq!([reply[112], reply[120], reply[140]], [0x20; 3]);
    assert_eq!(reply[116..120], request[116..120]);
    // Nor is anything believed that stands behind a tag which holds.
    request[116] ^= 4;
    request.truncate(140);
    let tlvs = [[0x80, 4, 0, 4], [0; 4]].concat();
    request.extend(&tlvs);
    let reply = reflect(&mut Reflector::new(1, Some(key())), &request, 9, seen).unwrap();
    assert_eq!([reply[112], reply[120], reply[140]], [0x20; 3]);
    assert_eq!(reply[141..], tlvs[1..]);
    // The sender believes nothing of it, and not what is cut.
    let told = Sender::new(terms(172), Some(key())).handle(&reply, 2);
    assert_eq!(told.unwrap().class, None);
    request.truncate(146);
    request[116] ^= 4;
    let reply = reflect(&mut Reflector::new(1, Some(key())), &request, 9, seen).unwrap();
    assert_eq!([reply[112], reply[120], reply[140]], [0x20, 0x20, 0x60]);
    // Padding alone needs no tag.
    request.truncate(112);
    request.extend([0x80, 1, 0, 2, 0, 0]);
    let reply = reflect(&mut Reflector::new(1, Some(key())), &request, 9, seen).unwrap();
    assert_eq!(reply[112..], [0, 1, 0, 2, 0, 0]);
}

#[test]
fn a_request_that_comes_back_as_it_was_is_no_reply() {
    for key in [None, Some(key())] {
        let mut sender = Sender::new(terms(172), key);
        let mut request = Vec::new();
        sender.request(0, SENT, &mut request);
        assert_eq!(sender.handle(&request, 9), None);
    }
}

#[test]
fn a_key_is_a_text_or_digits() {
    let signs = |text: &str| {
        let mut packet = vec![0; 112];
        text.parse::<Key>().unwrap().sign(&mut packet);
        packet
    };
    assert_eq!(signs("secret"), signs("hex:736563726574"));
    assert_ne!(signs("secret"), signs("secrets"));
    for text in ["", "hex:", "hex:7", "hex:xy"] {
        assert!(text.parse::<Key>().is_err(), "{text}");
    }
    assert_eq!(format!("{:?}", key()), "Key(..)");
}

proptest! {
    #[test]
    fn any_octets_behind_a_signed_packet_come_back_as_long_as_they_are(tlvs in proptest::collection::vec(any::<u8>(), 0..60)) {
        let mut request = vec![0; SIGNED.len];
        key().sign(&mut request);
        request.extend(&tlvs);
        let reply = reflect(&mut Reflector::new(1, Some(key())), &request, 1, TrafficClass::default());
        prop_assert_eq!(reply.map(|reply| reply.len()), Some(request.len()));
        let _ = Sender::new(terms(100), Some(key())).handle(&request, u32::MAX);
    }

    #[test]
    fn any_octets_are_read_and_reflected_as_long_as_they_are(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
        let reply = reflect(&mut Reflector::new(1, None), &octets, 1, TrafficClass::default());
        prop_assert_eq!(reply.is_some(), octets.len() >= LEN);
        prop_assert!(reply.is_none_or(|reply| reply.len() == octets.len()));
        let _ = Sender::new(terms(100), None).handle(&octets, u32::MAX);
    }
}
