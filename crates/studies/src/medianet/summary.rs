//! The figures of a run, from its tables and nothing else.

use super::frames::{Kind, Level};
use super::global::STREAMS;
use super::plan::{Bottleneck, Plan, Probes, kind_of, mbps};
use super::tables::{AskedRow, BottleneckRow, FrameRow, ReportRow, ViewRow};
use record::{Distribution, Record, RecordWriter};
use schema::LinkTruth;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run of `isobath manager medianet` found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Summary {
    /// How the available bandwidth was estimated.
    pub probes: Probes,
    /// Whether streams rode on probes.
    pub riding: bool,
    /// How long frames were sent.
    pub seconds: f64,
    /// Frames decoded a second, of all streams.
    pub decoded_per_s: f64,
    /// Octets of frames decoded (T: the streaming rate).
    pub decoded_mbps: f64,
    /// Frames that failed, of those that came to their end: dropped by the local scheduler, or not to be decoded.
    pub failed_pct: Option<f64>,
    /// Frames that could not be decoded, of those that arrived.
    pub undecodable_pct: Option<f64>,
    /// What became of all frames.
    pub frames: Fates,
    /// Stream by stream.
    pub streams: Vec<StreamFigures>,
    /// From when a frame was due to when all of it had arrived.
    pub delay_ms: Option<Distribution>,
    /// Utilities of all streams together, at their levels, on average over time; 3 at most.
    pub utility: f64,
    /// How often levels were changed.
    pub reconfigurations: u64,
    /// Reports of the local scheduler.
    pub reports: u64,
    /// Those in which it had dropped frames.
    pub reports_failed: u64,
    /// Estimates of the available bandwidth; null when none were asked for.
    pub estimates: Option<Estimates>,
    /// What cross traffic left of the bottleneck, on average.
    pub without_cross_mbps: Option<f64>,
    /// In the lab: what its links carried, queued and dropped.
    pub links: Vec<LinkTruth>,
}

impl Summary {
    /// What the run is called: riding, then probes.
    pub(super) fn name(&self) -> String {
        let riding = if self.riding { "on" } else { "off" };
        format!("{riding}/{}", self.probes.name())
    }

    /// Which way the streams went, in words.
    pub(super) const fn carried(&self) -> &'static str {
        if self.riding {
            "over the overlay, riding on probes"
        } else {
            "beside the overlay"
        }
    }
}

/// What became of frames. `offered` is the sum of the others.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Fates {
    /// Those that belonged to their stream's level when they were due.
    pub offered: u64,
    /// Those that arrived with all that they need.
    pub decoded: u64,
    /// Those that arrived, but not all that they need.
    pub undecodable: u64,
    /// Those that the local scheduler had no room for.
    pub dropped: u64,
    /// Those that had not arrived at the end.
    pub under_way: u64,
}

/// A stream.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StreamFigures {
    /// Frames decoded a second.
    pub decoded_per_s: f64,
    /// Octets of frames decoded.
    pub decoded_mbps: f64,
    /// Share of the time at the highest level: all frames.
    pub high_pct: f64,
    /// Share of the time at the middle level: I and P frames.
    pub medium_pct: f64,
}

/// The estimates that were asked for.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Estimates {
    /// How many came to an end, or were given up.
    pub asked: u64,
    /// Those that could be believed.
    pub completed: u64,
    /// How long these took.
    pub seconds: Option<Distribution>,
    /// By how much they differed from what the lab's counters say was left beside the streams' packets meanwhile, whichever way.
    pub error_mbps: Option<Distribution>,
    /// What probing put on the path over the whole run, riders apart; without those that were given up.
    pub overhead_mbps: f64,
    /// Octets of packets that travelled inside probes.
    pub rider_bytes: u64,
}

/// The rows of a run.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Frames and what became of them.
    pub frames: Vec<FrameRow>,
    /// The local scheduler's reports.
    pub reports: Vec<ReportRow>,
    /// The global scheduler's view, whenever it was told something.
    pub views: Vec<ViewRow>,
    /// Estimates that were asked for.
    pub asked: Vec<AskedRow>,
    /// What the bottleneck carried, in intervals of about a second.
    pub carried: Vec<BottleneckRow>,
}

impl Rows {
    /// Those of a record.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn read(record: &Record) -> Result<Self, record::Error> {
        Ok(Self {
            frames: record.rows()?,
            reports: record.rows()?,
            views: record.rows()?,
            asked: record.rows()?,
            carried: record.rows()?,
        })
    }

    /// Appends them to a record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn append_to(&self, record: &mut RecordWriter) -> Result<(), record::Error> {
        record.append(&self.frames)?;
        record.append(&self.reports)?;
        record.append(&self.views)?;
        record.append(&self.asked)?;
        record.append(&self.carried)
    }

    /// Takes those of `other`.
    pub(super) fn take(&mut self, other: &mut Self) {
        self.frames.append(&mut other.frames);
        self.reports.append(&mut other.reports);
        self.views.append(&mut other.views);
        self.asked.append(&mut other.asked);
        self.carried.append(&mut other.carried);
    }

    /// Frames decoded.
    pub(super) fn decoded(&self) -> u64 {
        count(&self.frames, |row| &*row.fate == "decoded")
    }

    /// Estimates that could be believed.
    pub(super) fn estimates(&self) -> u64 {
        count(&self.asked, |row| row.conclusive)
    }

    /// When the last of them ended, in seconds.
    pub fn seconds(&self) -> f64 {
        let last = self.reports.iter().map(|row| row.t_ns).max();
        last.unwrap_or_default() as f64 / 1e9
    }
}

fn count<T>(rows: &[T], is: impl Fn(&T) -> bool) -> u64 {
    rows.iter().filter(|row| is(row)).count() as u64
}

fn pct(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

/// The summary of a run that took `seconds`.
pub fn summarise(
    plan: &Plan,
    rows: &Rows,
    seconds: f64,
    bottleneck: &Bottleneck,
    links: Vec<LinkTruth>,
) -> Summary {
    let frames = fates(&rows.frames);
    let failed = frames.dropped + frames.undecodable;
    let streams = (0..STREAMS).map(|stream| of_stream(rows, stream, seconds));
    let decoded = rows.frames.iter().filter(|row| &*row.fate == "decoded");
    let delays = rows.frames.iter().filter(|row| &*row.fate != "dropped");
    let delays = delays.filter_map(|row| Some(row.ended_ns?.saturating_sub(row.t_ns) as f64 / 1e6));
    let rate = bottleneck.rate.as_mbps();
    Summary {
        probes: plan.probes,
        riding: plan.riding,
        seconds,
        decoded_per_s: per_s(frames.decoded, seconds),
        decoded_mbps: mbps(decoded.map(|row| u64::from(row.bytes)).sum(), seconds),
        failed_pct: pct(failed, frames.decoded + failed),
        undecodable_pct: pct(frames.undecodable, frames.decoded + frames.undecodable),
        frames,
        streams: streams.collect(),
        delay_ms: Distribution::of(delays),
        utility: utility(&rows.views, seconds),
        reconfigurations: count(&rows.views, |row| row.reconfigured),
        reports: rows.reports.len() as u64,
        reports_failed: count(&rows.reports, |row| {
            row.dropped_i + row.dropped_p + row.dropped_b > 0
        }),
        estimates: plan
            .probes
            .method()
            .map(|_| estimates(plan, rows, seconds, rate)),
        without_cross_mbps: cross(&rows.carried, [0.0, seconds]).map(|cross| rate - cross),
        links,
    }
}

/// The summary of a record whose run was killed before it could write one.
///
/// # Errors
/// When its plan or a table cannot be read.
pub fn of_record(record: &Record) -> anyhow::Result<Summary> {
    let described = &record.run().plan;
    let plan: Plan = Deserialize::deserialize(described)?;
    let bottleneck = Deserialize::deserialize(&described["bottleneck"])?;
    let rows = Rows::read(record)?;
    Ok(summarise(
        &plan,
        &rows,
        rows.seconds(),
        &bottleneck,
        Vec::new(),
    ))
}

fn per_s(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

fn fates(frames: &[FrameRow]) -> Fates {
    let of = |fate: &str| count(frames, |row| &*row.fate == fate);
    Fates {
        offered: frames.len() as u64,
        decoded: of("decoded"),
        undecodable: of("undecodable"),
        dropped: of("dropped"),
        under_way: of("under_way"),
    }
}

fn of_stream(rows: &Rows, stream: usize, seconds: f64) -> StreamFigures {
    let frames = rows.frames.iter();
    let decoded = frames.filter(|row| usize::from(row.stream) == stream && &*row.fate == "decoded");
    let (count, octets) = decoded.fold((0, 0), |(count, octets), row| {
        (count + 1, octets + u64::from(row.bytes))
    });
    let share = |level: Level| {
        let at = |row: &ViewRow| row.levels.chars().nth(stream) == Some(level.letter());
        100.0 * mean_over_time(&rows.views, seconds, |row| f64::from(u8::from(at(row))))
    };
    StreamFigures {
        decoded_per_s: per_s(count, seconds),
        decoded_mbps: mbps(octets, seconds),
        high_pct: share(Level::High),
        medium_pct: share(Level::Medium),
    }
}

/// The mean of a figure that holds from each view to the next.
fn mean_over_time(views: &[ViewRow], seconds: f64, of: impl Fn(&ViewRow) -> f64) -> f64 {
    let ends = views.iter().skip(1).map(|row| row.t_ns as f64 / 1e9);
    let spans = views.iter().zip(ends.chain([seconds]));
    let sum: f64 = spans
        .map(|(row, end)| of(row) * (end.min(seconds) - row.t_ns as f64 / 1e9).max(0.0))
        .sum();
    if seconds > 0.0 { sum / seconds } else { 0.0 }
}

fn utility(views: &[ViewRow], seconds: f64) -> f64 {
    let level = |letter: char| {
        Level::ALL
            .into_iter()
            .find(|level| level.letter() == letter)
    };
    mean_over_time(views, seconds, |row| {
        let levels = row.levels.chars().filter_map(level);
        levels.map(Level::utility).sum()
    })
}

/// What cross traffic got through on average from one time to another, in seconds; none when no row lies within.
pub fn cross(rows: &[BottleneckRow], [from, to]: [f64; 2]) -> Option<f64> {
    let (mut octets, mut lasted) = (0.0, 0.0);
    for row in rows {
        let [begin, length] = [row.t_ns, row.lasted_ns].map(|ns| ns as f64 / 1e9);
        let within = (begin + length).min(to) - begin.max(from);
        if within > 0.0 && length > 0.0 {
            octets += row.cross_bytes as f64 * within / length;
            lasted += within;
        }
    }
    (lasted > 0.0).then(|| octets * 8e-6 / lasted)
}

fn estimates(plan: &Plan, rows: &Rows, seconds: f64, rate: f64) -> Estimates {
    let times = |row: &AskedRow| [row.t_ns, row.ended_ns].map(|ns| ns as f64 / 1e9);
    let believed: Vec<&AskedRow> = rows.asked.iter().filter(|row| row.conclusive).collect();
    let error = |row: &&AskedRow| {
        let others = cross(&rows.carried, times(row))?;
        let own = row.own_mbps / plan.options().payload_share;
        Some((row.value_mbps? - (rate - others - own).max(0.0)).abs())
    };
    let overhead = rows.asked.iter().filter_map(|row| row.overhead_bytes);
    Estimates {
        asked: rows.asked.len() as u64,
        completed: believed.len() as u64,
        seconds: Distribution::of(believed.iter().map(|row| {
            let [began, ended] = times(row);
            ended - began
        })),
        error_mbps: Distribution::of(believed.iter().filter_map(error)),
        overhead_mbps: mbps(overhead.sum(), seconds),
        rider_bytes: rows.asked.iter().filter_map(|row| row.rider_bytes).sum(),
    }
}

/// Decoded frames of a kind.
pub fn decoded_of(rows: &Rows, kind: Kind) -> impl Iterator<Item = &FrameRow> {
    let frames = rows.frames.iter();
    frames.filter(move |row| &*row.fate == "decoded" && kind_of(&row.kind) == Some(kind))
}

#[cfg(test)]
mod tests;
