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
    Sender::new(terms(LEN)).request(5, SENT, &mut out);
    assert_eq!(out.len(), 44);
    assert_eq!(out[..4], [0, 0, 0, 6], "number 1 is left out");
    assert_eq!(out[4..12], to_ntp(SENT).to_be_bytes());
    assert_ne!(out[13], 0, "a multiplier of 0 is forbidden");
    assert_eq!(out[14..16], [0xde, 0xf1]);
    assert!(out[16..].iter().all(|octet| *octet == 0));
    Sender::new(terms(172)).request(5, SENT, &mut out);
    assert_eq!(out.len(), 172);
    assert_eq!(out[44..50], [0x80, 4, 0, 4, 46 << 2, 0]);
    assert_eq!(out[52..56], [0x80, 1, 0, 116]);
}

#[test]
fn a_reflector_tells_times_class_and_count() {
    let mut sender = Sender::new(terms(100));
    let mut reflector = Reflector::new(2);
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
fn a_reflector_that_repeats_our_number_does_not_count() {
    let mut sender = Sender::new(terms(44));
    let mut request = Vec::new();
    for number in 0..4 {
        sender.request(number, SENT, &mut request);
        let mut reply =
            reflect(&mut Reflector::new(1), &request, 9, TrafficClass::default()).unwrap();
        reply.copy_within(24..28, 0);
        let told = sender.handle(&reply, number).unwrap();
        assert_eq!((told.number, told.arrived), (number, None));
    }
}

#[test]
fn somebody_elses_reply_is_none_of_ours() {
    let mut sender = Sender::new(terms(44));
    let mut other = Sender::new(Terms {
        secret: 77,
        ..terms(44)
    });
    let mut request = Vec::new();
    other.request(0, SENT, &mut request);
    let mut reply = reflect(&mut Reflector::new(1), &request, 9, TrafficClass::default()).unwrap();
    assert_eq!(sender.handle(&reply, 9), None);
    // A reflector of RFC 8762 alone knows no identifiers.
    reply[14..16].fill(0);
    assert!(sender.handle(&reply, 9).is_some());
    assert_eq!(sender.handle(&reply[..43], 9), None);
}

#[test]
fn stamps_of_ptp_are_known_by_their_bit() {
    let mut reply = vec![0; LEN];
    reply[4..12].copy_from_slice(&(9_u64 << 32 | 5).to_be_bytes());
    reply[12] = 0x40;
    reply[16..24].copy_from_slice(&(8_u64 << 32 | 1).to_be_bytes());
    let told = Sender::new(terms(44)).handle(&reply, 0).unwrap();
    let stamps = told.stamps.unwrap();
    assert_eq!(stamps.received_ns, 8_000_000_001);
    assert_eq!(stamps.replied_ns, 9_000_000_005);
}

#[test]
fn a_reflector_remembers_so_many_sessions() {
    let mut reflector = Reflector::new(2);
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
        let mut reflector = Reflector::new(1);
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

proptest! {
    #[test]
    fn any_octets_are_read_and_reflected_as_long_as_they_are(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
        let reply = reflect(&mut Reflector::new(1), &octets, 1, TrafficClass::default());
        prop_assert_eq!(reply.is_some(), octets.len() >= LEN);
        prop_assert!(reply.is_none_or(|reply| reply.len() == octets.len()));
        let _ = Sender::new(terms(100)).handle(&octets, u32::MAX);
    }
}
