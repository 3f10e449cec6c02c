//! The two machines with each other, in pieces of any length, and against what iperf 3.12 says.

use super::*;
use proptest::prelude::*;
use std::time::Duration;

fn params() -> Params {
    Params {
        parallel: 2,
        up: true,
        down: true,
        time: Duration::from_secs(10),
        block: 131_072,
        class: 0x20,
        congestion: Some("cubic".to_owned()),
        ..Params::default()
    }
}

fn results(bytes: u64) -> Results {
    let stream = |index| Stream {
        id: stream_id(index),
        bytes,
        retransmits: Some(3),
        time: Duration::from_millis(10_250),
        ..Stream::default()
    };
    Results {
        cpu_pct: [1.5, 0.5, 1.0],
        congestion: Some("cubic".to_owned()),
        streams: (0..4).map(stream).collect(),
    }
}

/// A whole test, whose messages arrive in pieces: what each end learnt.
fn test(piece: usize) -> (Vec<Event>, Vec<Asked>) {
    let mut client = Client::new(cookie([1, 2, 3, 4]), params());
    let mut server = Server::default();
    let (mut told, mut asked) = (Vec::new(), Vec::new());
    loop {
        let (to_server, to_client) = (client.take_output(), server.take_output());
        if to_server.is_empty() && to_client.is_empty() {
            return (told, asked);
        }
        for octets in to_server.chunks(piece) {
            server.handle(octets);
            while let Some(event) = server.poll_event() {
                match &event {
                    Asked::Test(..) => {
                        server.accept();
                        server.run();
                    }
                    Asked::End => server.tell(&results(7)),
                    _ => {}
                }
                asked.push(event);
            }
        }
        for octets in to_client.chunks(piece) {
            client.handle(octets);
            while let Some(event) = client.poll_event() {
                if event == Event::Run {
                    client.end(results(9));
                }
                told.push(event);
            }
        }
    }
}

proptest! {
    #[test]
    fn both_ends_learn_the_same_in_pieces_of_any_length(piece in 1_usize..200) {
        let (told, asked) = test(piece);
        prop_assert_eq!(told, [Event::OpenStreams, Event::Run, Event::Results(results(7))]);
        let test = Asked::Test(cookie([1, 2, 3, 4]), params());
        prop_assert_eq!(asked, [test, Asked::End, Asked::Results(results(9))]);
    }

    #[test]
    fn heads_of_datagrams_are_read_as_they_were_written(seconds: u32, micros in 0_u32..1_000_000, number: u32, is_long: bool) {
        let sent = Duration::from_secs(seconds.into()) + Duration::from_micros(micros.into());
        let head = Head { sent, number: number.into() };
        let mut octets = [0; Head::LENGTH];
        head.emit(&mut octets, is_long);
        prop_assert_eq!(Head::parse(&octets, is_long), Some(head));
        prop_assert_eq!(Head::parse(&octets[..11], is_long), None);
    }
}

fn framed(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap();
    [&length.to_be_bytes()[..], text.as_bytes()].concat()
}

/// What a server makes of `text` as parameters, and what it says.
fn asked(text: &str) -> (Option<Asked>, Vec<u8>) {
    let mut server = Server::default();
    server.handle(&cookie([0; 4]));
    server.handle(&framed(text));
    (server.poll_event(), server.take_output())
}

#[test]
fn what_iperf_3_12_asks_for_is_understood() {
    let text = r#"{"tcp":true,"omit":1,"time":10,"num":0,"blockcount":0,"parallel":3,"reverse":true,"len":131072,"bandwidth":1e+11,
        "pacing_timer":1000,"client_version":"3.12"}"#;
    let (asked, said) = asked(text);
    let Some(Asked::Test(_, params)) = asked else {
        panic!("{asked:?}");
    };
    assert_eq!(said, [State::ParamExchange.octet()]);
    assert_eq!(
        params,
        Params {
            parallel: 3,
            down: true,
            time: Duration::from_secs(10),
            omit: Duration::from_secs(1),
            block: 131_072,
            rate_bps: 100_000_000_000,
            ..Params::default()
        }
    );
    assert_eq!((params.streams(), params.is_up(0)), (3, false));
}

#[test]
fn what_cannot_be_is_refused_by_iperf3_s_numbers() {
    for (text, number) in [
        (r#"{"tcp":true,"parallel":129}"#, 6),
        (r#"{"tcp":true,"time":86401}"#, 5),
        (r#"{"tcp":true,"authtoken":"x"}"#, 142),
        (r#"{"udp":true,"len":15}"#, 20),
        ("[", 114),
    ] {
        let (asked, said) = asked(text);
        assert!(matches!(asked, Some(Asked::Failed(_))), "{asked:?}");
        assert_eq!(said[1], State::ServerError.octet());
        assert_eq!(said[2..], [0, 0, 0, number, 0, 0, 0, 0], "{text}");
    }
    // Longer than anybody has to say.
    let mut server = Server::default();
    server.handle(&cookie([0; 4]));
    server.handle(&[0, 1, 0, 0]);
    assert!(matches!(server.poll_event(), Some(Asked::Failed(_))));
}

#[test]
fn a_busy_server_and_one_with_an_error_end_the_test() {
    let of = |octets: &[u8]| {
        let mut client = Client::new(cookie([0; 4]), params());
        client.handle(octets);
        let event = client.poll_event();
        assert_eq!(client.poll_event(), None);
        event
    };
    assert_eq!(of(&[BUSY]), Some(Event::Busy));
    let Some(Event::Failed(reason)) = of(&[0xfe, 0, 0, 0, 142, 0, 0, 0, 0]) else {
        panic!();
    };
    assert!(reason.contains("password"), "{reason}");
    assert_eq!(of(&[0xfe, 0, 0, 0]), None);
    assert!(matches!(of(&[77]), Some(Event::Failed(_))));
}

#[test]
fn losses_late_ones_and_jitter_are_counted_as_the_peer_counts_them() {
    let mut tally = Tally::default();
    let ms = Duration::from_millis;
    // Sent every 20 ms; number 3 is lost, 5 comes after 6, and 6 was 16 ms longer under way.
    for (number, arrived) in [(1, 1_000), (2, 1_020), (4, 1_060), (6, 1_116), (5, 1_117)] {
        let head = Head {
            sent: ms(20 * number),
            number,
        };
        tally.take(head, 100, ms(arrived));
    }
    assert_eq!(
        (tally.arrived, tally.highest, tally.lost, tally.late),
        (5, 6, 1, 1)
    );
    assert_eq!(tally.bytes, 500);
    // Under way for 16 ms longer than the one before, and then for 21 ms longer.
    let expected = 1e-3 + (21e-3 - 1e-3) / 16.0;
    assert!(
        (tally.jitter_s - expected).abs() < 1e-9,
        "{}",
        tally.jitter_s
    );
}

#[test]
fn cookies_are_letters_and_differ() {
    let one = cookie([u64::MAX, 0, 7, 1 << 63]);
    assert!(one[..36].iter().all(u8::is_ascii_alphanumeric));
    assert_eq!(one[36], 0);
    assert_ne!(one, cookie([1, 0, 7, 0]));
}
