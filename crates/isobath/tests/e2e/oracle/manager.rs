//! `isobath manager`: datagrams, probes and what rode on them, by the datagrams' own headers (docs/mgrp.md).

use super::labs;
use super::packets::Packet;
use super::scene::{Scene, can_watch};
use super::table::{Table, assert_holds, print_decided};
use crate::manager::{SHARED, place};
use crate::support::{Machine, has, number};

/// The envelope's octets.
const ENVELOPE: usize = 16;
/// Kinds of units.
const PROBE: u16 = 1;
const PIECE: u16 = 3;
/// A piece's own header.
const PIECE_HEADER: u64 = 8;

/// What went one way.
#[derive(Default)]
struct Counted {
    datagrams: u64,
    octets: u64,
    probes: u64,
    probe_octets: u64,
    riders: u64,
    pieces: u64,
    riding: u64,
}

fn counted<'a>(packets: impl Iterator<Item = &'a Packet>) -> Counted {
    let mut counted = Counted::default();
    for packet in packets {
        let unit = |at: usize| {
            let octets = packet.payload[ENVELOPE + at..][..2].try_into().unwrap();
            let word = u16::from_be_bytes(octets);
            (word >> 14, u64::from(word & 0xfff))
        };
        let (first, second) = (unit(12), unit(14));
        counted.datagrams += 1;
        counted.octets += packet.octets;
        if first.0 == PROBE {
            counted.probes += 1;
            counted.probe_octets += packet.octets;
            counted.riders += u64::from(second.0 != 0);
            let is_piece = second.0 == PIECE;
            counted.pieces += u64::from(is_piece);
            counted.riding += second.1 - if is_piece { PIECE_HEADER } else { 0 };
        }
    }
    counted
}

/// A tool's trains both ways, and pings over the overlay.
fn compared(lab: &str, trains: u32) -> Table {
    let far = format!(
        r#"{SHARED}"$isobath" manager up --config m5.toml > m5.log 2>&1 &
(linked m5.sock; python3 "$tool" 10.99.0.1 --socket m5.sock --trains {trains} > m5.trains; touch m5.sent) &"#
    );
    let near = format!(
        r#"{SHARED}"$isobath" manager up --config m3.toml > m3.log 2>&1 &
linked m3.sock
ping -n -q -c {pings} -i 0.004 -s 700 10.99.0.2 > ping.txt &
pings=$!
python3 "$tool" 10.99.0.2 --socket m3.sock --trains {trains} > m3.trains
wait $pings
await m5.sent
sleep 1.5
"$isobath" manager stats --socket m3.sock --json > m3.stats
"$isobath" manager stats --socket m5.sock --json > m5.stats
date +%s%N > now"#,
        pings = trains * 10,
    );
    let scene = Scene::play(lab, place("10.77.0.2:4890"), &far, &near);
    let mut table = Table::new("manager", lab);
    let until: i64 = scene.text("now").trim().parse().unwrap();
    let is_ours = |packet: &&Packet| {
        !packet.is_tcp()
            && packet.ports.1 == 4890
            && packet.payload.len() > ENVELOPE + 16
            && !packet.payload.starts_with(b"ISOB")
            && packet.at < until
    };
    for (packets, up, name, peer) in [
        (&scene.near, true, "m3", "m5"),
        (&scene.far, false, "m5", "m3"),
    ] {
        let stats = scene.json(&format!("{name}.stats"));
        let ours = |counter: &str| number(&stats, &format!("/peers/{peer}/{counter}"));
        let sent = counted(packets.iter().filter(|p| p.up == up).filter(is_ours));
        let came = counted(packets.iter().filter(|p| p.up != up).filter(is_ours));
        for (counter, theirs) in [
            ("sent_packets", sent.datagrams),
            ("sent_octets", sent.octets),
            ("sent_probes", sent.probes),
            ("sent_probe_octets", sent.probe_octets),
            ("riders", sent.riders),
            ("riding_pieces", sent.pieces),
            ("riding_octets", sent.riding),
            ("received_packets", came.datagrams),
            ("received_octets", came.octets),
            ("received_probes", came.probes),
        ] {
            table.exact(
                &format!("{name}: {counter}"),
                ours(counter),
                theirs as f64,
                "tshark",
            );
        }
    }
    table
}

/// Holds manager/unit, manager/single-rider.
#[test]
fn quiet_oracle_of_manager() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if can_watch() && has("ping") && has("python3") {
        assert_holds(|| compared("dsl", 20));
    }
}

#[test]
#[ignore = "all labs: docs/oracle.md"]
fn quiet_oracle_of_manager_in_all_labs() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let mut wrong = 0;
    for lab in labs() {
        wrong += print_decided(|| compared(lab, 50));
    }
    assert_eq!(wrong, 0, "figures that do not hold");
}
