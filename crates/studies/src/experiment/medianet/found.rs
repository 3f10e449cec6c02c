//! What the runs of each mode found, put together.

use super::Mode;
use crate::experiment::Bench;
use crate::experiment::pool::shown;
use crate::experiment::repeats::{LeftOut, gather};
use crate::medianet::summary::Summary;
use record::Record;
use report::experiment::{Cell, Experiment, Source, Table};
use serde::Deserialize;

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Its folder's name below that of the records.
    pub(super) name: String,
    pub(super) summary: Summary,
}

/// A mode with its runs.
pub(super) struct Found {
    pub(super) mode: Mode,
    pub(super) runs: Vec<Run>,
    /// The folder of the run in the middle, by frames a second; as it is and as the page names it.
    pub(super) typical: Option<(std::path::PathBuf, String)>,
    pub(super) left_out: LeftOut,
}

impl Found {
    pub(super) fn of(bench: &Bench<'_>, mode: Mode, runs: usize) -> Self {
        let names = (0..runs).map(|run| mode.record(run));
        let read = |record: &Record| Deserialize::deserialize(&record.run().summary).ok();
        let (runs, left_out) = gather(bench, names, read);
        let runs = runs.into_iter();
        let mut found = Self {
            mode,
            runs: runs.map(|(name, summary)| Run { name, summary }).collect(),
            typical: None,
            left_out,
        };
        let typical = found.middle().map(|run| run.name.clone());
        found.typical = typical.map(|name| (bench.folder(&name), shown(bench, &name)));
        found
    }

    fn middle(&self) -> Option<&Run> {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_by(|a, b| {
            let [a, b] = [a, b].map(|run| run.summary.decoded_per_s);
            a.total_cmp(&b)
        });
        runs.get(runs.len().saturating_sub(1) / 2).copied()
    }

    /// A figure of each run.
    pub(super) fn each(&self, of: impl Fn(&Summary) -> f64) -> Vec<f64> {
        self.runs.iter().map(|run| of(&run.summary)).collect()
    }

    /// The mean of a figure over the seconds of all runs, as T pooled them.
    pub(super) fn pooled(&self, of: impl Fn(&Summary) -> Option<f64>) -> Option<f64> {
        let runs = self.runs.iter();
        let (sum, seconds) = runs.fold((0.0, 0.0), |(sum, seconds), run| {
            let length = run.summary.seconds;
            match of(&run.summary) {
                Some(figure) => (sum + figure * length, seconds + length),
                None => (sum, seconds),
            }
        });
        (seconds > 0.0).then(|| sum / seconds)
    }

    /// Frames a second, Mbit/s and the share of frames that failed, pooled.
    pub(super) fn figures(&self) -> [Option<f64>; 3] {
        let frames = |of: fn(&Summary) -> u64| self.runs.iter().map(|run| of(&run.summary)).sum();
        let failed: u64 = frames(|s| s.frames.dropped + s.frames.undecodable);
        let ended: u64 = frames(|s| s.frames.offered - s.frames.under_way);
        [
            self.pooled(|summary| Some(summary.decoded_per_s)),
            self.pooled(|summary| Some(summary.decoded_mbps)),
            (ended > 0).then(|| failed as f64 * 100.0 / ended as f64),
        ]
    }
}

/// Adds the tables and what is to be known of them.
pub(super) fn add(mut experiment: Experiment, found: &[Found]) -> Experiment {
    experiment = experiment.table(tables(found)).table(how(found));
    LeftOut::note(found.iter().map(|one| one.left_out), experiment)
        .note("T does not say how long the streams are alone, how large the local scheduler's buffer is nor how often it reports: here 40 s before cross traffic and 56 s behind it, 435 kB, and every 2 s.")
        .note("A level's choice is T's where it shows one (high, medium, medium; medium, low, low): the least level as high as can be, then the next.")
        .note("Frames that fail are here those that were dropped before they were sent and those that arrived without a frame that they need; T may have counted the latter alone.")
}

/// T's tables 6.2 to 6.4 beside what was found.
fn tables(found: &[Found]) -> Table {
    let mut table =
        Table::new("Frames decoded, streaming rate and frames that failed (T, tables 6.2 to 6.4)")
            .column("mode", "")
            .column("runs", "")
            .column("time", "s");
    for (name, unit) in [("decoded", "frames/s"), ("rate", "Mbit/s"), ("failed", "%")] {
        table = table
            .column_of(format!("{name}, T"), unit, Source::Paper)
            .column_of(format!("{name}, here"), unit, Source::Ours);
    }
    for one in found {
        let seconds = one.each(|summary| summary.seconds);
        let mut row: Vec<Cell> = vec![
            one.mode.name().into(),
            one.runs.len().into(),
            (seconds.iter().sum::<f64>() / seconds.len() as f64).into(),
        ];
        for (paper, ours) in one.mode.paper.into_iter().zip(one.figures()) {
            row.extend([Cell::from(paper), ours.into()]);
        }
        table = table.row(row);
    }
    table
}

/// How each mode came to its figures.
fn how(found: &[Found]) -> Table {
    let mut table = Table::new("How they adapted")
        .column("mode", "")
        .column("levels changed", "a run")
        .column("reports with drops", "a run")
        .column("could not be decoded", "% of arrived")
        .column("delay of frames", "ms, median")
        .column("utility", "of 3")
        .column("estimates completed", "a run")
        .column("of", "a run")
        .column("time of one", "s, median")
        .column("off by", "Mbit/s, median")
        .column("added by probing", "Mbit/s")
        .column("not taken by others", "Mbit/s");
    for one in found {
        let estimates = |of: fn(&crate::medianet::summary::Estimates) -> Option<f64>| {
            one.pooled(|summary| summary.estimates.as_ref().and_then(of))
        };
        table = table.row([
            Cell::from(one.mode.name()),
            one.pooled(|summary| Some(summary.reconfigurations as f64))
                .into(),
            one.pooled(|summary| Some(summary.reports_failed as f64))
                .into(),
            one.pooled(|summary| summary.undecodable_pct).into(),
            one.pooled(|summary| Some(summary.delay_ms?.p50)).into(),
            one.pooled(|summary| Some(summary.utility)).into(),
            estimates(|all| Some(all.completed as f64)).into(),
            estimates(|all| Some(all.asked as f64)).into(),
            estimates(|all| Some(all.seconds?.p50)).into(),
            estimates(|all| Some(all.error_mbps?.p50)).into(),
            estimates(|all| Some(all.overhead_mbps)).into(),
            one.pooled(|summary| summary.without_cross_mbps).into(),
        ]);
    }
    table
}
