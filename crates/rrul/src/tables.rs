//! The findings of a run as rows of its record, and in memory for the summary.

mod calls;

use super::messages::Row;
use super::ndjson::Ndjson;
use super::stream::call::MOST_GAPS;
use super::streams::{Kind, StreamPlan, ecn_name};
use calls::CallCounters;
use kit::begin::server_role;
use kit::lab_counters::{LabCounters, LabRows};
use kit::sampler::StreamEnd;
use lab::Network;
use record::{Record, RecordWriter};
use schema::tables::{Cpu, Hop, HttpsProbe, PageLoad, PageObject, Sample, Series, Stream};
use std::collections::{BTreeMap, HashMap};

/// RRUL, the component for calls: jitter in excess of this is treated as packet loss.
pub const CALL_LATE_NS: i64 = 30_000_000;

/// All rows of a run.
#[derive(Default)]
pub struct Tables {
    /// What each stream was to do, and how it began and ended.
    pub streams: Vec<Stream>,
    /// Probes with their answers, and datagrams of calls.
    pub samples: Vec<Sample>,
    /// TCP streams in bins of time, as each end saw them.
    pub series: Vec<Series>,
    /// How busy the hosts were, one row for each sample.
    pub cpu: Vec<Cpu>,
    /// Loads of the web page.
    pub pages: Vec<PageLoad>,
    /// Objects of those loads, a bar of the waterfall each.
    pub objects: Vec<PageObject>,
    /// Probes of path traces, from both ends.
    pub hops: Vec<Hop>,
    /// Small requests on new HTTPS connections.
    pub https: Vec<HttpsProbe>,
    /// The emulated network's own counters; none without a lab.
    pub lab: Option<LabCounters>,
    /// Traffic-class octet of each stream's handshake as the server saw it.
    pub class_seen: HashMap<u16, u8>,
    /// Datagrams of loads by UDP that came to an end and found no room in its kernel.
    pub overflows: u64,
    /// Rows that wait to be written and are of no use afterwards.
    lab_rows: LabRows,
    /// How many rows of the other tables have been written.
    written: [usize; 7],
    calls: BTreeMap<u16, CallCounters>,
    latest: HashMap<u16, Latest>,
    latest_rtt_ns: Option<u64>,
    /// The last round trip of each UDP stream.
    latest_udp_ns: HashMap<u16, u64>,
}

/// A datagram of a call that arrived.
#[derive(Debug)]
pub struct CallSample {
    /// Number of the call's stream.
    pub stream: u16,
    /// Number of the datagram in the stream, from 0.
    pub seq: u32,
    /// When it was sent.
    pub t_ns: u64,
    /// One-way delay in nanoseconds, on clocks compared before the run: it may be below zero.
    pub owd_ns: i64,
    /// Whether the receiver's kernel stamped the arrival.
    pub kernel: bool,
    /// Traffic-class octet as it arrived.
    pub tos: Option<u8>,
}

/// What a load stream carried in its last bin.
struct Latest {
    t_ns: u64,
    mbps: f64,
}

impl Tables {
    /// Tables for `streams`, through the links of `lab` if there is one.
    pub fn new(streams: &[StreamPlan], lab: Option<LabCounters>) -> Self {
        Self {
            streams: streams.iter().map(planned).collect(),
            calls: streams
                .iter()
                .filter(|plan| plan.label() == "voip")
                .map(|plan| (plan.id, CallCounters::new(plan)))
                .collect(),
            lab,
            ..Self::default()
        }
    }

    /// The tables of a record whose plan had `streams`.
    ///
    /// # Errors
    ///
    /// When a table cannot be read.
    pub fn read(record: &Record, streams: &[StreamPlan]) -> Result<Self, record::Error> {
        let mut tables = Self {
            samples: record.rows()?,
            series: record.rows()?,
            cpu: record.rows()?,
            pages: record.rows()?,
            objects: record.rows()?,
            hops: record.rows()?,
            https: record.rows()?,
            ..Self::new(streams, None)
        };
        let recorded: Vec<Stream> = record.rows()?;
        if !recorded.is_empty() {
            tables.streams = recorded;
        }
        Ok(tables)
    }

    /// Takes the sample of a probe.
    pub fn sample(&mut self, sample: Sample) {
        self.latest_rtt_ns = sample.rtt_ns.or(self.latest_rtt_ns);
        if let Some(rtt_ns) = sample.rtt_ns.filter(|_| sample.owd_up_ns.is_some()) {
            self.latest_udp_ns.insert(sample.stream, rtt_ns);
        }
        self.samples.push(sample);
    }

    /// Takes one bin of a stream, as one of its ends saw it.
    pub fn series(&mut self, row: Series) {
        let bytes = match &*row.direction {
            "down" => row.delivered_bytes,
            "up" => row.acked_bytes,
            _ => None,
        };
        if let Some(bytes) = bytes.filter(|_| row.end == "client" && row.bin_ns > 50_000_000) {
            let mbps = bytes as f64 * 8e3 / row.bin_ns as f64;
            self.latest.insert(
                row.stream,
                Latest {
                    t_ns: row.t_ns,
                    mbps,
                },
            );
        }
        self.series.push(row);
    }

    /// Takes a datagram of a call that arrived at its receiver; a second copy says nothing new.
    pub fn call(&mut self, arrived: &CallSample) {
        let Some(counters) = self.calls.get_mut(&arrived.stream) else {
            return;
        };
        if arrived.seq >= counters.most || !counters.heard.insert(arrived.seq) {
            return;
        }
        let least = counters
            .least_ns
            .map_or(arrived.owd_ns, |least| least.min(arrived.owd_ns));
        counters.least_ns = Some(least);
        let marks = counters.marks;
        let is_up = self
            .streams
            .iter()
            .any(|s| s.id == arrived.stream && s.direction == "up");
        let owd = Some(arrived.owd_ns);
        self.samples.push(Sample {
            t_ns: arrived.t_ns,
            stream: arrived.stream,
            seq: arrived.seq.into(),
            owd_up_ns: owd.filter(|_| is_up),
            owd_down_ns: owd.filter(|_| !is_up),
            late: arrived.owd_ns.saturating_sub(least) > CALL_LATE_NS,
            clock: if arrived.kernel { "kernel" } else { "user" }.into(),
            tos_sent: marks,
            tos_seen_far: arrived.tos.filter(|_| is_up),
            tos_seen_near: arrived.tos.filter(|_| !is_up),
            ..Sample::default()
        });
    }

    /// Counts what was sent on the calls and never arrived: once, at the end. Without the far end's side nobody knows what it
    /// heard.
    pub fn close_calls(&mut self, has_far_side: bool) {
        let known = |id: u16| {
            has_far_side
                || self
                    .streams
                    .iter()
                    .any(|s| s.id == id && s.direction == "down")
        };
        for (id, counters) in self.calls.iter().filter(|(id, _)| known(**id)) {
            // A sender that could not tell any more sent at least what arrived.
            let most_heard = counters.heard.iter().max().map_or(0, |most| most + 1);
            let lost = (0..counters.sent.unwrap_or(most_heard))
                .filter(|seq| !counters.heard.contains(seq) && !counters.was_left_out(*seq));
            self.samples.extend(lost.map(|seq| Sample {
                t_ns: counters.start_ns + counters.every_ns * u64::from(seq),
                stream: *id,
                seq: seq.into(),
                lost: true,
                clock: "user".into(),
                tos_sent: counters.marks,
                ..Sample::default()
            }));
        }
    }

    /// Datagrams of all calls that their senders sent, and those that they could not send in time once they had begun.
    pub fn calls_sent(&self) -> (u64, u64) {
        let mut all = (0, 0);
        for call in self.calls.values() {
            let left_out = call.unsent.iter();
            let [waited, late] = [true, false].map(|is_first| {
                let gaps = left_out
                    .clone()
                    .filter(|(first, _)| (*first == 0) == is_first);
                gaps.map(|(first, end)| u64::from(end.saturating_sub(*first)))
                    .sum::<u64>()
            });
            all.0 += u64::from(call.sent.unwrap_or_default()).saturating_sub(waited + late);
            all.1 += late;
        }
        all
    }

    /// Takes a row of far end number `server`, which says nothing about this one.
    pub fn far_row(&mut self, server: usize, row: Row) {
        let end = "server";
        match row {
            // On this host's clock before it gets here.
            Row::Call(_) => {}
            Row::Cpu(row) => self.cpu.push(Cpu {
                host: server_role(server),
                ..row
            }),
            Row::Hop(row) => self.hops.push(Hop {
                direction: "down".into(),
                ..row
            }),
            Row::Series(row) => self.series(Series {
                end: end.into(),
                ..*row
            }),
            Row::Stream(how) => self.ended(end, &how),
        }
    }

    /// A stream has been opened.
    pub fn opened(&mut self, id: u16, connected_ns: u64) {
        if let Some(stream) = self.stream(id) {
            stream.connected_ns = Some(connected_ns);
            stream.slew_ms = Some(connected_ns.saturating_sub(stream.planned_ns) as f64 / 1e6);
        }
    }

    /// A stream has ended, as `end` saw it.
    pub fn ended(&mut self, end: &str, how: &StreamEnd) {
        if let (Some(class), "server") = (how.class_seen, end) {
            self.class_seen.insert(how.id, class);
        }
        if let Some(counters) = self.calls.get_mut(&how.id) {
            if end == counters.sender {
                counters.sent = how.sent.map(|sent| sent.min(counters.most));
                counters.unsent.clone_from(&how.unsent);
                counters.unsent.truncate(MOST_GAPS);
            }
            return;
        }
        self.overflows += how.overflows;
        let Some(stream) = self.stream(how.id) else {
            return;
        };
        stream.ecn_agreed = how.ecn.or(stream.ecn_agreed);
        let receives = (end == "client") == (stream.direction == "down");
        if receives {
            stream.first_byte_ns = how.first_byte_ns;
            stream.total_bytes = how.received_bytes;
        } else {
            stream.retransmits = how.retransmits;
            let octets = stream.message_bytes.map(u64::from);
            stream.sent_bytes = how
                .sent
                .zip(octets)
                .map(|(sent, octets)| u64::from(sent) * octets);
            stream.congestion_control = how.cc.clone().map(Into::into);
        }
    }

    fn stream(&mut self, id: u16) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.id == id)
    }

    /// Takes the counters of the emulated network.
    pub fn take_lab(&mut self, network: &Network) {
        if let Some(lab) = &mut self.lab {
            lab.take(network, &mut self.lab_rows);
        }
    }

    /// The load's rate down and up in the last bins, in Mbit/s, and the last round trip in ms.
    pub fn latest(&self, now_ns: u64) -> (f64, f64, Option<f64>) {
        // A stream that has ended says no more: what it said last is no longer so.
        let fresh = |latest: &Latest| now_ns.saturating_sub(latest.t_ns) < 350_000_000;
        let rate = |direction: &str| {
            let of = self
                .streams
                .iter()
                .filter(|stream| stream.direction == direction);
            let latest = of.filter_map(|stream| self.latest.get(&stream.id));
            latest
                .filter(|latest| fresh(latest))
                .map(|latest| latest.mbps)
                // Not `sum`, whose nothing is minus zero.
                .fold(0.0, |sum, mbps| sum + mbps)
        };
        (
            rate("down"),
            rate("up"),
            self.latest_rtt_ns.map(|ns| ns as f64 / 1e6),
        )
    }

    /// How long the last load of a page took, in milliseconds; `None` when it came to nothing, or there was none.
    pub fn latest_page_ms(&self) -> Option<f64> {
        Some(self.pages.last()?.load_ns? as f64 / 1e6)
    }

    /// The last round trip of each class by UDP, in ms.
    pub fn latest_by_class(&self) -> Vec<(String, f64)> {
        let latest = self.streams.iter().filter_map(|stream| {
            let rtt_ns = self.latest_udp_ns.get(&stream.id)?;
            Some((stream.class.clone().into_owned(), *rtt_ns as f64 / 1e6))
        });
        // One for each class, the first of its streams.
        let mut classes: BTreeMap<String, f64> = BTreeMap::new();
        latest.for_each(|(class, ms)| {
            classes.entry(class).or_insert(ms);
        });
        classes.into_iter().collect()
    }

    /// Writes what is new to `record`.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub fn write(
        &mut self,
        record: &mut RecordWriter,
        follower: Option<&Ndjson>,
    ) -> Result<(), record::Error> {
        let mut out = Output { record, follower };
        let [samples, series, cpu, pages, objects, hops, https] = self.written;
        out.append(&self.samples[samples..])?;
        out.append(&self.series[series..])?;
        out.append(&self.cpu[cpu..])?;
        out.append(&self.pages[pages..])?;
        out.append(&self.objects[objects..])?;
        out.append(&self.hops[hops..])?;
        out.append(&self.https[https..])?;
        self.written = [
            self.samples.len(),
            self.series.len(),
            self.cpu.len(),
            self.pages.len(),
            self.objects.len(),
            self.hops.len(),
            self.https.len(),
        ];
        let LabRows {
            queue,
            counters,
            packets,
            extra: _,
        } = std::mem::take(&mut self.lab_rows);
        out.append(&queue)?;
        out.append(&counters)?;
        out.append(&packets)?;
        out.record.flush()
    }

    /// Writes how the streams went: once, at the end.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub fn write_streams(
        &self,
        record: &mut RecordWriter,
        follower: Option<&Ndjson>,
    ) -> Result<(), record::Error> {
        Output { record, follower }.append(&self.streams)
    }
}

/// Where rows go.
struct Output<'a> {
    record: &'a mut RecordWriter,
    follower: Option<&'a Ndjson>,
}

impl Output<'_> {
    fn append<R: record::Row + serde::Serialize>(
        &mut self,
        rows: &[R],
    ) -> Result<(), record::Error> {
        if let Some(follower) = self.follower {
            follower.write(rows);
        }
        self.record.append(rows)
    }
}

/// The row of a stream before it has begun.
fn planned(plan: &StreamPlan) -> Stream {
    Stream {
        id: plan.id,
        name: plan.name.clone(),
        kind: plan.label().into(),
        direction: plan.kind.direction().into(),
        class: plan.class.to_string().into(),
        family: plan.family,
        server: (plan.kind != Kind::Beside).then_some(plan.server),
        ecn: plan.kind.is_datagrams().then(|| ecn_name(plan.ecn).into()),
        // What a far end beside the servers is asked has the length of its protocol.
        message_bytes: u32::try_from(plan.size)
            .ok()
            .filter(|size| *size > 0 && plan.kind != Kind::Beside),
        planned_ns: u64::try_from(plan.start.as_nanos()).unwrap_or(u64::MAX),
        ..Stream::default()
    }
}
