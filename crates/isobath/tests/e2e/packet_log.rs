//! The emulator's log of single datagrams beside what the ends say of the same datagrams. Only the order of what must come
//! one after the other is asserted: all of it is on one clock.

use crate::support::{Machine, folder, rows, run};
use schema::tables::{Packet, Sample, Stream};
use std::collections::{HashMap, HashSet};

/// Two links, so that each datagram is noted twice.
const LAB: &str = r#"
summary = "two small links"
client = "near"
server = "far"
hosts = ["near", "far"]
routers = ["middle"]
[[link]]
between = ["near", "middle"]
up = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", bytes = "30kB" } }]
down = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", bytes = "30kB" } }]
[[link]]
between = ["middle", "far"]
up = [{ kind = "delay", delay = "5ms" }]
down = [{ kind = "delay", delay = "5ms" }]
"#;
const PLAN: &str = r#"
summary = "round trips and a call over a loaded path"
idle_before = "1s"
duration = "1s"
settle = "500ms"
idle_after = "500ms"
[[load]]
direction = "both"
[[probe]]
kind = "udp_rr"
class = "EF"
[[call]]
class = "EF"
"#;
const FIRST: &str = "near-middle";
const SECOND: &str = "middle-far";
const DELAY_NS: u64 = 5_000_000;

/// The rows of one datagram, by link and direction.
type Crossings = HashMap<(String, String), Packet>;

#[test]
fn every_answered_request_is_noted_on_its_way_there_and_back_in_the_order_of_events() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("lab.toml", LAB), ("plan.toml", PLAN)]);
    let common = ["rrul", "--lab", "lab.toml", "--plan", "plan.toml", "--json"];
    let logged = [&common[..], &["--packet-log", "-o", "logged"]].concat();
    run(place.path(), &logged).measured();
    let record = place.path().join("logged");
    let streams: Vec<Stream> = rows(&record);
    let of_kind = |kind: &str| -> HashSet<u16> {
        let streams = streams.iter().filter(|stream| stream.kind == kind);
        streams.map(|stream| stream.id).collect()
    };
    let (round_trips, calls) = (of_kind("udp_rr"), of_kind("voip"));
    let asking = &round_trips | &calls;
    let mut datagrams: HashMap<(String, u16, u64), Crossings> = HashMap::new();
    for packet in rows::<Packet>(&record) {
        never_leaves_before_its_time(&packet);
        // On a call's stream there are requests too: by them the client asks for its datagrams.
        let of = if packet.kind == "one_way" {
            &calls
        } else {
            &asking
        };
        assert!(of.contains(&packet.stream), "{packet:?}");
        let datagram = (packet.kind.clone().into_owned(), packet.stream, packet.seq);
        let way = (
            packet.link.clone().into_owned(),
            packet.direction.clone().into_owned(),
        );
        let before = datagrams.entry(datagram).or_default().insert(way, packet);
        assert!(before.is_none(), "noted twice: {before:?}");
    }
    let mut answered = 0;
    for sample in rows::<Sample>(&record) {
        let crossings = |kind: &str| &datagrams[&(kind.to_owned(), sample.stream, sample.seq)];
        if round_trips.contains(&sample.stream) && sample.rtt_ns.is_some() {
            follows_a_round_trip(crossings("request"), crossings("reply"));
            answered += 1;
        }
        if calls.contains(&sample.stream) && !sample.lost {
            assert_eq!(crossings("one_way").len(), 2, "{sample:?}");
        }
    }
    assert!(answered > 0, "no round trip was measured");
}

#[test]
fn only_a_lab_has_a_log_of_packets() {
    let place = folder(&[]);
    let arguments = ["rrul", "localhost", "--packet-log"];
    let said = run(place.path(), &arguments).refused(2).to_owned();
    assert!(said.contains("--packet-log"), "{said}");
}

#[track_caller]
fn never_leaves_before_its_time(packet: &Packet) {
    let order = [packet.sent_ns, packet.t_ns, packet.due_ns, packet.left_ns];
    assert!(order.is_sorted(), "{packet:?}");
    if packet.link == SECOND {
        assert_eq!(packet.due_ns - packet.t_ns, DELAY_NS, "{packet:?}");
    }
    let by_far_end = packet.received_ns.zip(packet.replied_ns);
    assert_eq!(by_far_end.is_some(), packet.kind == "reply", "{packet:?}");
}

/// There over both links, turned round, and back over both.
#[track_caller]
fn follows_a_round_trip(request: &Crossings, reply: &Crossings) {
    let at = |crossings: &Crossings, link: &str, way: &str| -> [u64; 2] {
        let packet = &crossings[&(link.to_owned(), way.to_owned())];
        [packet.t_ns, packet.left_ns]
    };
    let there = [at(request, FIRST, "up"), at(request, SECOND, "up")];
    let back = [at(reply, SECOND, "down"), at(reply, FIRST, "down")];
    assert_eq!((request.len(), reply.len()), (2, 2));
    let replied = reply.values().next().and_then(|packet| packet.replied_ns);
    let replied = replied.expect("a reply says when it was written");
    let times = [there.concat(), vec![replied], back.concat()].concat();
    assert!(times.is_sorted(), "{request:?} {reply:?}");
}
