//! What a run means: figures from its tables, and nothing else.
//!
//! The same function makes the summary at the end of a run and, from the tables on disk, that of a run that was
//! killed. *Idle* is the time before the load starts (after it, the queues still drain); *loaded* is the time in which
//! every load stream runs and has settled ([`Plan::loaded`]).

use super::Plan;
use super::lab_books::LinkTruth;
use super::tables::Tables;
use record::Distribution;
use record::tables::{Sample, Series, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use units::TrafficClass;

/// Octets of a TCP segment without data: IPv4 or IPv6 header, TCP header, timestamps option (RFC 7323).
const ACK_V4: u64 = 20 + 20 + 12;
const ACK_V6: u64 = 40 + 20 + 12;

/// The figures of a run of the RRUL family. What was not measured is null or empty.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Summary {
    /// UDP round trips of all classes.
    pub(crate) latency_ms: Latency,
    /// TCP round trips of all classes: request and reply on a connection of their own.
    pub(crate) tcp_rr_ms: Phases,
    /// TCP load while every load stream ran.
    pub(crate) throughput_mbps: Throughput,
    /// Share of UDP requests that were never answered.
    pub(crate) loss_pct: Shares,
    /// How much later than planned each TCP stream was connected: the handshake, and what was lost of it.
    pub(crate) slew_ms: Option<Distribution>,
    /// Jain's index over the throughput of the load streams of each direction; 1 is equal shares.
    pub(crate) fairness: Fairness,
    /// What became of the classes, by class and direction.
    pub(crate) dscp: BTreeMap<String, Marks>,
    /// TCP payload delivered in the whole run.
    pub(crate) transferred_bytes: Transferred,
    /// The emulated links' own books; empty on a real path.
    #[serde(default)]
    pub(crate) lab: Vec<LinkTruth>,
}

/// Round trips, idle and loaded.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Phases {
    /// Before the load.
    pub(crate) idle: Option<Distribution>,
    /// Under load.
    pub(crate) loaded: Option<Distribution>,
}

/// Round trips, of all classes and of each.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Latency {
    /// Before the load, all classes.
    pub(crate) idle: Option<Distribution>,
    /// Under load, all classes.
    pub(crate) loaded: Option<Distribution>,
    /// The same by DSCP name.
    pub(crate) by_class: BTreeMap<String, Phases>,
}

/// Rates in Mbit/s, means over the loaded time.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Throughput {
    /// TCP payload delivered to the client.
    pub(crate) down: Option<f64>,
    /// TCP payload delivered to the server.
    pub(crate) up: Option<f64>,
    /// Both together.
    pub(crate) sum: Option<f64>,
    /// Acknowledgements that travelled down, for the load up: segments counted by TCP, their size modelled.
    pub(crate) ack_down: Option<f64>,
    /// Acknowledgements that travelled up, for the load down.
    pub(crate) ack_up: Option<f64>,
}

/// Shares in per cent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Shares {
    /// Before the load.
    pub(crate) idle: Option<f64>,
    /// Under load.
    pub(crate) loaded: Option<f64>,
}

/// Fairness by direction; null with fewer than two streams.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Fairness {
    /// Of the streams down.
    pub(crate) down: Option<f64>,
    /// Of the streams up.
    pub(crate) up: Option<f64>,
}

/// What became of one class.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Marks {
    /// DSCPs with which packets of this class arrived at the server, and how many (datagrams and TCP handshakes).
    pub(crate) up: BTreeMap<String, u64>,
    /// DSCPs with which packets of this class arrived at the client, and how many (datagrams).
    pub(crate) down: BTreeMap<String, u64>,
}

/// Octets.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(crate) struct Transferred {
    /// To the client.
    pub(crate) down: u64,
    /// To the server.
    pub(crate) up: u64,
}

/// The summary of what is in `tables`, for a run of `plan`.
pub(crate) fn summarise(plan: &Plan, tables: &Tables) -> Summary {
    let view = View::new(plan, tables);
    let [down, up] = ["down", "up"].map(|direction| view.throughput(direction));
    Summary {
        latency_ms: view.latency(),
        tcp_rr_ms: view.phases(&|stream| stream.kind == "tcp_rr"),
        throughput_mbps: Throughput {
            down,
            up,
            sum: down
                .or(up)
                .map(|_| down.unwrap_or_default() + up.unwrap_or_default()),
            ack_down: view.acknowledgements("up"),
            ack_up: view.acknowledgements("down"),
        },
        loss_pct: Shares {
            idle: view.loss(&view.idle),
            loaded: view.loss(&view.loaded),
        },
        slew_ms: view.slew(),
        fairness: Fairness {
            down: view.fairness("down"),
            up: view.fairness("up"),
        },
        dscp: view.marks(),
        transferred_bytes: Transferred {
            down: view.transferred("down"),
            up: view.transferred("up"),
        },
        lab: tables
            .lab
            .as_ref()
            .map(super::lab_books::LabBooks::truth)
            .unwrap_or_default(),
    }
}

/// The tables of a run with what the plan says about their streams and times.
struct View<'a> {
    tables: &'a Tables,
    streams: HashMap<u16, &'a Stream>,
    idle: Range<u64>,
    loaded: Range<u64>,
}

impl<'a> View<'a> {
    fn new(plan: &Plan, tables: &'a Tables) -> Self {
        let nanos = |span: std::time::Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let (start, end) = plan.loaded();
        let has_load = !plan.load.is_empty();
        let idle_until = if has_load {
            plan.idle_before.0
        } else {
            plan.total()
        };
        // A run that was cut short was loaded only as long as it lasted.
        let last = tables
            .series
            .iter()
            .map(|row| row.t_ns)
            .max()
            .unwrap_or_default();
        let loaded_until = nanos(end).min(last).max(nanos(start));
        Self {
            tables,
            streams: tables
                .streams
                .iter()
                .map(|stream| (stream.id, stream))
                .collect(),
            idle: 0..nanos(idle_until),
            loaded: if has_load {
                nanos(start)..loaded_until
            } else {
                0..0
            },
        }
    }

    fn seconds(&self) -> f64 {
        (self.loaded.end - self.loaded.start) as f64 / 1e9
    }

    fn samples(&self, wanted: &dyn Fn(&Stream) -> bool) -> impl Iterator<Item = &'a Sample> {
        let is_wanted = |id| self.streams.get(&id).is_some_and(|stream| wanted(stream));
        self.tables
            .samples
            .iter()
            .filter(move |sample| is_wanted(sample.stream))
    }

    fn phases(&self, wanted: &dyn Fn(&Stream) -> bool) -> Phases {
        let during = |when: &Range<u64>| {
            let samples = self
                .samples(wanted)
                .filter(|sample| when.contains(&sample.t_ns));
            Distribution::of(samples.filter_map(|sample| Some(sample.rtt_ns? as f64 / 1e6)))
        };
        Phases {
            idle: during(&self.idle),
            loaded: during(&self.loaded),
        }
    }

    fn latency(&self) -> Latency {
        let is_udp = |stream: &Stream| stream.kind == "udp_rr";
        let all = self.phases(&is_udp);
        let udp = self.tables.streams.iter().filter(|stream| is_udp(stream));
        let by_class = udp.map(|stream| {
            let of_class = |other: &Stream| is_udp(other) && other.class == stream.class;
            (stream.class.clone().into_owned(), self.phases(&of_class))
        });
        Latency {
            idle: all.idle,
            loaded: all.loaded,
            by_class: by_class.collect(),
        }
    }

    fn loss(&self, when: &Range<u64>) -> Option<f64> {
        let is_udp = |stream: &Stream| stream.kind == "udp_rr";
        let during = || {
            self.samples(&is_udp)
                .filter(|sample| when.contains(&sample.t_ns))
        };
        let sent = during().count();
        let lost = during().filter(|sample| sample.lost).count();
        (sent > 0).then(|| lost as f64 / sent as f64 * 100.0)
    }

    /// The bins of the load streams of `direction` within the loaded time, as the receiver or the sender saw them.
    fn bins(&self, direction: &str, at_receiver: bool) -> impl Iterator<Item = &'a Series> {
        let end = if (direction == "down") == at_receiver {
            "client"
        } else {
            "server"
        };
        let wanted = self.tables.series.iter();
        let loaded = self.loaded.clone();
        wanted.filter(move |row| {
            row.direction == direction && row.end == end && loaded.contains(&row.t_ns)
        })
    }

    /// Payload of each load stream of `direction` in the loaded time: as delivered, or, where the server's side is
    /// missing, as acknowledged.
    fn delivered(&self, direction: &str) -> BTreeMap<u16, u64> {
        let mut bytes = BTreeMap::new();
        for row in self.bins(direction, true) {
            *bytes.entry(row.stream).or_default() += row.delivered_bytes.unwrap_or_default();
        }
        if bytes.is_empty() {
            for row in self.bins(direction, false) {
                *bytes.entry(row.stream).or_default() += row.acked_bytes.unwrap_or_default();
            }
        }
        bytes
    }

    fn throughput(&self, direction: &str) -> Option<f64> {
        let delivered = self.delivered(direction);
        let rate = delivered.values().sum::<u64>() as f64 * 8e-6 / self.seconds();
        (!delivered.is_empty() && rate.is_finite()).then_some(rate)
    }

    fn fairness(&self, direction: &str) -> Option<f64> {
        let planned = self.tables.streams.iter();
        let delivered = self.delivered(direction);
        let load = planned.filter(|s| s.direction == direction && s.kind == "tcp_load");
        let shares: Vec<f64> = load
            .map(|s| delivered.get(&s.id).copied().unwrap_or_default() as f64)
            .collect();
        (shares.len() > 1).then(|| stats::jain(&shares)).flatten()
    }

    /// The rate of acknowledgements for the load of `direction`: segments that its receivers sent without data.
    fn acknowledgements(&self, direction: &str) -> Option<f64> {
        let mut sent: HashMap<u16, (u64, u64)> = HashMap::new();
        for row in self.bins(direction, true) {
            let total = row.segs_out?.saturating_sub(row.data_segs_out?);
            let (least, most) = sent.entry(row.stream).or_insert((total, total));
            (*least, *most) = (total.min(*least), total.max(*most));
        }
        let bytes = sent.iter().map(|(id, (least, most))| {
            let is_v6 = self
                .streams
                .get(id)
                .is_some_and(|stream| stream.family == 6);
            (most - least) * if is_v6 { ACK_V6 } else { ACK_V4 }
        });
        let rate = bytes.sum::<u64>() as f64 * 8e-6 / self.seconds();
        (!sent.is_empty() && rate.is_finite()).then_some(rate)
    }

    fn slew(&self) -> Option<Distribution> {
        let tcp = self
            .tables
            .streams
            .iter()
            .filter(|stream| stream.kind != "udp_rr");
        Distribution::of(tcp.filter_map(|stream| stream.slew_ms))
    }

    fn transferred(&self, direction: &str) -> u64 {
        let load = self.tables.streams.iter();
        let load = load.filter(|s| s.direction == direction && s.kind == "tcp_load");
        load.filter_map(|stream| stream.total_bytes).sum()
    }

    fn marks(&self) -> BTreeMap<String, Marks> {
        let mut marks: BTreeMap<String, Marks> = BTreeMap::new();
        let name = |octet: u8| TrafficClass::from_octet(octet).dscp.to_string();
        for sample in &self.tables.samples {
            let class = marks.entry(name(sample.tos_sent)).or_default();
            for (seen, counts) in [
                (sample.tos_seen_far, &mut class.up),
                (sample.tos_seen_near, &mut class.down),
            ] {
                if let Some(octet) = seen {
                    *counts.entry(name(octet)).or_default() += 1;
                }
            }
        }
        for (id, octet) in &self.tables.class_seen {
            if let Some(stream) = self.streams.get(id) {
                let class = marks.entry(stream.class.clone().into_owned()).or_default();
                *class.up.entry(name(*octet)).or_default() += 1;
            }
        }
        marks
    }
}
