//! `isobath rrul`: round trips, delays, losses, marks, throughput, acknowledgements and fairness.

mod datagrams;
mod tcp;

use super::packets::{Ours, Packet, REPLY, REQUEST, SYN, streams};
use super::scene::{Scene, can_watch};
use super::table::{Table, assert_holds, print_decided};
use super::{labs, quantile};
use crate::support::{Machine, has, number, rows};
use schema::tables::{Sample, Stream};
use serde_json::Value;
use std::collections::HashMap;

/// How long a run goes on after its load, in nanoseconds.
const IDLE_AFTER: i64 = 2_000_000_000;

/// Everything of which somebody else can tell, over both versions of IP.
fn plan(idle: u32, load: u32) -> String {
    format!(
        r#"
summary = "all that has an oracle"
families = "both"
idle_before = "{idle}s"
duration = "{load}s"
settle = "2s"
idle_after = "{IDLE_AFTER}ns"
load = [
    {{ direction = "both", class = "CS1", streams = 2 }},
    {{ direction = "both", class = "EF", streams = 2 }},
]
probe = [
    {{ kind = "udp_rr", class = "EF", streams = 2, gap = "5ms" }},
    {{ kind = "udp_rr", class = "CS0", streams = 2, gap = "5ms" }},
    {{ kind = "udp_paced" }},
    {{ kind = "udp_rr", ecn = "ect0", gap = "20ms" }},
    {{ kind = "udp_rr", ecn = "ect1", gap = "20ms" }},
    {{ kind = "tcp_rr", streams = 2, gap = "10ms" }},
    {{ kind = "dns", gap = "100ms" }},
]
call = [{{ class = "EF" }}]
"#
    )
}

/// Rates over a phase of some seconds: a look of 100 ms more or less at either edge.
const SHORT: f64 = 0.025;

/// A run, and what was seen of it.
struct Seen {
    scene: Scene,
    summary: Value,
    streams: HashMap<u16, Stream>,
    /// The run's start by the captures' clock.
    began: i64,
    /// Which stream a TCP connection is.
    flows: HashMap<(bool, u16), u16>,
}

/// When something was, and of which stream and number it is.
type Stamps = HashMap<(u16, u32), i64>;

impl Seen {
    fn new(scene: Scene) -> Self {
        let of_record = rows::<Stream>(&scene.record()).into_iter();
        let samples = rows::<Sample>(&scene.record());
        let asked = stamps(&scene.near, |packet, ours| {
            packet.up && ours.kind == REQUEST
        });
        let by_kernel = samples
            .iter()
            .filter(|s| s.clock == "kernel" && s.rtt_ns.is_some());
        let differences: Vec<f64> = by_kernel
            .filter_map(|s| {
                let at = asked.get(&(s.stream, u32::try_from(s.seq).ok()?))?;
                Some((at - s.t_ns.cast_signed()) as f64)
            })
            .collect();
        Self {
            summary: scene.summary(),
            began: quantile(&differences, 0.5) as i64,
            flows: streams(&scene.near),
            scene,
            streams: of_record.map(|stream| (stream.id, stream)).collect(),
        }
    }

    /// Begin and end of a phase by the captures' clock.
    fn phase(&self, name: &str) -> (i64, i64) {
        let at = |index: u8| {
            let seconds = number(&self.summary, &format!("/phases/{name}/{index}"));
            self.began + (seconds * 1e9) as i64
        };
        (at(0), at(1))
    }

    fn is(&self, stream: u16, kind: &str) -> bool {
        self.streams.get(&stream).is_some_and(|s| s.kind == kind)
    }

    /// A figure of the summary; none of what was not measured.
    fn figure(&self, pointer: &str) -> Option<f64> {
        self.summary.pointer(pointer).and_then(Value::as_f64)
    }
}

/// The first time at which each datagram that `is_wanted` was seen.
fn stamps(packets: &[Packet], is_wanted: impl Fn(&Packet, &Ours) -> bool) -> Stamps {
    let mut stamps = Stamps::new();
    for packet in packets {
        if let Some(ours) = packet.ours().filter(|ours| is_wanted(packet, ours)) {
            stamps.entry((ours.stream, ours.seq)).or_insert(packet.at);
        }
    }
    stamps
}

/// Plays `plan` in `lab` with ping beside it and compares.
fn compared(lab: &str, plan: &str) -> Table {
    let ping = "stdbuf -oL ping -D -n -i 0.02 10.77.0.2 > ping.txt";
    let files = [("plan.toml", plan)];
    let scene = Scene::beside(ping, lab, &files, "rrul server --plan plan.toml");
    let seen = Seen::new(scene);
    let mut table = Table::new("rrul", lab);
    seen.datagrams(&mut table);
    seen.tcp(&mut table);
    table
}

#[test]
fn quiet_oracle_of_rrul() {
    let Some(_machine) = Machine::alone() else {
        return;
    };
    if can_watch() && has("ping") {
        assert_holds(|| compared("dsl", &plan(2, 6)));
    }
}

#[test]
#[ignore = "all labs: docs/oracle.md"]
fn quiet_oracle_of_rrul_in_all_labs() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let mut wrong = 0;
    for lab in labs() {
        wrong += print_decided(|| compared(lab, &plan(5, 20)));
    }
    assert_eq!(wrong, 0, "figures that do not hold");
}
