use super::*;
use crate::told;
use crate::way::Way;
use mgrp::envelope::Carrier;
use mgrp::peer;
use mgrp::transaction::{Probe, Transaction};
use std::sync::mpsc::Receiver;

/// The wall clock is so far ahead of the machines'.
const WALL: u64 = 1 << 50;
const TOOL: u64 = 7;

/// Two machines, `m3` and `m5`, and what carries datagrams between them at once.
struct Pair {
    ends: [Machine; 2],
    now: Instant,
    /// What `m3` says to its tool, and what each is to tell the other of its probes.
    words: Receiver<Message>,
    told: [Receiver<Arrival>; 2],
    /// Packets that came out at `m5`, and words of so many octets that left `m3`.
    delivered: Vec<Vec<u8>>,
    spoken: Vec<u16>,
}

fn tag(_: &[u8], _: &[u8]) -> [u8; TAG] {
    [0; TAG]
}

fn config(own: u8, other: u8) -> Config {
    let text = format!(
        "name = \"m{own}\"\naddresses = [\"10.99.0.{own}/24\"]\nlisten = \"[::]:4890\"\nprompt = [\"EF\"]\n\
         [[peer]]\nname = \"m{other}\"\nroutes = [\"10.99.0.{other}/32\"]\n"
    );
    Config::parse(&text).unwrap()
}

/// An IPv4 packet of 200 octets.
fn packet(from: u8, to: u8, dscp: u8) -> Vec<u8> {
    let mut octets = vec![0; 200];
    (octets[0], octets[1], octets[3], octets[9]) = (0x45, dscp << 2, 200, 17);
    octets[12..16].copy_from_slice(&[10, 99, 0, from]);
    octets[16..20].copy_from_slice(&[10, 99, 0, to]);
    octets
}

/// Probes of 500 octets, 1 ms apart.
fn train(channel: u8, count: usize) -> Request {
    let probe = Probe {
        header: vec![1, 2, 3],
        octets: 500,
        gap: Duration::from_millis(1),
        may_carry: true,
    };
    let probes = vec![probe; count];
    Transaction { channel, probes }.into()
}

impl Pair {
    fn new() -> Self {
        let mut told = Vec::new();
        let mut end = |config: Config| {
            let (arrivals, receiver) = told::channel();
            told.push(receiver);
            let mut machine = Machine::new(&config, Instant::ZERO);
            let session = Session {
                config: peer::Config {
                    session: 9,
                    ..config.of_session(&config.peers[0], Carrier::UdpV4)
                },
                address: "192.0.2.1:4890".parse().unwrap(),
                way: Way::Udp(None),
                arrivals,
            };
            machine.join(0, session, Instant::ZERO);
            machine
        };
        let mut ends = [end(config(3, 5)), end(config(5, 3))];
        let (outbox, words) = outbox();
        ends[0].come(TOOL, outbox);
        Self {
            ends,
            now: Instant::ZERO,
            words,
            told: told.try_into().unwrap(),
            delivered: Vec::new(),
            spoken: Vec::new(),
        }
    }

    /// Plays what happens within `time`.
    fn play(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            self.carry(0);
            self.carry(1);
            let next = self.ends.iter().map(Machine::next_timeout).min().unwrap();
            if next > until {
                break;
            }
            self.now = self.now.max(next);
        }
        self.now = until;
    }

    fn carry(&mut self, from: usize) {
        let now = self.now;
        let is_exact = self.ends[from].keeps_time();
        while let Some(leaving) = self.ends[from].poll_transmit(0, is_exact, now) {
            match leaving {
                Leaving::Datagram(transmit) => {
                    let (sequence, is_probe) = (transmit.sequence, transmit.is_probe);
                    let datagram = transmit.seal(WALL + now.as_nanos(), tag);
                    if is_probe {
                        self.ends[from].sent(0, sequence, now);
                    }
                    let arrived = WALL + now.as_nanos();
                    let to = &mut self.ends[1 - from];
                    let came = to.receive(0, &datagram, arrived, now, tag).unwrap();
                    self.delivered.extend(came);
                }
                Leaving::Word(octets) if from == 0 => self.spoken.push(octets),
                Leaving::Word(_) => {}
            }
        }
        self.ends[from].settle(0);
    }

    fn begin(&mut self, id: u32, to: u8, request: Request) {
        let (to, now) = (IpAddr::from([10, 99, 0, to]), self.now);
        self.ends[0].begin((TOOL, id), to, request, Duration::ZERO, now);
    }

    /// A counter of `m3`, or of what it knows of its peer.
    fn count(&self, end: usize, name: &str) -> u64 {
        let snapshot = self.ends[end].snapshot(self.now);
        let mut counts = snapshot.counts.iter().chain(&snapshot.peers[0].counts);
        counts.find(|count| count.0 == name).unwrap().2
    }
}

#[test]
fn a_packet_that_comes_while_a_train_is_under_way_rides_on_it() {
    let mut pair = Pair::new();
    pair.begin(1, 5, train(7, 20));
    pair.play(Duration::from_millis(5));
    pair.ends[0].offer(packet(3, 5, 0), pair.now);
    pair.play(Duration::from_millis(50));
    assert_eq!(pair.delivered, [packet(3, 5, 0)]);
    let words: Vec<_> = pair.words.try_iter().collect();
    let [
        Message::Accepted { id: 1 },
        Message::Outcome { id: 1, outcome },
    ] = &words[..]
    else {
        panic!("{words:?}");
    };
    assert_eq!((outcome.gaps.len(), outcome.riders.probes), (20, 1));
    assert_eq!(outcome.worst_error(), Duration::ZERO);
}

#[test]
fn what_is_for_nobody_or_from_elsewhere_is_dropped_and_counted() {
    let mut pair = Pair::new();
    pair.ends[0].offer(packet(3, 6, 0), pair.now);
    pair.ends[0].offer(packet(4, 5, 0), pair.now);
    pair.play(Duration::from_millis(20));
    assert!(pair.delivered.is_empty());
    assert_eq!(pair.count(0, "unrouted"), 1);
    assert_eq!(pair.count(1, "refused_source"), 1);
}

#[test]
fn packets_of_classes_that_are_prompt_do_not_wait_for_probes() {
    let mut pair = Pair::new();
    pair.begin(1, 5, train(7, 20));
    pair.play(Duration::from_micros(2_500));
    pair.ends[0].offer(packet(3, 5, 46), pair.now);
    pair.play(Duration::ZERO);
    assert_eq!((pair.delivered.len(), pair.count(0, "prompt")), (1, 1));
}

#[test]
fn probes_go_to_who_listens_here_to_the_other_end_or_back() {
    let mut pair = Pair::new();
    pair.ends[0].listen(TOOL, echo::BACK);
    for (id, channel) in [(1, TOLD), (2, echo::ECHOED)] {
        pair.begin(id, 5, train(channel, 2));
    }
    pair.play(Duration::from_millis(30));
    let told: Vec<_> = pair.told[1].try_iter().collect();
    assert_eq!(
        told.iter().map(|told| told.channel).collect::<Vec<_>>(),
        [TOLD; 2]
    );
    assert_eq!(
        told[0].sent_ns, told[0].arrived_ns,
        "by a path without delay"
    );
    let is_back = |word: &Message| matches!(word, Message::Arrival { arrival, .. } if arrival.channel == echo::BACK);
    assert_eq!(pair.words.try_iter().filter(is_back).count(), 2);
    assert_eq!(pair.count(1, "echoes"), 2);
    // What the other end tells goes to who listens for it.
    pair.ends[0].listen(TOOL, TOLD);
    pair.ends[0].told(0, &told);
    assert_eq!(pair.words.try_iter().count(), 2);
}

#[test]
fn the_end_of_a_session_calls_its_transactions_off_and_is_only_its_own() {
    let mut pair = Pair::new();
    pair.begin(1, 5, train(7, 20));
    pair.play(Duration::from_millis(3));
    assert!(!pair.ends[0].leave(0, Some(8)), "another session's");
    assert!(pair.ends[0].leave(0, Some(9)));
    pair.begin(2, 5, train(7, 1));
    pair.begin(3, 6, train(7, 1));
    let words: Vec<_> = pair.words.try_iter().collect();
    let [
        Message::Accepted { id: 1 },
        Message::Outcome { id: 1, outcome },
        refused @ ..,
    ] = &words[..]
    else {
        panic!("{words:?}");
    };
    assert!(outcome.gaps.len() < 20 && !outcome.gaps.is_empty());
    let no_peer = |word: &Message| {
        matches!(
            word,
            Message::Refused {
                reason: Refusal::Peer,
                ..
            }
        )
    };
    assert!(
        refused.len() == 2 && refused.iter().all(no_peer),
        "{refused:?}"
    );
    assert_eq!(pair.ends[0].next_timeout(), Instant::FAR_FUTURE);
    pair.ends[0].offer(packet(3, 5, 0), pair.now);
    assert_eq!(pair.count(0, "unlinked"), 1);
    assert_eq!(
        pair.count(0, "called_off"),
        1,
        "sessions that are over count on"
    );
}

#[test]
fn a_tool_that_is_gone_leaves_no_train_behind() {
    let mut pair = Pair::new();
    pair.begin(1, 5, train(7, 20));
    pair.play(Duration::from_millis(3));
    pair.ends[0].gone(TOOL);
    pair.play(Duration::from_millis(50));
    assert_eq!(pair.count(0, "called_off"), 1);
    assert!(pair.count(1, "received_probes") < 20);
}

/// Long words come half a second after the beginning, and not while a train keeps its time.
#[test]
fn words_say_that_an_end_is_there_and_how_long_packets_may_be() {
    let mut pair = Pair::new();
    pair.play(Duration::from_millis(400));
    assert_eq!(pair.spoken, [0]);
    pair.begin(1, 5, train(7, 600));
    pair.play(Duration::from_millis(500));
    assert_eq!(pair.spoken, [0], "the train is under way");
    pair.play(Duration::from_millis(200));
    assert_eq!(pair.spoken[..2], [0, 1_500]);
    pair.ends[0].learn(0, 8, 1_500, pair.now);
    assert_eq!(
        pair.ends[0].snapshot(pair.now).peers[0].mtu,
        None,
        "of another session"
    );
    pair.ends[0].learn(0, 9, 1_500, pair.now);
    assert_eq!(pair.ends[0].snapshot(pair.now).peers[0].mtu, Some(1_500));
    pair.play(Duration::from_secs(10));
    assert_eq!(pair.spoken[2..], [0, 1_500]);
}
