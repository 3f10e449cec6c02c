//! `isobath estimate`: delays, jitter and loss by the packets, capacity and available bandwidth by what the lab was told to have.

use super::packets::{ONE_WAY, Ours, Packet, REPLY, REQUEST};
use super::scene::{Scene, can_watch};
use super::table::{Table, assert_holds, print_decided};
use super::{labs, ms, quantile};
use crate::support::{Machine, number};
use std::collections::HashMap;

/// Streams of a run: docs/protocol.md.
const ONE_WAY_PROBES: u16 = 1;
const ECHOED_PROBES: u16 = 2;

/// When each probe of a stream passed.
type Passed = HashMap<u32, i64>;

fn passed(packets: &[Packet], is_wanted: impl Fn(&Packet, Ours) -> bool) -> Passed {
    let ours = packets.iter().filter_map(|packet| {
        let ours = packet.ours().filter(|ours| is_wanted(packet, *ours))?;
        Some((ours.seq, packet.at))
    });
    ours.collect()
}

/// The steady streams, by their packets.
fn compared(lab: &str, v6: bool, reverse: bool, seconds: u32) -> Table {
    let family = if v6 { 6 } else { 4 };
    let way = if reverse { " --reverse" } else { "" };
    let words = format!("{lab} {} v{family}", if reverse { "down" } else { "up" });
    let mut table = Table::new("estimate", &words);
    let estimate = |what: &str| {
        let arguments = format!("estimate {what} server -{family}{way} -d {seconds}s");
        Scene::of(lab, &[], &arguments)
    };
    for what in ["rtt", "owd"] {
        echoed(&mut table, what, &estimate(what), reverse);
    }
    one_way(&mut table, "jitter", &estimate("jitter"), reverse);
    let scene = estimate("loss --estimator isochronous");
    one_way(&mut table, "loss", &scene, reverse);
    table
}

fn echoed(table: &mut Table, what: &str, scene: &Scene, reverse: bool) {
    let of = |ours: Ours, kind| ours.stream == ECHOED_PROBES && ours.kind == kind;
    let asked = passed(&scene.near, |p, o| p.up && of(o, REQUEST));
    let came = passed(&scene.far, |p, o| p.up && of(o, REQUEST));
    let replied = passed(&scene.far, |p, o| !p.up && of(o, REPLY));
    let back = passed(&scene.near, |p, o| !p.up && of(o, REPLY));
    let ways = |seq: &u32| {
        let (up, down) = (
            came.get(seq)? - asked.get(seq)?,
            back.get(seq)? - replied.get(seq)?,
        );
        Some(if reverse { (down, up) } else { (up, down) })
    };
    let ways: Vec<(i64, i64)> = asked.keys().filter_map(ways).collect();
    // Two clocks do not know which way is the longer one: at best both are taken for equally long (the record says so, and by how much that
    // may be wrong). Half of what they differ by goes from one to the other.
    let (one, other) = ways.iter().fold((i64::MAX, i64::MAX), |least, way| {
        (least.0.min(way.0), least.1.min(way.1))
    });
    let shifted = ms(other.saturating_sub(one)) / 2.0;
    let delay = |(one, other): &(i64, i64)| match what {
        "rtt" => ms(one + other),
        _ => ms(*one) + shifted,
    };
    let delays: Vec<f64> = ways.iter().map(delay).collect();
    let summary = scene.summary();
    let (ours, theirs) = (number(&summary, "/value"), quantile(&delays, 0.5));
    if what == "owd" && table.lab().starts_with("lte") {
        // The least delays that set the clocks are other packets' than these, and differ from moment to moment.
        table.within(0.02, what, ours, theirs, "tshark");
    } else {
        table.delay(what, ours, theirs, "tshark");
    }
    table.exact(
        &format!("{what}: probes"),
        number(&summary, "/probes"),
        asked.len() as f64,
        "tshark",
    );
    let lost = asked.len() - delays.len();
    table.exact(
        &format!("{what}: probes_lost"),
        number(&summary, "/probes_lost"),
        lost as f64,
        "tshark",
    );
}

fn one_way(table: &mut Table, what: &str, scene: &Scene, reverse: bool) {
    let (sender, receiver) = if reverse {
        (&scene.far, &scene.near)
    } else {
        (&scene.near, &scene.far)
    };
    let of = |packet: &Packet, ours: Ours| {
        packet.up != reverse && ours.stream == ONE_WAY_PROBES && ours.kind == ONE_WAY
    };
    let (left, came) = (passed(sender, of), passed(receiver, of));
    let summary = scene.summary();
    let lost = left.len() - came.len();
    table.exact(
        &format!("{what}: probes"),
        number(&summary, "/probes"),
        left.len() as f64,
        "tshark",
    );
    table.exact(
        &format!("{what}: probes_lost"),
        number(&summary, "/probes_lost"),
        lost as f64,
        "tshark",
    );
    let octets: u64 = sender
        .iter()
        .filter(|p| p.ours().is_some_and(|o| of(p, o)))
        .map(|p| p.octets)
        .sum();
    table.exact(
        &format!("{what}: overhead_bytes"),
        number(&summary, "/overhead_bytes"),
        octets as f64,
        "tshark",
    );
    if what == "loss" {
        let share = lost as f64 / left.len() as f64 * 100.0;
        table.exact("loss", number(&summary, "/value"), share, "tshark");
        return;
    }
    // The mean change of delay from each probe to the next one (RFC 3393).
    let mut numbers: Vec<_> = came.keys().collect();
    numbers.sort_unstable();
    let delays: Vec<_> = numbers
        .iter()
        .map(|seq| ms(came[seq] - left[seq]))
        .collect();
    let changes: Vec<_> = numbers
        .windows(2)
        .zip(delays.windows(2))
        .filter(|(pair, _)| *pair[1] == pair[0] + 1)
        .map(|(_, delays)| (delays[1] - delays[0]).abs())
        .collect();
    let mean = changes.iter().sum::<f64>() / changes.len() as f64;
    table.delay("jitter", number(&summary, "/value"), mean, "tshark");
}

/// What a link was told to carry, against what `what` finds.
fn told(lab: &str, what: &str, reverse: bool, mbps: f64, within: f64) -> Table {
    let way = if reverse { " --reverse" } else { "" };
    let scene = Scene::of(lab, &[], &format!("estimate {what} server{way}"));
    let mut table = Table::new(
        "estimate",
        &format!("{lab} {}", if reverse { "down" } else { "up" }),
    );
    table.within(
        within,
        what,
        number(&scene.summary(), "/value"),
        mbps,
        "lab",
    );
    table
}

/// Holds manager/properties.
#[test]
fn quiet_oracle_of_estimate() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if can_watch() {
        assert_holds(|| compared("lossy", false, true, 2));
    }
}

#[test]
#[ignore = "all labs: docs/oracle.md"]
fn quiet_oracle_of_estimate_in_all_labs() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let mut wrong = 0;
    for lab in labs() {
        for (v6, reverse) in [(false, false), (false, true), (true, false), (true, true)] {
            wrong += print_decided(|| compared(lab, v6, reverse, 10));
        }
    }
    for (lab, up, down) in [
        ("dsl", 5.0, 20.0),
        ("cable-hops", 10.0, 100.0),
        ("lossy", 20.0, 20.0),
    ] {
        for (reverse, rate) in [(false, up), (true, down)] {
            for (what, tolerance) in [
                ("capacity", 0.01),
                ("available --estimator pathload-fast", 0.05),
            ] {
                wrong += print_decided(|| told(lab, what, reverse, rate, tolerance));
            }
        }
    }
    assert_eq!(wrong, 0, "figures that do not hold");
}
