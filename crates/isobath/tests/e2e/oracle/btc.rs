//! `isobath btc`: segments, retransmissions, losses and throughput of our own transfers and of the kernel's.

use super::packets::{ACK, DATA, Packet, Seen};
use super::scene::{Scene, can_watch};
use super::table::{Table, assert_holds, print_decided};
use super::{labs, mbps, ms, quantile};
use crate::support::{Machine, number, rows};
use schema::btc::tables::{RoundTrip, Transfer};
use std::collections::{HashMap, HashSet};

/// What was seen of a transfer.
#[derive(Default)]
struct Watched {
    sent: u64,
    again: u64,
    came: u64,
    duplicates: u64,
    reordered: u64,
    /// Octets of payload that came, copies left out.
    octets: u64,
    /// From the first departure to the last acknowledgement that counts.
    lasted: i64,
    round_trips: Vec<f64>,
}

/// What a sender sent, what came of it, and what came back.
struct Ends<'a> {
    sent: Vec<&'a Packet>,
    came: Vec<&'a Packet>,
    back: Vec<&'a Packet>,
}

impl<'a> Ends<'a> {
    fn of(scene: &'a Scene, reverse: bool, is_wanted: impl Fn(&Packet) -> bool) -> Self {
        let [sender, receiver] = if reverse {
            [&scene.far, &scene.near]
        } else {
            [&scene.near, &scene.far]
        };
        let of = |packets: &'a [Packet], up| {
            let wanted = packets.iter().filter(|p| p.up == up && is_wanted(p));
            wanted.collect::<Vec<_>>()
        };
        Self {
            sent: of(sender, !reverse),
            came: of(receiver, !reverse),
            back: of(sender, reverse),
        }
    }
}

/// A transfer of ours: each packet has its identifier, each segment its number.
fn ours(ends: &Ends<'_>) -> Watched {
    let of_kind = |packets: &[&Packet], kind| -> Vec<(i64, u64, u32)> {
        let wanted = packets.iter().filter_map(|p| {
            let ours = p.ours().filter(|ours| ours.kind == kind)?;
            Some((p.at, p.long(40), ours.seq))
        });
        wanted.collect()
    };
    let (sent, came) = (of_kind(&ends.sent, DATA), of_kind(&ends.came, DATA));
    let mut watched = Watched {
        sent: sent.len() as u64,
        ..Watched::default()
    };
    let mut left = HashMap::new();
    let mut segments = HashSet::new();
    for (at, id, seq) in &sent {
        left.insert(*id, *at);
        watched.again += u64::from(!segments.insert(*seq));
    }
    let (mut packets, mut had, mut highest) = (HashSet::new(), HashSet::new(), 0);
    for (_, id, seq) in &came {
        watched.came += u64::from(packets.insert(*id));
        watched.duplicates += u64::from(!had.insert(*seq));
        // The upper half counts the packets.
        watched.reordered += u64::from(id >> 32 < highest);
        highest = highest.max(id >> 32);
    }
    let data = ends
        .came
        .iter()
        .filter(|p| p.ours().is_some_and(|o| o.kind == DATA));
    let lengths: HashMap<u32, u64> = data
        .map(|p| (p.word(12), u64::from(p.word(8) & 0xffff)))
        .collect();
    watched.octets = lengths.values().sum();
    let mut next = 0;
    for ack in ends
        .back
        .iter()
        .filter(|p| p.ours().is_some_and(|o| o.kind == ACK))
    {
        if ack.word(12) > next {
            next = ack.word(12);
            watched.lasted = ack.at - sent[0].0;
        }
        // Of the packet that triggered it, so it has not waited.
        if let Some(at) = left.get(&ack.long(40)) {
            watched.round_trips.push(ms(ack.at - at));
        }
    }
    watched
}

/// A transfer of the kernel's, without the preamble that its first segment has upwards.
fn kernels(ends: &Ends<'_>, reverse: bool) -> Watched {
    let is_data =
        |packet: &&&Packet| packet.data() > 0 && (reverse || !packet.payload.starts_with(b"ISOB"));
    let mut watched = Watched::default();
    let (mut left, mut had) = (Seen::default(), Seen::default());
    let sent: Vec<_> = ends.sent.iter().filter(is_data).collect();
    for packet in &sent {
        let packets = packet.on_the_wire().0;
        watched.sent += packets;
        if left.add(packet.segment.unwrap()) < packet.data() {
            watched.again += packets;
        }
    }
    for packet in ends.came.iter().filter(is_data) {
        watched.came += packet.on_the_wire().0;
        watched.octets += had.add(packet.segment.unwrap());
    }
    let first = sent[0].segment.unwrap().seq;
    let all = u32::try_from(watched.octets).unwrap();
    let last = ends.back.iter().find(|p| {
        let ack = p.segment.unwrap().ack.wrapping_sub(first);
        ack == all || ack == all + 1
    });
    watched.lasted = last.unwrap().at - sent[0].at;
    watched
}

/// A transfer of ours, and one of the kernel's, of as many segments.
fn compared(lab: &str, v6: bool, reverse: bool, segments: u32) -> Table {
    let way = if reverse { " --reverse" } else { "" };
    let family = if v6 { 6 } else { 4 };
    let arguments = format!(
        "btc server -{family}{way} --segments {segments} --tools ours,kernel --cc reno --patience 20s"
    );
    let scene = Scene::of(lab, &[], &arguments);
    let words = format!("{lab} {} v{family}", if reverse { "down" } else { "up" });
    let mut table = Table::new("btc", &words);
    let summary = scene.summary();
    for transfer in rows::<Transfer>(&scene.record()) {
        let is_ours = transfer.tool == "ours";
        let watched = if is_ours {
            ours(&Ends::of(&scene, reverse, |packet| packet.ours().is_some()))
        } else {
            // The connection with a preamble; the other one is control.
            let flow = *super::packets::streams(&scene.near).keys().next().unwrap();
            let ends = Ends::of(&scene, reverse, |p| p.is_tcp() && p.flow() == flow);
            kernels(&ends, reverse)
        };
        let tool = "tshark";
        let name = |figure: &str| format!("{}: {figure}", transfer.tool);
        let mut exact = |figure: &str, ours: u64, theirs: u64| {
            table.exact(&name(figure), ours as f64, theirs as f64, tool);
        };
        exact("sent_packets", transfer.sent_packets, watched.sent);
        exact("retransmits", transfer.retransmits, watched.again);
        exact("bytes", transfer.bytes, watched.octets);
        if is_ours {
            exact(
                "duplicates",
                transfer.duplicates.unwrap(),
                watched.duplicates,
            );
            exact("reordered", transfer.reordered.unwrap(), watched.reordered);
        }
        // Segments that reach the kernel in one burst may count as one.
        table.edge(
            if is_ours { 0.0 } else { 4.0 },
            &name("lost"),
            transfer.lost as f64,
            (watched.sent - watched.came) as f64,
            tool,
        );
        let rate = transfer.throughput_mbps.unwrap();
        table.rate(
            &name("throughput_mbps"),
            rate,
            mbps(watched.octets, watched.lasted),
            tool,
        );
        if is_ours {
            let trips = rows::<RoundTrip>(&scene.record());
            let all: Vec<_> = trips
                .iter()
                .map(|row| ms(row.rtt_ns.cast_signed()))
                .collect();
            table.delay(
                "ours: rtt_ms.p50",
                number(&summary, "/rtt_ms/p50"),
                quantile(&watched.round_trips, 0.5),
                tool,
            );
            table.delay(
                "ours: rtt_ms.min",
                quantile(&all, 0.0),
                quantile(&watched.round_trips, 0.0),
                tool,
            );
        }
    }
    table
}

#[test]
fn quiet_oracle_of_btc() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if can_watch() {
        assert_holds(|| compared("lossy", false, false, 1_000));
    }
}

#[test]
#[ignore = "all labs: docs/oracle.md"]
fn quiet_oracle_of_btc_in_all_labs() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let mut wrong = 0;
    for lab in labs() {
        for (v6, reverse) in [(false, false), (false, true), (true, false), (true, true)] {
            wrong += print_decided(|| compared(lab, v6, reverse, 2_000));
        }
    }
    assert_eq!(wrong, 0, "figures that do not hold");
}
