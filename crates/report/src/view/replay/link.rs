//! Tables `queue`, `counters`, `offered` and `active`: what the replay did to the bottleneck.

use super::quantity::{Collector, Quantity};
use super::{Frame, Way};
use crate::envelope::{Envelope, Line};
use crate::grid::{Grid, Steps};
use crate::number::short;
use crate::view::each;
use record::Record;
use schema::replay::tables::{Active, Offered};
use schema::tables::{Counters, Queue};
use serde::{Deserialize, Serialize};
use stats::hurst::{Hurst, Octave, octaves};
use stats::interval::Moments;
use stats::series::{Binned, variation};

/// Width of the bins of throughput.
const SECOND_NS: u64 = 1_000_000_000;
/// The most of them: beyond two hours they are wider.
const MOST_SECONDS: usize = 7_200;
/// Widths of the bins of the arrivals whose octaves are taken, of which the first that does not give too many is used.
const ARRIVAL_BINS_NS: [u64; 3] = [1_000_000, 10_000_000, 1_000_000_000];
/// Widths of the bins whose marginal distribution is shown.
const MARGINALS_NS: [u64; 2] = [SECOND_NS, 10_000_000];

/// The queue before the bottleneck in the forward direction, within the part of the run that counts.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Queued {
    pub(crate) packets: Option<Quantity>,
    /// Time that it takes to drain; null without a rate.
    pub(crate) ms: Option<Quantity>,
    /// Share of samples at which it was empty.
    pub(crate) empty_pct: f64,
    /// The whole run.
    packets_line: Line,
    pub(crate) ms_line: Option<Line>,
}

/// Connections by second, over the whole run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Alive {
    pub(crate) connections: Line,
    /// Within the part that counts.
    pub(crate) counted: Option<Quantity>,
    syn_per_s: Line,
    fin_per_s: Line,
    rst_per_s: Line,
}

/// What left the bottleneck in one direction, over the whole run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Carried {
    mbps: Steps,
    pub(crate) kpps: Steps,
}

/// Both directions.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Throughput {
    pub(crate) forward: Carried,
    reverse: Carried,
}

/// What arrived at the bottleneck's queue in the forward direction, within the part that counts.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Arrivals {
    /// By width of the bins.
    pub(crate) marginals: Vec<Marginal>,
    /// Width of the bins whose octaves these are.
    pub(crate) bin_s: f64,
    pub(crate) octaves: Vec<Octave>,
    pub(crate) hurst: Option<Hurst>,
    /// The same with the line from each octave on.
    hurst_from: Vec<Hurst>,
}

/// Packets per bin of one width.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Marginal {
    pub(crate) bin_s: f64,
    sd_kpps: f64,
    /// Standard deviation over mean.
    pub(crate) cov: Option<f64>,
    pub(crate) kpps: Quantity,
}

/// Reads table `queue`; `None` without rows of the bottleneck.
pub(super) fn queue(record: &Record, frame: &Frame) -> Result<Option<Queued>, record::Error> {
    let (mut packets, mut ms) = (Collector::default(), Collector::default());
    let (mut packets_line, mut ms_line) = (Envelope::default(), Envelope::default());
    let (mut samples, mut empty) = (0_u64, 0_u64);
    each(record, |row: Queue| {
        if frame.way(&row.link, &row.direction) != Some(Way::Forward) {
            return;
        }
        let drains_ms = frame.rate_mbps.map(|rate| row.bytes as f64 * 8e-3 / rate);
        packets_line.push(row.t_ns, row.packets as f64);
        if let Some(drains_ms) = drains_ms {
            ms_line.push(row.t_ns, drains_ms);
        }
        if !frame.counts(row.t_ns) {
            return;
        }
        samples += 1;
        empty += u64::from(row.packets == 0);
        packets.push(row.packets as f64);
        if let Some(drains_ms) = drains_ms {
            ms.push(drains_ms);
        }
    })?;
    let packets_line = packets_line.line();
    Ok((packets_line.n > 0).then(|| Queued {
        packets: packets.quantity(),
        ms: ms.quantity(),
        empty_pct: short(100.0 * empty as f64 / samples.max(1) as f64),
        packets_line,
        ms_line: frame.rate_mbps.map(|_| ms_line.line()),
    }))
}

/// Reads table `active`; `None` when it has no rows.
pub(super) fn active(record: &Record, frame: &Frame) -> Result<Option<Alive>, record::Error> {
    let mut lines: [Envelope; 4] = Default::default();
    let mut counted = Collector::default();
    each(record, |row: Active| {
        let values = [row.connections, row.syn, row.fin, row.rst];
        for (line, value) in lines.iter_mut().zip(values) {
            line.push(row.t_ns, f64::from(value));
        }
        if frame.counts(row.t_ns) {
            counted.push(f64::from(row.connections));
        }
    })?;
    let [connections, syn_per_s, fin_per_s, rst_per_s] = lines.map(|line| line.line());
    Ok((connections.n > 0).then(|| Alive {
        connections,
        counted: counted.quantity(),
        syn_per_s,
        fin_per_s,
        rst_per_s,
    }))
}

/// Reads table `counters`; `None` without rows of the bottleneck.
pub(super) fn throughput(
    record: &Record,
    frame: &Frame,
) -> Result<Option<Throughput>, record::Error> {
    let mut bytes: Grid<Way> = Grid::new(SECOND_NS, MOST_SECONDS);
    let mut packets: Grid<Way> = Grid::new(SECOND_NS, MOST_SECONDS);
    each(record, |row: Counters| {
        if let Some(way) = frame.way(&row.link, &row.direction) {
            bytes.add(&way, (row.t_ns, row.t_ns), row.bytes as f64);
            packets.add(&way, (row.t_ns, row.t_ns), row.packets as f64);
        }
    })?;
    let mut both = Throughput::default();
    for (&way, steps) in bytes.per_second(8e-6) {
        both.of(way).mbps = steps;
    }
    for (&way, steps) in packets.per_second(1e-3) {
        both.of(way).kpps = steps;
    }
    let is_empty = both.forward.mbps.v.is_empty() && both.reverse.mbps.v.is_empty();
    Ok((!is_empty).then_some(both))
}

impl Throughput {
    const fn of(&mut self, way: Way) -> &mut Carried {
        match way {
            Way::Forward => &mut self.forward,
            Way::Reverse => &mut self.reverse,
        }
    }
}

/// Reads table `offered`; `None` without rows of the bottleneck.
pub(super) fn arrivals(record: &Record, frame: &Frame) -> Result<Option<Arrivals>, record::Error> {
    let (from_ns, to_ns) = frame.window_ns;
    let binned = |&width: &u64| Some((width, Binned::new(from_ns, to_ns, width)?));
    let Some((width_ns, mut series)) = ARRIVAL_BINS_NS.iter().find_map(binned) else {
        return Ok(None);
    };
    let mut rows = 0_u64;
    each(record, |row: Offered| {
        if frame.way(&row.link, &row.direction) == Some(Way::Forward) {
            rows += 1;
            series.add(row.t_ns, row.packets as f64);
        }
    })?;
    if rows == 0 {
        return Ok(None);
    }
    let octaves: Vec<Octave> = octaves(series.sums());
    Ok(Some(Arrivals {
        marginals: MARGINALS_NS
            .iter()
            .filter_map(|&wanted| Marginal::of(&series, width_ns, wanted))
            .collect(),
        bin_s: width_ns as f64 / 1e9,
        hurst: Hurst::of(&octaves),
        hurst_from: Hurst::from_each(&octaves),
        octaves,
    }))
}

impl Arrivals {
    /// The marginal distribution in bins of this width.
    pub(crate) fn of_bins(&self, bin_s: f64) -> Option<&Marginal> {
        let is_it = |marginal: &&Marginal| (marginal.bin_s / bin_s - 1.0).abs() < 1e-9;
        self.marginals.iter().find(is_it)
    }
}

impl Marginal {
    /// Of bins of `wanted_ns`; `None` when the series is coarser, or shorter than two of them.
    fn of(series: &Binned, width_ns: u64, wanted_ns: u64) -> Option<Self> {
        let times = usize::try_from(wanted_ns / width_ns)
            .ok()
            .filter(|&n| n > 0)?;
        let bin_s = wanted_ns as f64 / 1e9;
        let kpps = |packets: f64| packets / bin_s / 1e3;
        let values: Vec<f64> = series.coarser(times).into_iter().map(kpps).collect();
        Some(Self {
            bin_s,
            sd_kpps: short(Moments::of(&values)?.sd),
            cov: variation(&values).map(short),
            kpps: Quantity::of(values)?,
        })
    }
}
