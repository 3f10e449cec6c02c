//! Datagrams of UDPSTP: what is read is written again as it was, and neither end goes beyond its bounds.

use far_ends::Moment;
use far_ends::udpst::{
    Answer, Client, Direction, Load, Receiver, Sender, SendingRate, Server, SharedKey, Status,
    Taken, Terms,
};
use std::time::Duration;
use units::Instant;

const NOW: u32 = 1_764_190_000;

fn key() -> SharedKey {
    SharedKey {
        id: 0,
        key: b"key".to_vec(),
    }
}

/// Runs the target on an input: a datagram for the control connection, or load and feedback, each behind its length.
pub fn run(input: &[u8]) {
    let [which, octets @ ..] = input else { return };
    if which.is_multiple_of(2) {
        control(octets);
    } else {
        data(octets);
    }
}

/// Nobody without the key has a test.
fn control(octets: &[u8]) {
    let terms = Terms::usual(Direction::Upstream, 10);
    let client = Client::new(&terms, 1, Some(&key()), NOW, 1);
    if let Some(answer) = client.handle_setup(octets, NOW.into()) {
        assert!(!matches!(answer, Answer::Granted(_)));
    }
    client.handle_activation(octets, NOW.into());
    let mut server = Server::new(vec![key()], 60);
    if octets != client.setup() {
        let taken = server.handle(octets, NOW.into(), true);
        assert!(!matches!(taken, Some(Taken::Admitted(_))));
        if let Some(Taken::Refused(pdu)) = taken {
            assert!(pdu.len() <= octets.len());
        }
    }
}

fn data(mut octets: &[u8]) {
    let start = Instant::from_nanos(1);
    let mut receiver = Receiver::new(Duration::from_millis(50), Duration::from_secs(1), start);
    let mut sender = Sender::new(SendingRate::default(), false, start, 1);
    let mut again = Vec::new();
    let mut number = 0;
    while let [length, rest @ ..] = octets {
        let (pdu, rest) = rest.split_at(rest.len().min((*length).into()));
        octets = rest;
        number += 1;
        let mono_ns = number * 10_000_000;
        let now = Moment {
            wall_ns: 1_764_190_000_000_000_000 + mono_ns,
            mono_ns,
        };
        let at = Instant::from_nanos(mono_ns);
        if let Some(load) = Load::parse(pdu) {
            receiver.handle(&load, now);
            load.emit(&mut again);
            assert_eq!(Load::parse(&again), Some(load));
        }
        if let Some(status) = Status::parse(pdu) {
            sender.handle(&status, at);
            sender.change(status.rate, at);
            assert_eq!(Status::parse(&status.emit()), Some(status));
        }
        let bursts = std::iter::from_fn(|| sender.burst(at));
        let bursts: Vec<_> = bursts.take(300).collect();
        assert!(bursts.len() < 300, "a burst each 100 us, of 10 ms");
        assert!(bursts.iter().all(|burst| burst.datagrams <= 100));
        if let Some(feedback) = receiver.feedback(
            now,
            Instant::from_nanos(now.mono_ns),
            SendingRate::default(),
            false,
        ) {
            let told = Status::parse(&feedback.status.emit());
            assert_eq!(told, Some(feedback.status));
        }
    }
}
