//! Connections: opened, used both ways, closed, broken, over paths that lose packets.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod host;

use host::{Script, Seen, play, play_over};
use isobath_sim::tcp::{Settings, Tcp};
use proptest::prelude::*;
use std::time::Duration;
use transport::Options;

fn settings() -> Settings {
    Settings::new(Options::default())
}

/// A request and its response.
fn exchange(request: u64, response: u64) -> [Script; 2] {
    let client = Script {
        says: request,
        hears: response,
        rounds: 1,
        begins: true,
        ..Script::default()
    };
    let server = Script {
        says: response,
        hears: request,
        rounds: 1,
        ..Script::default()
    };
    [client, server]
}

fn assert_all_came(seen: &[Seen; 2], [to_client, to_server]: [u64; 2]) {
    let [client, server] = seen;
    assert_eq!((client.heard, server.heard), (to_client, to_server));
    for end in seen {
        assert!(end.peer_closed.is_some() && end.over.is_some(), "{end:?}");
    }
}

#[test]
fn a_handshake_takes_a_round_trip_and_the_answer_another() {
    let [client, server] = play(&settings(), exchange(100, 1_000), [&[], &[]]);
    assert_eq!(
        (client.established, server.established),
        (Some(40), Some(60))
    );
    assert_eq!(client.heard_at, Some(80));
    let kinds = |seen: &Seen| -> Vec<&str> {
        let kind = |tcp: &Tcp| match tcp {
            Tcp::Syn(_) => "syn",
            Tcp::SynAck(_) => "syn-ack",
            Tcp::Data(data) if data.fin && data.segment.len == 0 => "fin",
            Tcp::Data(data) if data.fin => "data fin",
            Tcp::Data(_) => "data",
            Tcp::Confirm(_) | Tcp::Ack(_) => "ack",
            Tcp::Reset => "reset",
            Tcp::Udp(_) => "a datagram",
        };
        seen.sent.iter().map(|(_, tcp)| kind(tcp)).collect()
    };
    // What comes first is acknowledged at once, as the kernel does; what is written leaves before the end that follows it.
    assert_eq!(kinds(&client), ["syn", "ack", "data", "ack", "fin", "ack"]);
    assert_eq!(kinds(&server), ["syn-ack", "ack", "data", "fin", "ack"]);
    assert_all_came(&[client, server], [1_000, 100]);
}

#[test]
fn a_syn_that_is_lost_is_sent_again_each_second_and_then_after_two() {
    let lost: Vec<u64> = (0..6).collect();
    let [client, server] = play(&settings(), exchange(100, 1_000), [&lost, &[]]);
    let syns: Vec<_> = client.sent.iter().filter(|(_, tcp)| tcp.is_syn()).collect();
    assert_eq!(
        syns.iter().map(|(ms, _)| *ms).collect::<Vec<_>>(),
        [0, 1_000, 2_000, 3_000, 4_000, 5_000, 7_000]
    );
    assert_eq!(client.established, Some(7_040));
    assert_all_came(&[client, server], [1_000, 100]);
}

/// A round trip of 3.2 s: the SYN leaves at 0, 1 and 3 s, and nothing was lost. The first one's echo says so, and how long the round trip is; without time
/// stamps the window begins with a segment, and a tail loss probe follows after a second (RFC 8985 section 7.2, without a round trip).
#[test]
fn a_syn_that_was_only_late_costs_nothing_where_time_stamps_tell() {
    let sent = |timestamps| -> Vec<u64> {
        let options = Options {
            timestamps,
            ..Options::default()
        };
        let [client, server] = play_over(
            Duration::from_millis(1_600),
            &Settings::new(options),
            exchange(14_480, 100),
            [&[], &[]],
        );
        assert_eq!(client.established, Some(3_200));
        let is_data = |tcp: &Tcp| matches!(tcp, Tcp::Data(data) if data.segment.len > 0);
        let sent = client.sent.iter().filter(|(_, tcp)| is_data(tcp));
        let sent = sent.map(|(ms, _)| *ms).collect();
        assert_all_came(&[client, server], [100, 14_480]);
        sent
    };
    assert_eq!(sent(true), [3_200; 10]);
    let guessing = sent(false);
    assert_eq!(guessing[..2], [3_200, 4_200]);
}

#[test]
fn segments_are_full_but_for_the_last_of_what_is_written() {
    let [_, server] = play(&settings(), exchange(100, 100_000), [&[], &[]]);
    let lens = server.sent.iter().filter_map(|(_, tcp)| match tcp {
        Tcp::Data(data) if data.segment.len > 0 => Some(data.segment.len),
        _ => None,
    });
    let lens: Vec<u16> = lens.collect();
    assert_eq!(lens.len(), 70);
    assert!(lens[..69].iter().all(|len| *len == 1_448), "{lens:?}");
    assert_eq!(lens[69], 88);
}

#[test]
fn nobody_answers_for_two_minutes_and_the_connection_is_given_up() {
    let all: Vec<u64> = (0..20).collect();
    let [client, server] = play(&settings(), exchange(100, 1_000), [&all, &[]]);
    assert_eq!((client.refused, client.sent.len()), (Some(131_000), 11));
    assert!(server.came.is_empty());
}

#[test]
fn who_does_not_listen_refuses_by_a_reset() {
    let mut scripts = exchange(100, 1_000);
    scripts[1].refuses = true;
    let [client, server] = play(&settings(), scripts, [&[], &[]]);
    assert_eq!(client.refused, Some(40));
    assert_eq!(server.sent[0].1, Tcp::Reset);
}

#[test]
fn who_aborts_breaks_the_connection_at_the_other_end() {
    let mut scripts = exchange(100, 1_000);
    scripts[0].aborts = true;
    let [client, server] = play(&settings(), scripts, [&[], &[]]);
    assert!(client.sent.last().unwrap().1.is_reset());
    assert_eq!(server.broken, Some(100));
    let resets = server.sent.iter().filter(|(_, tcp)| tcp.is_reset());
    assert_eq!(resets.count(), 0, "a reset is not answered");
}

/// The peer sends again what was not acknowledged, and learns it then (RFC 9293 section 3.10.7.1).
#[test]
fn who_did_not_hear_of_an_abort_is_told_again() {
    let mut scripts = exchange(100, 1_000);
    scripts[0].aborts = true;
    let [client, _] = play(&settings(), scripts, [&[], &[]]);
    // One for each packet that was on its way.
    let resets: Vec<u64> = (0..)
        .zip(&client.sent)
        .filter(|(_, (_, tcp))| tcp.is_reset())
        .map(|(at, _)| at)
        .collect();
    let [client, server] = play(&settings(), scripts, [&resets, &[]]);
    assert!(server.broken.unwrap() > 100, "{server:?}");
    let told: Vec<_> = client
        .sent
        .iter()
        .skip(usize::try_from(resets[0]).unwrap())
        .collect();
    assert!(
        told.len() > resets.len() && told.iter().all(|(_, tcp)| tcp.is_reset()),
        "{told:?}"
    );
}

#[test]
fn both_ends_speak_at_once() {
    let speaks = |says, hears| Script {
        says,
        hears,
        rounds: 1,
        begins: true,
        ..Script::default()
    };
    let scripts = [speaks(300_000, 511_111), speaks(511_111, 300_000)];
    // A loss makes the two fall out of step.
    let seen = play(&settings(), scripts, [&[30], &[]]);
    // Data carry acknowledgements of data, too.
    let carries = |tcp: &Tcp| matches!(tcp, Tcp::Data(data) if data.ack.is_some());
    for end in &seen {
        assert!(end.sent.iter().any(|(_, tcp)| carries(tcp)));
    }
    assert_all_came(&seen, [511_111, 300_000]);
}

#[test]
fn a_conversation_has_two_packets_a_round_once_it_is_under_way() {
    let mut scripts = exchange(500, 700);
    for script in &mut scripts {
        script.rounds = 50;
    }
    let [client, server] = play(&settings(), scripts, [&[], &[]]);
    let all = client.sent.len() + server.sent.len();
    // The rest is the handshake, the end, and what is acknowledged at once at the beginning.
    assert!((100..112).contains(&all), "{all}");
    assert_all_came(&[client, server], [35_000, 25_000]);
}

#[test]
fn no_more_octets_are_under_way_than_the_peer_has_room_for() {
    for (window, segment) in [
        (4_096, 1_448),
        (16_000, 1_448),
        (2_000, 1_000),
        (64_000, 1_448),
    ] {
        let mut scripts = exchange(100, 200_000);
        scripts[0].window = Some(window);
        let [client, server] = play(&settings(), scripts, [&[], &[]]);
        let (mut most, mut longest) = (0, 0);
        let (mut sent, mut acked) = (0_u64, 0_u64);
        let mut events: Vec<(u64, bool, u64)> = Vec::new();
        let mut lens = Vec::new();
        for (ms, tcp) in &server.sent {
            if let Tcp::Data(data) = tcp {
                let segment = data.segment;
                lens.push(u64::from(segment.len));
                longest = longest.max(segment.len);
                events.push((*ms, true, segment.len.into()));
            }
        }
        for (ms, tcp) in &server.came {
            let ack = match tcp {
                Tcp::Ack(ack) => Some(&**ack),
                Tcp::Data(data) => data.ack.as_ref(),
                _ => None,
            };
            if let Some(ack) = ack {
                events.push((*ms, false, lens.iter().take(ack.ack.0 as usize).sum()));
            }
        }
        // An acknowledgement frees room for what leaves at the same moment.
        events.sort_by_key(|(ms, is_sent, _)| (*ms, *is_sent));
        for (_, is_sent, octets) in events {
            if is_sent {
                sent += octets;
            } else {
                acked = acked.max(octets);
            }
            most = most.max(sent - acked);
        }
        assert_eq!(longest, segment, "{window}");
        assert_eq!(most, u64::from(window));
        assert_all_came(&[client, server], [200_000, 100]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whatever_is_lost_all_arrives_once_and_both_ends_come_to_their_end(
        request in 1_u64..60_000,
        response in 1_u64..200_000,
        rounds in 1_u32..4,
        window in proptest::option::of(1_000_u32..100_000),
        up in proptest::collection::vec(0_u64..60, 0..20),
        down in proptest::collection::vec(0_u64..200, 0..60),
    ) {
        let mut scripts = exchange(request, response);
        for script in &mut scripts {
            script.rounds = rounds;
            script.window = window;
        }
        // A handshake that fails seven times is no connection.
        let up: Vec<u64> = up.into_iter().filter(|place| !(1..7).contains(place)).collect();
        let seen = play(&settings(), scripts, [&up, &down]);
        let rounds = u64::from(rounds);
        assert_all_came(&seen, [response * rounds, request * rounds]);
    }
}
