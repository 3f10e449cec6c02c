//! `isobath mbm`: packets, losses and marks of its tests.

use super::packets::{ONE_WAY, Packet, REPLY, REQUEST};
use super::scene::{Scene, can_watch};
use super::table::{Table, assert_holds, print_decided};
use super::{labs, ms};
use crate::support::{Machine, number, values};
use std::collections::HashMap;

/// Two tests of so many packets each, of a target that no lab is too slow for.
fn compared(lab: &str, v6: bool, reverse: bool, packets: u32) -> Table {
    let way = if reverse { " --reverse" } else { "" };
    let family = if v6 { 6 } else { 4 };
    let arguments = format!(
        "mbm server -{family}{way} --rate 2Mbit --rtt 700ms --ecn --test paced-full-rate,sustained-burst --rule fixed={packets} --yes"
    );
    let scene = Scene::of(lab, &[], &arguments);
    let words = format!("{lab} {} v{family}", if reverse { "down" } else { "up" });
    let mut table = Table::new("mbm", &words);
    let summary = scene.summary();
    let (sender, receiver) = if reverse {
        (&scene.far, &scene.near)
    } else {
        (&scene.near, &scene.far)
    };
    for (stream, test) in (1..).zip(values(&summary["tests"])) {
        let name = test["test"].as_str().unwrap();
        let of_test = |packets: &[Packet]| -> HashMap<u32, (u64, u8)> {
            let ours = packets.iter().filter(|p| p.up != reverse).filter_map(|p| {
                let ours = p
                    .ours()
                    .filter(|o| o.kind == ONE_WAY && o.stream == stream)?;
                Some((ours.seq, (p.octets, p.class & 3)))
            });
            ours.collect()
        };
        let (sent, came) = (of_test(sender), of_test(receiver));
        let octets: u64 = sent.values().map(|(octets, _)| octets).sum();
        let marked = came.values().filter(|(_, ecn)| *ecn == 3).count();
        let mut exact = |figure: &str, theirs: usize| {
            let ours = number(test, &format!("/{}", figure.replace('.', "/")));
            table.exact(&format!("{name}: {figure}"), ours, theirs as f64, "tshark");
        };
        exact("packets_sent", sent.len());
        exact("bytes_sent", usize::try_from(octets).unwrap());
        exact("loss.counts.packets", sent.len());
        exact("loss.counts.lost", sent.len() - came.len());
        exact("loss.counts.ce", marked);
    }
    let ours = number(&summary, "/path_rtt_ms");
    table.delay("path_rtt_ms", ours, least(&scene), "tshark");
    table
}

/// The least round trip of full packets before the tests, in ms, without the time that the far end held them.
fn least(scene: &Scene) -> f64 {
    // They all have number 0, and are told apart by when they were sent, which a reply repeats.
    let passed = |packets: &[Packet], up, kind| -> HashMap<u64, i64> {
        let full = packets.iter().filter(|p| p.up == up && p.octets >= 1_400);
        let ours = full.filter_map(|p| {
            p.ours().filter(|o| o.kind == kind && o.stream == 0)?;
            Some((p.long(32), p.at))
        });
        ours.collect()
    };
    let asked = passed(&scene.near, true, REQUEST);
    let came = passed(&scene.far, true, REQUEST);
    let replied = passed(&scene.far, false, REPLY);
    let back = passed(&scene.near, false, REPLY);
    let trip =
        |sent: &u64| Some(back.get(sent)? - asked[sent] - (replied.get(sent)? - came.get(sent)?));
    ms(asked.keys().filter_map(trip).min().unwrap())
}

#[test]
fn quiet_oracle_of_mbm() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if can_watch() {
        assert_holds(|| compared("lossy", true, true, 500));
    }
}

#[test]
#[ignore = "all labs: docs/oracle.md"]
fn quiet_oracle_of_mbm_in_all_labs() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let mut wrong = 0;
    for lab in labs() {
        for (v6, reverse) in [(false, false), (false, true), (true, false), (true, true)] {
            wrong += print_decided(|| compared(lab, v6, reverse, 1_000));
        }
    }
    assert_eq!(wrong, 0, "figures that do not hold");
}
