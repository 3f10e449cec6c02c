//! Table `series`: what the load streams carried, and what their senders thought of the path.

use super::each;
use crate::envelope::{Envelope, Line};
use crate::grid::{Grid, Steps};
use crate::number::short;
use crate::phases::{Phase, Phases};
use record::Record;
use schema::tables::{Series, Stream};
use serde::Serialize;
use std::collections::BTreeMap;

/// Bins of the stacked areas: wide enough that a bin holds several rows.
const AREA_BIN_NS: u64 = 200_000_000;
const MOST_AREA_BINS: usize = 600;
/// Bins of the total of a direction, as long as rows are; wider in a run of more than an hour.
const TOTAL_BIN_NS: u64 = 100_000_000;
const MOST_TOTAL_BINS: usize = 40_000;

/// The load.
#[derive(Serialize)]
pub(crate) struct Tcp {
    pub(crate) flows: Vec<Flow>,
    /// Sum of the streams of a direction, in Mbit/s, per 100 ms.
    totals: Vec<Total>,
    /// Means of the totals over equal stretches of the loaded phase.
    #[serde(skip)]
    pub(crate) blocks: BTreeMap<String, Vec<f64>>,
}

#[derive(Serialize)]
struct Total {
    direction: String,
    mbps: Line,
}

/// One load stream.
#[derive(Serialize)]
pub(crate) struct Flow {
    /// As `streams[].id`.
    stream: u16,
    direction: String,
    /// Payload delivered, as an area of the stacked figure.
    area_mbps: Steps,
    /// The same per row of the table.
    mbps: Line,
    /// Mean over the loaded phase.
    loaded_mbps: Option<f64>,
    cwnd_segments: Line,
    srtt_ms: Line,
    /// Segments retransmitted per second.
    retransmits_per_s: Steps,
}

#[derive(Default)]
struct Collected {
    direction: String,
    mbps: Envelope,
    acked_mbps: Envelope,
    cwnd: Envelope,
    srtt: Envelope,
    retransmits: Option<u64>,
    loaded_bytes: f64,
    loaded_acked: f64,
    has_delivered: bool,
}

struct Grids {
    delivered: Grid<u16>,
    acked: Grid<u16>,
    retransmits: Grid<u16>,
    totals: Grid<(String, u16, bool)>,
}

/// Reads the table, and adds streams that `streams` does not have, as [`super::probes::read`] does.
pub(crate) fn read(
    record: &Record,
    phases: &Phases,
    streams: &mut Vec<Stream>,
) -> Result<Tcp, record::Error> {
    let mut flows: BTreeMap<u16, Collected> = BTreeMap::new();
    let area = || Grid::new(AREA_BIN_NS, MOST_AREA_BINS);
    let mut grids = Grids {
        delivered: area(),
        acked: area(),
        retransmits: area(),
        totals: Grid::new(TOTAL_BIN_NS, MOST_TOTAL_BINS),
    };
    each(record, |row: Series| {
        if !matches!(&*row.direction, "up" | "down") {
            return;
        }
        let flow = flows.entry(row.stream).or_insert_with(|| {
            if !streams.iter().any(|stream| stream.id == row.stream) {
                streams.push(guess(&row));
            }
            Collected {
                direction: row.direction.clone().into_owned(),
                ..Collected::default()
            }
        });
        let is_receiver = (row.direction == "down") == (row.end == "client");
        let is_loaded = matches!(
            phases.at(row.t_ns.saturating_sub(row.bin_ns / 2)),
            Some((Phase::Loaded, _))
        );
        if is_receiver {
            flow.received(&row, is_loaded, &mut grids);
        } else {
            flow.sent(&row, is_loaded, &mut grids);
        }
    })?;
    Ok(finish(flows, &grids, phases))
}

fn guess(row: &Series) -> Stream {
    Stream {
        id: row.stream,
        name: format!("stream {}", row.stream),
        kind: "tcp_load".into(),
        direction: row.direction.clone(),
        class: "CS0".into(),
        ..Stream::default()
    }
}

impl Collected {
    fn received(&mut self, row: &Series, is_loaded: bool, grids: &mut Grids) {
        let Some(bytes) = row.delivered_bytes else {
            return;
        };
        self.has_delivered = true;
        let span = (row.t_ns.saturating_sub(row.bin_ns), row.t_ns);
        grids.delivered.add(&row.stream, span, bytes as f64);
        grids.totals.add(
            &(self.direction.clone(), row.stream, true),
            span,
            bytes as f64,
        );
        self.mbps.push(row.t_ns, mbps(bytes, row.bin_ns));
        if is_loaded {
            self.loaded_bytes += bytes as f64;
        }
    }

    fn sent(&mut self, row: &Series, is_loaded: bool, grids: &mut Grids) {
        let span = (row.t_ns.saturating_sub(row.bin_ns), row.t_ns);
        if let Some(bytes) = row.acked_bytes {
            grids.acked.add(&row.stream, span, bytes as f64);
            grids.totals.add(
                &(self.direction.clone(), row.stream, false),
                span,
                bytes as f64,
            );
            self.acked_mbps.push(row.t_ns, mbps(bytes, row.bin_ns));
            if is_loaded {
                self.loaded_acked += bytes as f64;
            }
        }
        if let Some(cwnd) = row.cwnd_segments {
            self.cwnd.push(row.t_ns, f64::from(cwnd));
        }
        if let Some(rtt) = row.rtt_us {
            self.srtt.push(row.t_ns, f64::from(rtt) / 1e3);
        }
        if let Some(now) = row.retransmits {
            let before = self.retransmits.replace(now).unwrap_or(0);
            grids
                .retransmits
                .add(&row.stream, span, now.saturating_sub(before) as f64);
        }
    }
}

fn mbps(bytes: u64, bin_ns: u64) -> f64 {
    bytes as f64 * 8e3 / bin_ns.max(1) as f64
}

fn finish(flows: BTreeMap<u16, Collected>, grids: &Grids, phases: &Phases) -> Tcp {
    let loaded_s = loaded_seconds(phases);
    let per_second = |grid: &Grid<u16>, factor| -> BTreeMap<u16, Steps> {
        grid.per_second(factor)
            .map(|(&id, steps)| (id, steps))
            .collect()
    };
    let mut delivered = per_second(&grids.delivered, 8e-6);
    let mut acked = per_second(&grids.acked, 8e-6);
    let mut retransmits = per_second(&grids.retransmits, 1.0);
    // Where the receiver's side is missing, what was acknowledged stands in for it.
    let uses_delivered: BTreeMap<u16, bool> = flows
        .iter()
        .map(|(&id, flow)| (id, flow.has_delivered))
        .collect();
    let (totals, blocks) = totals(&grids.totals, &uses_delivered, phases);
    let flow = |(id, flow): (u16, Collected)| {
        let (area, line, bytes) = if flow.has_delivered {
            (delivered.remove(&id), &flow.mbps, flow.loaded_bytes)
        } else {
            (acked.remove(&id), &flow.acked_mbps, flow.loaded_acked)
        };
        Flow {
            stream: id,
            direction: flow.direction,
            area_mbps: area.unwrap_or_default(),
            mbps: line.line(),
            loaded_mbps: loaded_s.map(|s| short(bytes * 8e-6 / s)),
            cwnd_segments: flow.cwnd.line(),
            srtt_ms: flow.srtt.line(),
            retransmits_per_s: retransmits.remove(&id).unwrap_or_default(),
        }
    };
    Tcp {
        flows: flows.into_iter().map(flow).collect(),
        totals,
        blocks,
    }
}

/// How long the loaded phase is, without what was discarded.
fn loaded_seconds(phases: &Phases) -> Option<f64> {
    let (from, to) = phases.loaded?;
    let discarded: f64 = phases
        .discarded
        .iter()
        .map(|&(a, b)| (b.min(to) - a.max(from)).max(0.0))
        .sum();
    Some(to - from - discarded).filter(|&s| s > 0.0)
}

type Totals = (Vec<Total>, BTreeMap<String, Vec<f64>>);

fn totals(
    grid: &Grid<(String, u16, bool)>,
    uses_delivered: &BTreeMap<u16, bool>,
    phases: &Phases,
) -> Totals {
    let mut sums: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for ((direction, stream, is_delivered), bins) in grid.sums() {
        if uses_delivered.get(stream) != Some(is_delivered) {
            continue;
        }
        let sum = sums.entry(direction.clone()).or_default();
        sum.resize(sum.len().max(bins.len()), 0.0);
        sum.iter_mut()
            .zip(bins)
            .for_each(|(sum, bytes)| *sum += bytes);
    }
    let mut totals = Vec::new();
    let mut blocks = BTreeMap::new();
    for (direction, sum) in sums {
        let mut line = Envelope::default();
        let mut loaded = crate::distribution::Blocks::default();
        // The last bin is as a rule not full.
        for (i, bytes) in sum.iter().enumerate().take(sum.len().saturating_sub(1)) {
            let t_ns = (i as u64) * grid.width_ns() + grid.width_ns() / 2;
            let mbps = bytes * 8e-6 / grid.width_s();
            line.push(t_ns, mbps);
            if let Some((Phase::Loaded, share)) = phases.at(t_ns) {
                loaded.push(share, mbps);
            }
        }
        blocks.insert(direction.clone(), crate::distribution::block_means(&loaded));
        totals.push(Total {
            direction,
            mbps: line.line(),
        });
    }
    (totals, blocks)
}
