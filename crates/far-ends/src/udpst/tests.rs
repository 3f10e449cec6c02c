//! Both ends against each other, and against what others say of the same octets.

use super::auth::{Invalid, Keys};
use super::control::{ACTIVATION_LEN, SETUP_LEN};
use super::*;
use crate::Moment;
use proptest::prelude::*;
use ring::hmac;
use std::time::Duration;
use units::Instant;

const NOW: u32 = 1_764_190_000;

fn shared(key: &str) -> SharedKey {
    SharedKey {
        id: 7,
        key: key.into(),
    }
}

fn server() -> Server {
    Server::new(vec![shared("a shared key")], 60)
}

fn client(key: Option<&str>) -> (Terms, Client) {
    let terms = Terms::usual(Direction::Downstream, 10);
    let key = key.map(shared);
    (terms, Client::new(&terms, JUMBO, key.as_ref(), NOW, 99))
}

#[track_caller]
fn refused(taken: Option<Taken>, client: &Client) -> u8 {
    let Some(Taken::Refused(pdu)) = taken else {
        panic!("{taken:?}");
    };
    match client.handle_setup(&pdu, NOW.into()) {
        Some(Answer::Refused(response)) => response,
        answer => panic!("{answer:?}"),
    }
}

#[test]
fn a_key_is_typed_with_or_without_its_number() {
    let read = |text: &str| text.parse::<SharedKey>().map(|key| (key.id, key.key));
    assert_eq!(read("secret"), Ok((0, b"secret".to_vec())));
    assert_eq!(read("7:secret"), Ok((7, b"secret".to_vec())));
    assert_eq!(read("a:b"), Ok((0, b"a:b".to_vec())));
    assert_eq!(read("300:b"), Ok((0, b"300:b".to_vec())));
    assert!(read("").is_err() && read("7:").is_err() && read(&"k".repeat(65)).is_err());
    assert_eq!(
        format!("{:?}", "7:secret".parse::<SharedKey>().unwrap()),
        "SharedKey(7, ..)"
    );
}

/// The figures are those of `openssl kdf ... -kdfopt salt:UDPSTP -kdfopt info:1764190000 KBKDF` (3.0.19).
#[test]
fn keys_are_derived_as_openssl_derives_them() {
    let keys = Keys::derive(b"a shared key", NOW);
    let expected = [
        "6eee840fcc1500efc79b51b68e994693d3be1cede2ea687c6a6c47e94178f006",
        "1c44a457690cb8acebbe3ef937bdc96edc6e213c26e90b7e714b3a186cbf73da",
    ];
    for (key, expected) in [&keys.client, &keys.server].into_iter().zip(expected) {
        let octets = |at: usize| u8::from_str_radix(&expected[at..at + 2], 16).unwrap();
        let octets: Vec<u8> = (0..expected.len()).step_by(2).map(octets).collect();
        let other = hmac::Key::new(hmac::HMAC_SHA256, &octets);
        let tags = [key, &other].map(|key| hmac::sign(key, b"anything"));
        assert_eq!(tags[0].as_ref(), tags[1].as_ref());
    }
}

#[test]
fn a_client_with_the_key_has_a_test_on_terms_that_the_server_can_meet() {
    let (terms, client) = client(Some("a shared key"));
    assert_eq!(client.setup().len(), SETUP_LEN);
    let taken = server().handle(client.setup(), NOW.into(), true);
    let Some(Taken::Admitted(admitted)) = taken else {
        panic!("{taken:?}");
    };
    let response = admitted.response(40_123, NOW.into());
    let granted = client.handle_setup(&response, NOW.into());
    assert_eq!(granted, Some(Answer::Granted(40_123)));
    // It is neither an answer to setup nor to activation.
    let null = admitted.null(NOW.into());
    assert!(client.handle_setup(&null, NOW.into()).is_none());
    assert!(client.handle_activation(&null, NOW.into()).is_none());
    let longer = Terms {
        test_s: 3_600,
        trial_ms: 1,
        direction: Direction::Upstream,
        ..terms
    };
    let request = client.activation(&longer, NOW);
    assert_eq!(request.len(), ACTIVATION_LEN);
    let (response, begun) = admitted.handle(&request, NOW.into()).unwrap();
    let met = Terms {
        test_s: 60,
        trial_ms: 50,
        ..longer
    };
    assert_eq!(begun, Some(met));
    let Some(Answer::Granted(activation)) = client.handle_activation(&response, NOW.into()) else {
        panic!("granted");
    };
    assert_eq!(
        (activation.terms, activation.rate),
        (met, SendingRate::row(0))
    );
    // A rate that is not searched for is nothing for this server.
    let fixed = Terms {
        row: Some(500),
        ..terms
    };
    let (response, begun) = admitted
        .handle(&client.activation(&fixed, NOW), NOW.into())
        .unwrap();
    assert_eq!(begun, None);
    assert_eq!(
        client.handle_activation(&response, NOW.into()),
        Some(Answer::Refused(2))
    );
}

#[test]
fn whoever_has_no_key_or_another_or_another_clock_is_refused() {
    let now = u64::from(NOW);
    let mut server = server();
    for (key, now, response) in [
        (None, now, refusal::KEY_WANTED),
        (Some("another"), now, refusal::SIGNATURE),
        (Some("a shared key"), now + 6, refusal::TIME),
        (Some("a shared key"), now - 6, refusal::TIME),
    ] {
        let (_, client) = client(key);
        let answer = refused(server.handle(client.setup(), now, true), &client);
        assert_eq!(answer, response, "{key:?}");
    }
    let (terms, client) = client(Some("a shared key"));
    let shared = shared("a shared key");
    let other = Client::new(&terms, JUMBO, Some(&shared), NOW - 1, 99);
    let full = server.handle(other.setup(), now, false);
    assert_eq!(refused(full, &other), refusal::PLACE);
    let mut older = client.setup().to_vec();
    older[3] = 11;
    assert_eq!(
        refused(server.handle(&older, now, true), &client),
        refusal::VERSION
    );
    // What was changed on the way, and what another test's client sends.
    let Some(Taken::Admitted(admitted)) = server.handle(client.setup(), now, true) else {
        panic!("admitted");
    };
    let mut response = admitted.response(40_123, now);
    response[13] ^= 1;
    let answer = client.handle_setup(&response, now);
    assert_eq!(answer, Some(Answer::Forged(Invalid::Digest)));
    assert!(
        admitted
            .handle(&other.activation(&terms, NOW), now)
            .is_none()
    );
    // Whoever has heard a request cannot have another test by it.
    assert!(server.handle(client.setup(), now + 3, true).is_none());
}

/// A link with a queue before it, in whole datagrams.
struct Link {
    bps: f64,
    queue: Duration,
    free: Duration,
}

impl Link {
    /// When a datagram that comes `at` has passed; none where the queue is full.
    fn pass(&mut self, octets: u32, at: Duration) -> Option<Duration> {
        let begins = self.free.max(at);
        if begins.saturating_sub(at) > self.queue {
            return None;
        }
        self.free = begins + Duration::from_secs_f64(f64::from(octets) * 8.0 / self.bps);
        Some(self.free)
    }
}

/// The capacities of all sub-intervals of a test downstream over a link, in Mbit/s, and when the rate was first within 5 % of it.
fn test(algorithm: Algorithm, mbps: f64) -> (Vec<f64>, Option<Duration>) {
    let terms = Terms {
        algorithm,
        ..Terms::usual(Direction::Downstream, 10)
    };
    let one_way = Duration::from_millis(10);
    let mut link = Link {
        bps: mbps * 1e6,
        queue: Duration::from_millis(150),
        free: Duration::ZERO,
    };
    let moment = |at: Duration| {
        let ns = u64::try_from(at.as_nanos()).unwrap();
        Moment {
            wall_ns: 1_000_000_000_000 + ns,
            mono_ns: ns,
        }
    };
    let instant = |at: Duration| Instant::from_nanos(u64::try_from(at.as_nanos()).unwrap());
    let mut search = Search::new(terms);
    let mut sender = Sender::new(SendingRate::row(0), false, instant(Duration::ZERO), 7);
    let mut receiver = Receiver::new(
        Duration::from_millis(50),
        Duration::from_secs(1),
        instant(Duration::ZERO),
    );
    let (mut capacities, mut reached) = (Vec::new(), None);
    // Datagrams and feedback under way, in their order.
    let mut loads = std::collections::VecDeque::new();
    let mut feedback = None;
    let tick = Duration::from_micros(500);
    for number in 1..=20_000_u32 {
        let now = tick * number;
        while let Some(burst) = sender.burst(instant(now)) {
            let addon = (burst.addon > 0).then_some(burst.addon);
            let payloads = (0..burst.datagrams).map(|_| burst.payload).chain(addon);
            for payload in payloads.collect::<Vec<_>>() {
                let load = sender.load(payload, moment(now), false);
                if let Some(passed) = link.pass(u32::from(payload) + 28, now) {
                    loads.push_back((passed + one_way, load));
                }
            }
        }
        while loads.front().is_some_and(|(at, _)| *at <= now) {
            let (at, load) = loads.pop_front().unwrap();
            receiver.handle(&load, moment(at));
        }
        if number % 100 == 0
            && let Some(told) =
                receiver.feedback(moment(now), instant(now), SendingRate::default(), false)
        {
            capacities.extend(told.sub_interval.map(|arrived| {
                let octets = arrived.bytes + 28 * u64::from(arrived.datagrams);
                octets as f64 * 8.0 / arrived.lasted.as_secs_f64() / 1e6
            }));
            feedback = Some((now + one_way, told.status));
        }
        if feedback.is_some_and(|(at, _)| at <= now) {
            let (_, status) = feedback.take().unwrap();
            sender.handle(&status, instant(now));
            let row = search.adjust(&Trial::of(&terms, &status));
            sender.change(SendingRate::row(row), instant(now));
            if SendingRate::row(row).bps() > 0.95e6 * mbps {
                reached = reached.or(Some(now));
            }
        }
    }
    (capacities, reached)
}

#[test]
fn the_capacity_of_a_link_is_found_by_either_type() {
    let largest = |algorithm, mbps| {
        let (capacities, reached) = test(algorithm, mbps);
        assert!(reached.is_some(), "{algorithm:?} {mbps}");
        capacities.into_iter().fold(0.0, f64::max)
    };
    for (algorithm, mbps) in [
        (Algorithm::B, 10.0),
        (Algorithm::B, 100.0),
        (Algorithm::B, 1_000.0),
        (Algorithm::C, 100.0),
        (Algorithm::C, 1_000.0),
    ] {
        let found = largest(algorithm, mbps);
        let error = (found / mbps - 1.0).abs();
        assert!(error < 0.01, "{algorithm:?} {mbps}: {found}");
    }
    // On a slow line type C overshoots, falls back to nothing and seldom has a second that is full.
    let found = largest(Algorithm::C, 10.0);
    assert!((8.5..10.0).contains(&found), "{found}");
}

/// Its authors say that type C is at 1 Gbit/s within a second.
#[test]
fn type_c_is_at_a_gigabit_within_a_second_and_type_b_is_not() {
    let reached = |algorithm| test(algorithm, 1_000.0).1.unwrap();
    let (b, c) = (reached(Algorithm::B), reached(Algorithm::C));
    assert!(c < Duration::from_millis(1_200), "{c:?}");
    assert!(b > Duration::from_secs(4), "{b:?}");
}

#[test]
fn the_first_rows_are_those_of_the_specification() {
    let clear = Trial {
        delay_ms: Some(0),
        ..Trial::default()
    };
    let impaired = Trial {
        delay_ms: Some(91),
        ..Trial::default()
    };
    let rows = |algorithm, trials: &[&Trial]| {
        let terms = Terms {
            algorithm,
            ..Terms::usual(Direction::Upstream, 10)
        };
        let mut search = Search::new(terms);
        let rows = trials.iter().map(|trial| search.adjust(trial));
        rows.collect::<Vec<_>>()
    };
    let [up, down] = [&clear, &impaired];
    // Three trials with impairments end the fast search; then a row at a time.
    let b = rows(
        Algorithm::B,
        &[up, up, up, up, up, down, down, down, up, down],
    );
    assert_eq!(b, [10, 20, 30, 40, 50, 49, 48, 18, 19, 18]);
    let c = rows(Algorithm::C, &[up, up, up, up, up, up, up, down]);
    assert_eq!(c, [1, 2, 2, 4, 4, 8, 8, 7]);
    // Between the thresholds nothing changes.
    let between = Trial {
        delay_ms: Some(60),
        ..Trial::default()
    };
    assert_eq!(rows(Algorithm::B, &[up, &between]), [10, 10]);
    let lossy = Trial {
        errors: Errors {
            lost: 11,
            ..Errors::default()
        },
        ..Trial::default()
    };
    assert_eq!(rows(Algorithm::B, &[up, &lossy]), [10, 9]);
}

proptest! {
    #[test]
    fn no_octets_harm_either_end(octets in prop::collection::vec(any::<u8>(), 0..210), id in 0..6_usize, time in any::<u32>()) {
        let ids: [[u8; 2]; 6] = [[0xAC, 0xE1], [0xDE, 0xAD], [0xAC, 0xE2], [0xBE, 0xEF], [0xFE, 0xED], [0, 0]];
        let lengths = [56, 48, 104, 32, 204, octets.len()];
        let mut pdu = octets;
        pdu.resize(lengths[id], 0);
        if pdu.len() > 2 {
            pdu[..2].copy_from_slice(&ids[id]);
        }
        let (_, client) = client(Some("a shared key"));
        client.handle_setup(&pdu, time.into());
        client.handle_activation(&pdu, time.into());
        server().handle(&pdu, time.into(), true);
        let start = Instant::from_nanos(1);
        let now = Moment { wall_ns: u64::from(time) << 31, mono_ns: u64::from(time) };
        let mut receiver = Receiver::new(Duration::from_millis(50), Duration::from_secs(1), start);
        let mut sender = Sender::new(SendingRate::default(), false, start, 1);
        if let Some(load) = Load::parse(&pdu) {
            receiver.handle(&load, now);
            receiver.feedback(now, Instant::from_nanos(now.mono_ns), SendingRate::default(), false);
            let mut again = Vec::new();
            load.emit(&mut again);
            prop_assert_eq!(Load::parse(&again), Some(load));
        }
        if let Some(status) = Status::parse(&pdu) {
            sender.handle(&status, start);
            sender.change(status.rate, start);
            while let Some(burst) = sender.burst(start) {
                prop_assert!(burst.datagrams <= 100);
            }
            prop_assert_eq!(Status::parse(&status.emit()), Some(status));
        }
    }
}
