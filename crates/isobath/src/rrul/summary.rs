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
    pub(crate) down: Option<u64>,
    /// To the server.
    pub(crate) up: Option<u64>,
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
            // A bin belongs where most of it lies.
            let middle = row.t_ns.saturating_sub(row.bin_ns / 2);
            row.direction == direction && row.end == end && loaded.contains(&middle)
        })
    }

    /// Payload of each load stream of `direction` in the loaded time: as delivered, or, where the server's side is
    /// missing, as acknowledged.
    fn delivered(&self, direction: &str) -> BTreeMap<u16, u64> {
        let mut bytes = BTreeMap::new();
        for row in self.bins(direction, true) {
            let total: &mut u64 = bytes.entry(row.stream).or_default();
            *total = total.saturating_add(row.delivered_bytes.unwrap_or_default());
        }
        if bytes.is_empty() {
            for row in self.bins(direction, false) {
                let total: &mut u64 = bytes.entry(row.stream).or_default();
                *total = total.saturating_add(row.acked_bytes.unwrap_or_default());
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

    /// The rate of acknowledgements for the load of `direction`: segments that its receivers sent without data, from the
    /// first to the last look at each.
    fn acknowledgements(&self, direction: &str) -> Option<f64> {
        let mut looks: HashMap<u16, [(u64, u64); 2]> = HashMap::new();
        for row in self.bins(direction, true) {
            let look = (row.t_ns, row.segs_out?.saturating_sub(row.data_segs_out?));
            looks.entry(row.stream).or_insert([look; 2])[1] = look;
        }
        let rates = looks.iter().map(|(id, [first, last])| {
            let is_v6 = self
                .streams
                .get(id)
                .is_some_and(|stream| stream.family == 6);
            let bytes = last.1.saturating_sub(first.1) * if is_v6 { ACK_V6 } else { ACK_V4 };
            bytes as f64 * 8e3 / last.0.saturating_sub(first.0).max(1) as f64
        });
        (!looks.is_empty()).then(|| rates.sum())
    }

    fn slew(&self) -> Option<Distribution> {
        let tcp = self
            .tables
            .streams
            .iter()
            .filter(|stream| stream.kind != "udp_rr");
        Distribution::of(tcp.filter_map(|stream| stream.slew_ms))
    }

    fn transferred(&self, direction: &str) -> Option<u64> {
        let load = self.tables.streams.iter();
        let load = load.filter(|s| s.direction == direction && s.kind == "tcp_load");
        let known = load.filter_map(|stream| stream.total_bytes);
        known.reduce(u64::saturating_add)
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

#[cfg(test)]
mod tests {
    use super::super::streams::StreamPlan;
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn plan() -> Plan {
        Plan::parse(
            "summary = 'test'
             idle_before = '1s'
             duration = '3s'
             settle = '1s'
             idle_after = '1s'
             load = [{ direction = 'both', streams = 2 }]
             probe = [{ kind = 'udp_rr', class = 'EF' }, { kind = 'tcp_rr' }]",
            "test",
        )
        .unwrap()
    }

    fn tables(plan: &Plan) -> Tables {
        Tables::new(&StreamPlan::all(plan, 4, None), None)
    }

    /// Bins of one second: `bytes` delivered in each, at the receiver's end; one ACK for every 10,000 octets.
    fn deliver(tables: &mut Tables, stream: u16, end: &'static str, bytes: u64) {
        for second in 1..=5 {
            tables.series.push(Series {
                t_ns: second * SECOND - 1,
                bin_ns: SECOND,
                stream,
                direction: if end == "client" { "down" } else { "up" }.into(),
                end: end.into(),
                delivered_bytes: Some(bytes),
                segs_out: Some(second * bytes / 10_000 + 3),
                data_segs_out: Some(3),
                ..Series::default()
            });
        }
    }

    fn probe(tables: &mut Tables, stream: u16, second: u64, rtt_ms: Option<u64>) {
        tables.samples.push(Sample {
            t_ns: second * SECOND,
            stream,
            rtt_ns: rtt_ms.map(|ms| ms * 1_000_000),
            lost: rtt_ms.is_none(),
            tos_sent: 0xb8,
            tos_seen_far: rtt_ms.map(|_| 0x20),
            ..Sample::default()
        });
    }

    #[test]
    fn throughput_is_what_was_delivered_in_the_loaded_seconds() {
        let plan = plan();
        let mut tables = tables(&plan);
        // Streams 0 and 1 go down, 2 and 3 up.
        deliver(&mut tables, 0, "client", 1_000_000);
        deliver(&mut tables, 1, "client", 3_000_000);
        deliver(&mut tables, 2, "server", 500_000);
        let summary = summarise(&plan, &tables);
        let rates = &summary.throughput_mbps;
        // The loaded time is from 2 s to 4 s.
        assert!((rates.down.unwrap() - 32.0).abs() < 1e-9, "{rates:?}");
        assert!((rates.up.unwrap() - 4.0).abs() < 1e-9);
        assert!((rates.sum.unwrap() - 36.0).abs() < 1e-9);
        // 400 ACKs of 52 octets in the second between the first look and the last.
        assert!(
            (rates.ack_up.unwrap() - 400.0 * 52.0 * 8e-6).abs() < 1e-9,
            "{rates:?}"
        );
        assert!((summary.fairness.down.unwrap() - 0.8).abs() < 1e-9);
        assert_eq!(
            summary.fairness.up,
            Some(0.5),
            "a stream that carried nothing counts"
        );
    }

    #[test]
    fn round_trips_are_sorted_by_phase_and_class_and_the_settling_time_is_left_out() {
        let plan = plan();
        let mut tables = tables(&plan);
        for (second, rtt_ms) in [
            (0, Some(20)),
            (1, Some(500)),
            (2, Some(100)),
            (3, None),
            (4, Some(900)),
        ] {
            probe(&mut tables, 4, second, rtt_ms);
        }
        probe(&mut tables, 5, 2, Some(70));
        deliver(&mut tables, 0, "client", 1);
        let summary = summarise(&plan, &tables);
        let p50 = |d: Option<Distribution>| d.map(|d| d.p50);
        assert_eq!(p50(summary.latency_ms.idle), Some(20.0));
        assert_eq!(p50(summary.latency_ms.loaded), Some(100.0));
        assert_eq!(p50(summary.latency_ms.by_class["EF"].loaded), Some(100.0));
        assert_eq!(p50(summary.tcp_rr_ms.loaded), Some(70.0));
        assert_eq!(
            (summary.loss_pct.idle, summary.loss_pct.loaded),
            (Some(0.0), Some(50.0))
        );
        assert_eq!(summary.dscp["EF"].up["CS1"], 5, "EF arrived as CS1");
    }

    #[test]
    fn without_the_servers_side_what_was_acknowledged_counts() {
        let plan = plan();
        let mut tables = tables(&plan);
        deliver(&mut tables, 2, "server", 0);
        for row in &mut tables.series {
            row.end = "client".into();
            row.acked_bytes = Some(250_000);
        }
        let up = summarise(&plan, &tables).throughput_mbps.up;
        assert!((up.unwrap() - 2.0).abs() < 1e-9, "{up:?}");
    }

    #[test]
    fn nothing_measured_gives_an_empty_summary() {
        let plan = plan();
        let summary = summarise(&plan, &tables(&plan));
        assert!(summary.latency_ms.loaded.is_none() && summary.throughput_mbps.sum.is_none());
    }

    /// Set `UPDATE_SCHEMA=1` to write the schema anew.
    #[test]
    fn the_published_schema_of_the_summary_is_fresh() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/schema/rrul.summary.schema.json"
        );
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(Summary)).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(path, &schema).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            schema,
            "run with UPDATE_SCHEMA=1"
        );
    }
}
