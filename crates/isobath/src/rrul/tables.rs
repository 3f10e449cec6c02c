//! The findings of a run as rows of its record, and in memory for the summary.

use super::lab_books::LabBooks;
use super::messages::{Row, StreamEnd};
use super::streams::StreamPlan;
use lab::Network;
use record::tables::{Counters, Cpu, Queue, Sample, Series, Stream};
use record::{Record, RecordWriter};
use std::collections::HashMap;

/// All rows of a run.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) streams: Vec<Stream>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) series: Vec<Series>,
    pub(crate) cpu: Vec<Cpu>,
    pub(crate) lab: Option<LabBooks>,
    /// Traffic-class octet of each stream's handshake as the server saw it.
    pub(crate) class_seen: HashMap<u16, u8>,
    /// Rows that wait to be written and are of no use afterwards.
    queue: Vec<Queue>,
    counters: Vec<Counters>,
    /// How many rows of the other tables have been written.
    written: [usize; 3],
    latest: HashMap<u16, Latest>,
    latest_rtt_ns: Option<u64>,
}

/// What a load stream carried in its last bin.
struct Latest {
    t_ns: u64,
    mbps: f64,
}

impl Tables {
    /// Tables for `streams`, through the links of `lab` if there is one.
    pub(crate) fn new(streams: &[StreamPlan], lab: Option<LabBooks>) -> Self {
        Self {
            streams: streams.iter().map(planned).collect(),
            lab,
            ..Self::default()
        }
    }

    /// The tables of a record whose plan had `streams`.
    ///
    /// # Errors
    ///
    /// When a table cannot be read.
    pub(crate) fn read(record: &Record, streams: &[StreamPlan]) -> Result<Self, record::Error> {
        let mut tables = Self {
            samples: record.rows()?,
            series: record.rows()?,
            cpu: record.rows()?,
            ..Self::new(streams, None)
        };
        let recorded: Vec<Stream> = record.rows()?;
        if !recorded.is_empty() {
            tables.streams = recorded;
        }
        Ok(tables)
    }

    /// Takes the sample of a probe.
    pub(crate) fn sample(&mut self, sample: Sample) {
        self.latest_rtt_ns = sample.rtt_ns.or(self.latest_rtt_ns);
        self.samples.push(sample);
    }

    /// Takes one bin of a stream, as one of its ends saw it.
    pub(crate) fn series(&mut self, row: Series) {
        let bytes = match &*row.direction {
            "down" => row.delivered_bytes,
            "up" => row.acked_bytes,
            _ => None,
        };
        if let Some(bytes) = bytes.filter(|_| row.end == "client" && row.bin_ns > 0) {
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

    /// Takes a row of the far end, which says nothing about this one.
    pub(crate) fn far_row(&mut self, row: Row) {
        let end = "server";
        match row {
            Row::Cpu(row) => self.cpu.push(Cpu {
                host: end.into(),
                ..row
            }),
            Row::Series(row) => self.series(Series {
                end: end.into(),
                ..row
            }),
            Row::Stream(how) => self.ended(end, &how),
        }
    }

    /// A stream has been opened.
    pub(crate) fn opened(&mut self, id: u16, connected_ns: u64) {
        if let Some(stream) = self.stream(id) {
            stream.connected_ns = Some(connected_ns);
            stream.slew_ms = Some(connected_ns.saturating_sub(stream.planned_ns) as f64 / 1e6);
        }
    }

    /// A stream has ended, as `end` saw it.
    pub(crate) fn ended(&mut self, end: &str, how: &StreamEnd) {
        if let (Some(class), "server") = (how.class_seen, end) {
            self.class_seen.insert(how.id, class);
        }
        let Some(stream) = self.stream(how.id) else {
            return;
        };
        let receives = (end == "client") == (stream.direction == "down");
        if receives {
            stream.first_byte_ns = how.first_byte_ns;
            stream.total_bytes = how.received_bytes;
        } else {
            stream.retransmits = how.retransmits;
            stream.congestion_control = how.cc.clone().map(Into::into);
        }
    }

    fn stream(&mut self, id: u16) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.id == id)
    }

    /// Takes the books of the emulated network.
    pub(crate) fn take_lab(&mut self, network: &Network) {
        if let Some(lab) = &mut self.lab {
            lab.take(network, &mut self.queue, &mut self.counters);
        }
    }

    /// The load's rate down and up in the last bins, in Mbit/s, and the last round trip in ms.
    pub(crate) fn latest(&self) -> (f64, f64, Option<f64>) {
        let newest = self
            .latest
            .values()
            .map(|latest| latest.t_ns)
            .max()
            .unwrap_or_default();
        // A stream that has ended says no more: what it said last is no longer so.
        let fresh = |latest: &Latest| newest.saturating_sub(latest.t_ns) < 150_000_000;
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

    /// Writes what is new to `record`.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub(crate) fn write(&mut self, record: &mut RecordWriter) -> Result<(), record::Error> {
        let [samples, series, cpu] = self.written;
        record.append(&self.samples[samples..])?;
        record.append(&self.series[series..])?;
        record.append(&self.cpu[cpu..])?;
        self.written = [self.samples.len(), self.series.len(), self.cpu.len()];
        record.append(&self.queue)?;
        record.append(&self.counters)?;
        self.queue.clear();
        self.counters.clear();
        record.flush()
    }

    /// Writes how the streams went: once, at the end.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub(crate) fn write_streams(&self, record: &mut RecordWriter) -> Result<(), record::Error> {
        record.append(&self.streams)
    }
}

/// The row of a stream before it has begun.
fn planned(plan: &StreamPlan) -> Stream {
    Stream {
        id: plan.id,
        name: plan.name.clone(),
        kind: plan.kind.label().into(),
        direction: plan.kind.direction().into(),
        class: plan.class.to_string().into(),
        family: plan.family,
        planned_ns: u64::try_from(plan.start.as_nanos()).unwrap_or(u64::MAX),
        ..Stream::default()
    }
}
