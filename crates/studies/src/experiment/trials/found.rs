//! What the runs of a cell found, put together.

use super::{Cell, Trials};
use crate::experiment::Bench;
use crate::experiment::pool::shown;
use crate::experiment::repeats::{LeftOut, gather};
use crate::trial::Plan;
use crate::trial::plan::Probes;
use crate::trial::summary::{Estimates, Place, Source, Summary, Tables, counts, median};
use crate::trial::tables::EstimateRow;
use record::Record;
use report::experiment::{Experiment, Table};
use serde::Deserialize;
use std::time::Duration;

/// One run.
pub(super) struct Run {
    pub(super) summary: Summary,
    pub(super) tables: Tables,
    /// What the application read in each second that counts, in Mbit/s.
    pub(super) source_mbps: Vec<f64>,
}

impl Run {
    fn read(record: &Record) -> anyhow::Result<Self> {
        let plan = Plan::deserialize(&record.run().plan)?;
        let summary = Deserialize::deserialize(&record.run().summary)?;
        let tables = Tables::read(record)?;
        let read = tables.source.iter().filter(|row| counts(&plan, row.t_ns));
        Ok(Self {
            summary,
            source_mbps: read.map(|row| row.bytes as f64 * 8e-6).collect(),
            tables,
        })
    }
}

impl Run {
    /// How far from the target a second is on average, in Mbit/s.
    fn distance_mbps(&self) -> Option<f64> {
        let target = self.summary.source?.target_mbps;
        let seconds = &self.source_mbps;
        let sum: f64 = seconds.iter().map(|mbps| (mbps - target).abs()).sum();
        (!seconds.is_empty()).then(|| sum / seconds.len() as f64)
    }
}

/// A cell with its runs.
pub(super) struct Found {
    pub(super) cell: Cell,
    pub(super) runs: Vec<Run>,
    pub(super) record: Option<String>,
    left_out: LeftOut,
}

impl Found {
    pub(super) fn read(bench: &Bench<'_>, cell: Cell, repeats: usize) -> Self {
        let names = (0..repeats).map(|repeat| cell.record(repeat));
        let (runs, left_out) = gather(bench, names, |record| Run::read(record).ok());
        let record = runs.first().map(|(name, _)| shown(bench, name));
        Self {
            cell,
            runs: runs.into_iter().map(|(_, run)| run).collect(),
            record,
            left_out,
        }
    }

    #[cfg(test)]
    pub(super) fn of(cell: Cell, runs: Vec<Run>) -> Self {
        Self {
            cell,
            runs,
            record: None,
            left_out: LeftOut::default(),
        }
    }

    /// What it is called in figures and tables.
    pub(super) fn name(&self) -> String {
        let ratio = self.cell.ratio;
        if ratio < 1.0 {
            return format!("{}, ratio {ratio}", self.cell.probes.name());
        }
        self.cell.probes.name().to_owned()
    }

    /// The mean over its runs of a figure that all have.
    pub(super) fn mean(&self, of: impl Fn(&Summary) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self
            .runs
            .iter()
            .filter_map(|run| of(&run.summary))
            .collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The mean over its runs of a figure, and the 95 % interval of it: `3.98 [3.94, 4.02]`.
    fn interval(&self, of: impl Fn(&Run) -> Option<f64>) -> Option<String> {
        let values: Vec<f64> = self.runs.iter().filter_map(of).collect();
        let of = stats::interval::mean(&values, 0.95)?;
        Some(format!(
            "{:.2} [{:.2}, {:.2}]",
            of.estimate, of.low, of.high
        ))
    }

    /// All seconds of all runs.
    pub(super) fn source_mbps(&self) -> Vec<f64> {
        self.runs
            .iter()
            .flat_map(|run| run.source_mbps.iter().copied())
            .collect()
    }

    pub(super) fn source(&self) -> Option<Source> {
        let target = self.runs.first()?.summary.source?.target_mbps;
        Source::of(target, &self.source_mbps())
    }

    /// How far from the target a second is on average, in Mbit/s: the area between the distribution function and a vertical line.
    pub(super) fn distance_mbps(&self) -> Option<f64> {
        let target = self.source()?.target_mbps;
        let seconds = self.source_mbps();
        let sum: f64 = seconds.iter().map(|mbps| (mbps - target).abs()).sum();
        Some(sum / seconds.len() as f64)
    }

    /// All estimations that had their time.
    pub(super) fn rows(&self) -> Vec<EstimateRow> {
        let rows = self.runs.iter().flat_map(|run| &run.tables.estimates);
        rows.filter(|row| row.counts()).cloned().collect()
    }

    pub(super) fn estimates(&self) -> Option<Estimates> {
        Estimates::of(&self.rows())
    }

    /// The share of all estimations that were completed within so many seconds, in per cent.
    pub(super) fn completed_pct(&self, within_s: f64) -> Option<f64> {
        let rows = self.rows();
        let done = rows
            .iter()
            .filter_map(EstimateRow::completed_s)
            .filter(|s| *s <= within_s);
        (!rows.is_empty()).then(|| done.count() as f64 * 100.0 / rows.len() as f64)
    }

    /// Times of those that were completed, in ascending order.
    pub(super) fn times_s(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self
            .rows()
            .iter()
            .filter_map(EstimateRow::completed_s)
            .collect();
        times.sort_unstable_by(f64::total_cmp);
        times
    }

    /// What the tool has offered on average, riders and padding together, in Mbit/s.
    pub(super) fn offered_mbps(&self) -> Option<f64> {
        let of = |run: &Run| {
            let octets: u64 = run.tables.trains.iter().map(|train| train.bytes).sum();
            let seconds = run.tables.source.len();
            (seconds > 0).then(|| octets as f64 * 8e-6 / seconds as f64)
        };
        let all: Vec<f64> = self.runs.iter().filter_map(of).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// The tenths of trains of all runs together.
    pub(super) fn tenths(&self) -> Vec<Place> {
        let sum = |tenth: u8| {
            let all = self.runs.iter().flat_map(|run| &run.summary.by_tenth);
            let all = all.filter(|one| one.tenth == tenth);
            all.fold(
                Place {
                    tenth,
                    ..Place::default()
                },
                |sum, one| Place {
                    tenth,
                    carrying: sum.carrying + one.carrying,
                    carrying_lost: sum.carrying_lost + one.carrying_lost,
                    empty: sum.empty + one.empty,
                    empty_lost: sum.empty_lost + one.empty_lost,
                },
            )
        };
        (0..10).map(sum).collect()
    }
}

/// The cell of this tool, if it was run.
pub(super) fn find(found: &[Found], probes: Probes, riding: bool, ratio: f64) -> Option<&Found> {
    let wanted = Cell {
        probes,
        riding,
        ratio,
    };
    found
        .iter()
        .find(|one| one.cell == wanted && !one.runs.is_empty())
}

/// Adds the tables and the notes.
pub(super) fn add(
    experiment: Experiment,
    trials: &Trials,
    found: &[Found],
    duration: Duration,
) -> Experiment {
    let mut experiment = experiment.table(table(found)).note(format!(
        "A run lasts {} s; its first two seconds are not counted.",
        duration.as_secs()
    ));
    if found.iter().any(|one| one.runs.len() > 1) {
        experiment = experiment.table(intervals(found));
    }
    if trials.is_simulated() {
        experiment = experiment.note(VIRTUAL);
    }
    for note in NOTES {
        experiment = experiment.note(*note);
    }
    LeftOut::note(found.iter().map(|one| one.left_out), experiment)
}

/// Where it was.
const VIRTUAL: &str = "In virtual time: TCP is `sim::tcp` and not the kernel's, managers and links are the same machines as in a lab, and nothing is late. Runs of a cell differ by their seeds, which say when the application begins (up to 0.1 s later), and with web traffic what others' connections are.";

const NOTES: &[&str] = &[
    "T sends its probes by UDP from user space when its manager is off. Here they go by the manager's socket in both cases, with nothing riding, so that off and on differ in riding alone.",
    "Packets of the overlay have 60 octets of headers here (UDP and a keyed tag), those of T 36 (IP and MGRP): with riding on the application's own packets are longer by that, and an empty probe of 300 octets has room for less.",
    "T replays a recording of a Pacific link as cross traffic from a host; here the bottleneck makes the packets up, with the sizes of a recorded visit to a web site.",
    "pathload is that of `isobath estimate`, without the two fleets by which that has a finding confirmed. Estimations that did not come to an end within 60 s count as never completed; the one that the end of a run cuts does not count.",
    "Available is what the bottleneck's rate leaves beside all that it carried but probes, on average over the seconds of an estimation. Thresholds are ours: T judges curves by eye.",
];

fn table(found: &[Found]) -> Table {
    let mut table = Table::new("Every tool, without and with riding");
    for (name, unit) in COLUMNS {
        table = table.column(*name, *unit);
    }
    for one in found {
        let through = |of: fn(&crate::trial::summary::Throughput) -> f64| {
            one.mean(move |summary| summary.throughput_mbps.as_ref().map(of))
        };
        let (source, estimates) = (one.source(), one.estimates());
        let lost = |of: fn(&Summary) -> u64| one.mean(move |summary| Some(of(summary) as f64));
        let times = one.times_s();
        table = table.row([
            report::experiment::Cell::from(one.name()),
            one.cell.word().to_owned().into(),
            one.runs.len().into(),
            through(|of| of.source).into(),
            through(|of| of.rider).into(),
            through(|of| of.probe).into(),
            through(|of| of.cross).into(),
            source.map(|of| of.mean_mbps).into(),
            source.map(|of| of.within_pct).into(),
            source.map(|of| of.below_pct).into(),
            one.distance_mbps().into(),
            lost(|summary| summary.probes_lost).into(),
            lost(|summary| summary.riders_lost).into(),
            estimates.map(|of| of.n as f64).into(),
            estimates.map(|of| of.completed as f64).into(),
            median(times.iter().copied()).into(),
            estimates.and_then(|of| of.error_pct).into(),
            estimates.and_then(|of| of.error_stream_pct).into(),
            estimates.and_then(|of| of.error_fleet_pct).into(),
            estimates.and_then(|of| of.error_uncorrected_pct).into(),
        ]);
    }
    table
}

/// How sure the means are.
fn intervals(found: &[Found]) -> Table {
    let mut table = Table::new("Means over the runs, with their 95 % intervals")
        .column("probes", "")
        .column("riding", "")
        .column("runs", "");
    for (name, unit, _) in MEANS {
        table = table.column(*name, *unit);
    }
    for one in found.iter().filter(|one| one.runs.len() > 1) {
        let means = MEANS.iter().map(|(_, _, of)| one.interval(of));
        let cells = [
            report::experiment::Cell::from(one.name()),
            one.cell.word().to_owned().into(),
            one.runs.len().into(),
        ];
        let means = means.map(|mean| mean.unwrap_or_default().into());
        table = table.row(cells.into_iter().chain(means));
    }
    table
}

type Mean = (&'static str, &'static str, fn(&Run) -> Option<f64>);

const MEANS: &[Mean] = &[
    ("probes without riders", "Mbit/s", |run| {
        Some(run.summary.throughput_mbps?.probe)
    }),
    ("riders", "Mbit/s", |run| {
        Some(run.summary.throughput_mbps?.rider)
    }),
    ("cross", "Mbit/s", |run| {
        Some(run.summary.throughput_mbps?.cross)
    }),
    ("application reads", "Mbit/s", |run| {
        Some(run.summary.source?.mean_mbps)
    }),
    ("seconds within 5 %", "%", |run| {
        Some(run.summary.source?.within_pct)
    }),
    ("distance from target", "Mbit/s", Run::distance_mbps),
    ("estimations", "", |run| {
        Some(run.summary.estimates?.n as f64)
    }),
    ("completed", "", |run| {
        Some(run.summary.estimates?.completed as f64)
    }),
    ("error, by what was spared", "%", |run| {
        run.summary.estimates?.error_pct
    }),
];

const COLUMNS: &[(&str, &str)] = &[
    ("probes", ""),
    ("riding", ""),
    ("runs", ""),
    ("source alone", "Mbit/s"),
    ("riders", "Mbit/s"),
    ("probes without riders", "Mbit/s"),
    ("cross", "Mbit/s"),
    ("application reads", "Mbit/s"),
    ("seconds within 5 %", "%"),
    ("seconds below", "%"),
    ("distance from target", "Mbit/s"),
    ("probes lost in a run", ""),
    ("of these with riders", ""),
    ("estimations", ""),
    ("completed", ""),
    ("median time of these", "s"),
    ("error, by what was spared", "%"),
    ("error, by last stream", "%"),
    ("error, by last fleet", "%"),
    ("error, not corrected", "%"),
];
