//! What is measured by datagrams: each is known by its stream and number at both ends.

use super::super::packets::{ONE_WAY, Ours, Packet};
use super::super::table::Table;
use super::super::{mbps, ms, quantile};
use super::{IDLE_AFTER, REPLY, REQUEST, Seen, Stamps, stamps};
use std::collections::{BTreeMap, HashMap};

/// DSCPs by the names that the summary has.
fn dscp(octet: u8) -> String {
    match octet >> 2 {
        46 => "EF".to_owned(),
        code if code % 8 == 0 => format!("CS{}", code / 8),
        code => code.to_string(),
    }
}

fn ecn(octet: u8) -> String {
    let names = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"];
    names[usize::from(octet & 3)].to_owned()
}

impl Seen {
    pub(super) fn datagrams(&self, table: &mut Table) {
        self.round_trips(table);
        self.lookups(table);
        self.pings(table);
        self.calls(table);
        self.marks(table, "dscp", dscp);
        self.marks(table, "ecn/sent", ecn);
        self.rates(table);
    }

    fn round_trips(&self, table: &mut Table) {
        let asked = stamps(&self.scene.near, |p, o| p.up && o.kind == REQUEST);
        let came = stamps(&self.scene.far, |p, o| p.up && o.kind == REQUEST);
        let replied = stamps(&self.scene.far, |p, o| !p.up && o.kind == REPLY);
        let back = stamps(&self.scene.near, |p, o| !p.up && o.kind == REPLY);
        let trip =
            |key| Some(back.get(key)? - asked.get(key)? - (replied.get(key)? - came.get(key)?));
        for (kind, name) in [("udp_rr", "latency_ms"), ("udp_paced", "paced_ms")] {
            let loss = name
                .replace("latency_ms", "loss_pct")
                .replace("_ms", "_loss_pct");
            for phase in ["idle", "loaded"] {
                let (begin, end) = self.phase(phase);
                let wanted = |key: &(u16, u32)| {
                    let stream = &self.streams[&key.0];
                    self.is(key.0, kind) && stream.ecn.as_deref() == Some("Not-ECT")
                };
                let sent = asked
                    .iter()
                    .filter(|(key, at)| wanted(key) && (begin..end).contains(*at));
                let trips: Vec<Option<i64>> = sent.map(|(key, _)| trip(key)).collect();
                let times: Vec<f64> = trips.iter().flatten().map(|ns| ms(*ns)).collect();
                for (quarter, q) in [("p50", 0.5), ("p95", 0.95)] {
                    let figure = format!("{name}.{phase}.{quarter}");
                    let ours = self.figure(&format!("/{name}/{phase}/{quarter}"));
                    table.delay(&figure, ours.unwrap(), quantile(&times, q), "tshark");
                }
                let lost = trips.iter().filter(|trip| trip.is_none()).count();
                let share = lost as f64 / trips.len() as f64 * 100.0;
                let ours = self.figure(&format!("/{loss}/{phase}"));
                let most = share_of(2, trips.len());
                table.edge(
                    most,
                    &format!("{loss}.{phase}"),
                    ours.unwrap(),
                    share,
                    "tshark",
                );
            }
        }
    }

    /// Names looked up: a query and its answer have the same identifier.
    fn lookups(&self, table: &mut Table) {
        let mut asked = HashMap::new();
        let mut times: HashMap<&str, Vec<f64>> = HashMap::new();
        let is_lookup = |packet: &&Packet| {
            !packet.is_tcp()
                && packet.ports.1 != 0
                && packet.ours().is_none()
                && packet.payload.len() > 12
        };
        for packet in self.scene.near.iter().filter(is_lookup) {
            let key = (packet.flow(), packet.payload[..2].to_vec());
            if packet.up {
                asked.entry(key).or_insert(packet.at);
            } else if let Some(at) = asked.remove(&key) {
                for phase in ["idle", "loaded"] {
                    let (begin, end) = self.phase(phase);
                    if (begin..end).contains(&at) {
                        times.entry(phase).or_default().push(ms(packet.at - at));
                    }
                }
            }
        }
        for (phase, times) in times {
            let ours = self.figure(&format!("/dns_ms/{phase}/p50"));
            table.delay(
                &format!("dns_ms.{phase}.p50"),
                ours.unwrap(),
                quantile(&times, 0.5),
                "tshark",
            );
        }
    }

    /// ping asks at other moments than the paced requests. Where delays change from moment to moment it finds others, and so it does where
    /// a queue under load is one for each flow.
    fn pings(&self, table: &mut Table) {
        let phases: &[&str] = match table.lab() {
            "lte" => return,
            "dsl-ecn" => &["idle"],
            _ => &["idle", "loaded"],
        };
        let text = self.scene.text("ping.txt");
        let replies = text.lines().filter_map(|line| {
            let came = line
                .strip_prefix('[')?
                .split_once(']')?
                .0
                .parse::<f64>()
                .ok()?;
            let time = line
                .split_once("time=")?
                .1
                .split_once(' ')?
                .0
                .parse::<f64>()
                .ok()?;
            Some(((came * 1e9) as i64 - (time * 1e6) as i64, time))
        });
        let replies: Vec<_> = replies.collect();
        for phase in phases {
            let (begin, end) = self.phase(phase);
            let within = replies.iter().filter(|(at, _)| (begin..end).contains(at));
            let times: Vec<f64> = within.map(|(_, time)| *time).collect();
            let ours = self.figure(&format!("/paced_ms/{phase}/p50")).unwrap();
            // It asks at other moments.
            table.within(
                0.03,
                &format!("paced_ms.{phase}.p50"),
                ours,
                quantile(&times, 0.5),
                "ping",
            );
        }
    }

    /// Calls: one-way delays by both captures, which have one clock.
    fn calls(&self, table: &mut Table) {
        for way in ["up", "down"] {
            let up = way == "up";
            let sent_by = |p: &Packet| p.up == up;
            let (sender, receiver) = if up {
                (&self.scene.near, &self.scene.far)
            } else {
                (&self.scene.far, &self.scene.near)
            };
            let left: Stamps = stamps(sender, |p, o| {
                sent_by(p) && o.kind == ONE_WAY && self.is(o.stream, "voip")
            });
            let came: Stamps = stamps(receiver, |p, o| {
                sent_by(p) && o.kind == ONE_WAY && self.is(o.stream, "voip")
            });
            for phase in ["idle", "loaded"] {
                let (begin, end) = self.phase(phase);
                let within = left.iter().filter(|(_, at)| (begin..end).contains(*at));
                let delays: Vec<Option<i64>> =
                    within.map(|(key, at)| Some(came.get(key)? - at)).collect();
                let times: Vec<f64> = delays.iter().flatten().map(|ns| ms(*ns)).collect();
                let at = format!("/voip/EF/{way}/{phase}");
                let name = format!("voip.EF.{way}.{phase}");
                let ours = |figure: &str| self.figure(&format!("{at}/{figure}")).unwrap();
                table.edge(
                    2.0,
                    &format!("{name}.sent"),
                    ours("sent"),
                    delays.len() as f64,
                    "tshark",
                );
                table.delay(
                    &format!("{name}.delay_ms.p50"),
                    ours("delay_ms/p50"),
                    quantile(&times, 0.5),
                    "tshark",
                );
                let lost = delays.len() - times.len();
                let share = lost as f64 / delays.len() as f64 * 100.0;
                table.edge(
                    share_of(2, delays.len()),
                    &format!("{name}.loss_pct"),
                    ours("loss_pct"),
                    share,
                    "tshark",
                );
            }
        }
    }

    /// What datagrams were sent with, and what they arrived with.
    fn marks(&self, table: &mut Table, at: &str, name: fn(u8) -> String) {
        let mut counts: BTreeMap<(String, &str, String), u64> = BTreeMap::new();
        let mut count = |sent: u8, way, seen: u8| {
            *counts.entry((name(sent), way, name(seen))).or_default() += 1;
        };
        // A request's mark is told by its reply, if that comes before the run is over: on a satellite link some are still on their way.
        let over = self.phase("load").1 + IDLE_AFTER;
        let answered = stamps(&self.scene.near, |p, o| {
            !p.up && o.kind == REPLY && p.at < over
        });
        // What opens a call is asked until there is an answer, and is no probe.
        let of_run = |ours: &Ours| {
            let is_opening = ours.kind != ONE_WAY && self.is(ours.stream, "voip");
            self.streams.contains_key(&ours.stream) && !self.is(ours.stream, "trace") && !is_opening
        };
        for packet in self.scene.far.iter().filter(|packet| packet.up) {
            if let Some(ours) = packet.ours().filter(&of_run) {
                let is_answered =
                    ours.kind == REQUEST && answered.contains_key(&(ours.stream, ours.seq));
                if is_answered || ours.kind == ONE_WAY {
                    count(ours.class, "up", packet.class);
                }
            } else if at == "dscp"
                && packet.segment.is_some_and(|s| s.flags & 0x12 == super::SYN)
                && let Some(stream) = self.flows.get(&packet.flow())
            {
                count(class_of(&self.streams[stream].class), "up", packet.class);
            }
        }
        let in_time = |packet: &&Packet| !packet.up && packet.at < over;
        for packet in self.scene.near.iter().filter(in_time) {
            if let Some(ours) = packet
                .ours()
                .filter(|ours| of_run(ours) && ours.kind != REQUEST)
            {
                count(ours.class, "down", packet.class);
            }
        }
        for ((sent, way, seen), theirs) in counts {
            let ours = self.figure(&format!("/{at}/{sent}/{way}/{seen}"));
            let figure = format!("{}.{sent}.{way}.{seen}", at.replace('/', "."));
            table.edge(
                2.0,
                &figure,
                ours.unwrap_or_default(),
                theirs as f64,
                "tshark",
            );
        }
    }

    /// What our own datagrams take of the path.
    fn rates(&self, table: &mut Table) {
        let asked = stamps(&self.scene.near, |p, o| p.up && o.kind == REQUEST);
        for phase in ["idle", "loaded"] {
            let (begin, end) = self.phase(phase);
            let is_probe = |stream| {
                ["udp_rr", "udp_paced", "voip"]
                    .iter()
                    .any(|kind| self.is(stream, kind))
            };
            for (way, up) in [("up", true), ("down", false)] {
                // A reply counts at its request's time.
                let counts = |packet: &&Packet| {
                    packet.ours().is_some_and(|ours| {
                        let request = asked.get(&(ours.stream, ours.seq));
                        let request = request.filter(|_| ours.kind == REPLY);
                        let at = request.copied().unwrap_or(packet.at);
                        packet.up == up && is_probe(ours.stream) && (begin..end).contains(&at)
                    })
                };
                let ours = self.scene.near.iter().filter(counts);
                let octets: u64 = ours.map(|packet| packet.octets).sum();
                let figure = self.figure(&format!("/datagrams_mbps/{way}/{phase}"));
                table.rate(
                    &format!("datagrams_mbps.{way}.{phase}"),
                    figure.unwrap(),
                    mbps(octets, end - begin),
                    "tshark",
                );
            }
        }
    }
}

/// Per cent that so many are.
fn share_of(few: usize, all: usize) -> f64 {
    few as f64 / all as f64 * 100.0
}

/// The traffic-class octet of a class by name.
fn class_of(name: &str) -> u8 {
    let code = if name == "EF" {
        46
    } else {
        name[2..].parse::<u8>().unwrap() * 8
    };
    code << 2
}
