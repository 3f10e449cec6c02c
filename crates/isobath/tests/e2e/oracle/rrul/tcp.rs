//! What is measured over TCP: payload, acknowledgements, headers, retransmissions, request and echo.

use super::super::packets::{Packet, Seen as Octets};
use super::super::table::Table;
use super::super::{mbps, ms, quantile};
use super::{SHORT, SYN, Seen};
use schema::tables::Stream;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// A data stream's preamble.
const PREAMBLE: u64 = 32;

/// What one direction of the load did.
#[derive(Default)]
struct Load {
    /// Payload that came, copies left out, by stream: in the whole run, and in the loaded time.
    came: BTreeMap<u16, u64>,
    came_loaded: BTreeMap<u16, u64>,
    /// All packets with data that came in the loaded time, and their octets.
    wire: u64,
    /// Acknowledgements that the receivers sent in the loaded time, and their octets.
    acks: u64,
    ack_octets: u64,
    /// Segments that the senders sent again in the whole run.
    again: u64,
}

impl Seen {
    pub(super) fn tcp(&self, table: &mut Table) {
        let [down, up] = ["down", "up"].map(|way| self.load(way));
        let (begin, end) = self.phase("loaded");
        let rate = |octets: u64| mbps(octets, end - begin);
        for (way, load, back) in [("down", &down, &up), ("up", &up, &down)] {
            let other = if way == "up" { "down" } else { "up" };
            let payload: u64 = load.came_loaded.values().sum();
            let figure = |table: &mut Table, at: &str, theirs: f64| {
                let ours = self.figure(&format!("/{}", at.replace('.', "/")));
                table.within(SHORT, at, ours.unwrap(), theirs, "tshark");
            };
            figure(table, &format!("throughput_mbps.{way}"), rate(payload));
            // Octets of acknowledgements are not compared: SACK options are left out of their size (docs/rrul.md).
            figure(
                table,
                &format!("acks.{other}.per_s"),
                load.acks as f64 * 1e9 / (end - begin) as f64,
            );
            figure(
                table,
                &format!("throughput_mbps.wire_{way}"),
                rate(load.wire + back.ack_octets),
            );
            figure(
                table,
                &format!("transferred_bytes.{way}"),
                load.came.values().sum::<u64>() as f64,
            );
            figure(table, &format!("fairness.{way}"), jain(&load.came_loaded));
            let again: u64 = self.of_load(way).filter_map(|s| s.retransmits).sum();
            // Repeated answers to handshakes count, too.
            table.edge(
                2.0,
                &format!("streams.retransmits, {way}"),
                again as f64,
                load.again as f64,
                "tshark",
            );
        }
        self.echoes(table);
        self.slew(table);
    }

    fn of_load(&self, way: &str) -> impl Iterator<Item = &Stream> {
        self.streams
            .values()
            .filter(move |s| s.kind == "tcp_load" && s.direction == way)
    }

    /// Load of one direction as it was seen at its receivers, and sent by its senders.
    fn load(&self, way: &str) -> Load {
        let up = way == "up";
        let (sender, receiver) = if up {
            (&self.scene.near, &self.scene.far)
        } else {
            (&self.scene.far, &self.scene.near)
        };
        let (begin, end) = self.phase("loaded");
        let loaded: Range<i64> = begin..end;
        let stream = |packet: &Packet| {
            let id = *self.flows.get(&packet.flow())?;
            let stream = &self.streams[&id];
            (packet.is_tcp() && stream.kind == "tcp_load" && stream.direction == way).then_some(id)
        };
        let mut load = Load::default();
        let mut seen: HashMap<u16, Octets> = HashMap::new();
        for packet in receiver {
            let Some((id, segment)) = stream(packet).zip(packet.segment) else {
                continue;
            };
            if packet.up == up {
                let fresh = seen.entry(id).or_default().add(segment);
                *load.came.entry(id).or_default() += fresh;
                if loaded.contains(&packet.at) {
                    *load.came_loaded.entry(id).or_default() += fresh;
                    load.wire += if segment.len > 0 {
                        packet.on_the_wire().1
                    } else {
                        0
                    };
                }
            } else if loaded.contains(&packet.at) && segment.len == 0 {
                load.acks += 1;
                load.ack_octets += packet.octets;
            }
        }
        let mut sent: HashMap<u16, Octets> = HashMap::new();
        let mut opened = HashSet::new();
        for packet in sender.iter().filter(|packet| packet.up == up) {
            if let Some((id, segment)) = stream(packet).zip(packet.segment) {
                let fresh = sent.entry(id).or_default().add(segment);
                // The kernel counts SYNs that were sent again, too.
                let is_second = segment.flags & SYN != 0 && !opened.insert(id);
                if fresh < segment.len || is_second {
                    load.again += packet.on_the_wire().0;
                }
            }
        }
        load
    }

    /// Each message of a request-and-echo stream and its echo, by their places in the connection.
    fn echoes(&self, table: &mut Table) {
        let mut asked: HashMap<(u16, u64), i64> = HashMap::new();
        let mut first: HashMap<(u16, bool), u32> = HashMap::new();
        let mut times: HashMap<&str, Vec<f64>> = HashMap::new();
        for packet in &self.scene.near {
            let Some((id, segment)) = self.flows.get(&packet.flow()).copied().zip(packet.segment)
            else {
                continue;
            };
            let stream = &self.streams[&id];
            if stream.kind != "tcp_rr" {
                continue;
            }
            let own = u32::from(segment.flags & SYN != 0);
            let first = *first
                .entry((id, packet.up))
                .or_insert(segment.seq.wrapping_add(own));
            let size = u64::from(stream.message_bytes.unwrap());
            let begin = u64::from(segment.seq.wrapping_sub(first));
            let skipped = if packet.up { PREAMBLE } else { 0 };
            // Messages that end in this segment.
            let [before, after] =
                [begin, begin + segment.len].map(|at| at.saturating_sub(skipped) / size);
            for message in before..after {
                if packet.up {
                    asked.entry((id, message)).or_insert(packet.at);
                } else if let Some(at) = asked.remove(&(id, message)) {
                    for phase in ["idle", "loaded"] {
                        let (begin, end) = self.phase(phase);
                        if (begin..end).contains(&at) {
                            times.entry(phase).or_default().push(ms(packet.at - at));
                        }
                    }
                }
            }
        }
        for (phase, times) in times {
            let ours = self.figure(&format!("/tcp_rr_ms/{phase}/p50"));
            table.delay(
                &format!("tcp_rr_ms.{phase}.p50"),
                ours.unwrap(),
                quantile(&times, 0.5),
                "tshark",
            );
        }
    }

    /// When the answer to each stream's handshake came, after its planned start.
    fn slew(&self, table: &mut Table) {
        let mut late: HashMap<u16, f64> = HashMap::new();
        let answers = self
            .scene
            .near
            .iter()
            .filter(|p| !p.up && p.segment.is_some_and(|s| s.flags & SYN != 0));
        for packet in answers {
            let Some(stream) = self.flows.get(&packet.flow()).map(|id| &self.streams[id]) else {
                continue;
            };
            if matches!(&*stream.kind, "tcp_load" | "tcp_rr") {
                let planned = self.began + stream.planned_ns.cast_signed();
                late.entry(stream.id).or_insert(ms(packet.at - planned));
            }
        }
        let late: Vec<f64> = late.into_values().collect();
        for (name, q) in [("p50", 0.5), ("max", 1.0)] {
            let ours = self.figure(&format!("/slew_ms/{name}")).unwrap();
            // The program is told of a connection when it is woken.
            table.edge(
                2.0,
                &format!("slew_ms.{name}"),
                ours,
                quantile(&late, q),
                "tshark",
            );
        }
    }
}

/// Jain's index of what each stream got.
fn jain(shares: &BTreeMap<u16, u64>) -> f64 {
    let sum: f64 = shares.values().map(|share| *share as f64).sum();
    let squares: f64 = shares.values().map(|share| (*share as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares)
}
