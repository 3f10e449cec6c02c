//! What became of the measurements.

use super::schedule::Planned;
use crate::experiment::Bench;
use report::experiment::{Cell, Experiment, Source, Table};
use schema::btc::plan::Tool;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The paper's numbers of pairs: TCP twice, *cap* twice, one of each.
const PAPER_PAIRS: [u32; 3] = [104, 109, 181];

/// A measurement that was made, or tried.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Measurement {
    /// What was to be done.
    pub(super) planned: Planned,
    /// The transfers that came to an end, in order.
    pub(super) transfers: Vec<Made>,
    /// What went wrong, if anything did.
    pub(super) failure: Option<Failure>,
}

/// A transfer.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Made {
    /// What carried it.
    pub(super) tool: Tool,
    /// Payload acknowledged a second, in octets.
    pub(super) bytes_per_s: f64,
    /// Share of its packets lost.
    pub(super) loss_pct: f64,
    /// How long it took.
    pub(super) seconds: f64,
}

/// Why a measurement has not two transfers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Failure {
    /// What failed.
    pub(super) of: Failed,
    /// The class of it.
    pub(super) class: String,
    /// What was said.
    pub(super) said: String,
}

/// What can fail.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Failed {
    /// What carries the measurements: lab, far end, processes.
    Infrastructure,
    /// This machine was too slow to measure.
    Instrument,
    /// The transfer itself.
    Transfer,
}

impl Failed {
    const fn word(self) -> &'static str {
        match self {
            Self::Infrastructure => "infrastructure",
            Self::Instrument => "instrument",
            Self::Transfer => "transfer",
        }
    }
}

impl Measurement {
    /// Writes it down, and tells of a failure.
    pub(super) fn write(&self, bench: &Bench<'_>) {
        let Planned {
            number, from, to, ..
        } = &self.planned;
        if let Some(failure) = &self.failure {
            let (said, class) = (&failure.said, &failure.class);
            let said = format!("{number} {from} - {to}: {said} ({class})");
            bench.display.say(&said);
        }
        if let Ok(text) = serde_json::to_string_pretty(self) {
            // One that cannot be written will be found missing, and made again.
            let _ = bench.write(&name(*number), &text);
        }
    }
}

/// The file of measurement `number`.
fn name(number: usize) -> String {
    format!("{number:04}.json")
}

/// What is written down of measurement `number`.
pub(super) fn read(bench: &Bench<'_>, number: usize) -> Option<Measurement> {
    serde_json::from_str(&bench.read(&name(number))?).ok()
}

/// How many of `made` this machine was too busy for.
pub(super) fn doubtful(made: &[Measurement]) -> usize {
    let failures = made.iter().filter_map(|one| one.failure.as_ref());
    failures
        .filter(|failure| failure.of == Failed::Instrument)
        .count()
}

/// Whole measurements by their tools.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// The kernel's TCP twice.
    pub(super) kernel: Vec<[Made; 2]>,
    /// Ours twice.
    pub(super) ours: Vec<[Made; 2]>,
    /// One of each: ours first, whichever was made first.
    pub(super) mixed: Vec<[Made; 2]>,
}

impl Pairs {
    /// Those of `made` in which both transfers came to their end; `with_invalid` also those for which this machine was too
    /// busy.
    pub(super) fn of(made: &[Measurement], with_invalid: bool) -> Self {
        let mut pairs = Self::default();
        let counts = |one: &&Measurement| match &one.failure {
            None => true,
            Some(failure) => with_invalid && failure.of == Failed::Instrument,
        };
        for one in made.iter().filter(counts) {
            let &[first, second] = &one.transfers[..] else {
                continue;
            };
            match (first.tool, second.tool) {
                (Tool::Kernel, Tool::Kernel) => pairs.kernel.push([first, second]),
                (Tool::Ours, Tool::Ours) => pairs.ours.push([first, second]),
                (Tool::Ours, Tool::Kernel) => pairs.mixed.push([first, second]),
                (Tool::Kernel, Tool::Ours) => pairs.mixed.push([second, first]),
            }
        }
        pairs
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.kernel.len() + self.ours.len() + self.mixed.len()
    }
}

/// How far the throughputs of a pair are apart, in octets a second.
pub(super) fn difference(pair: &[Made; 2]) -> f64 {
    (pair[0].bytes_per_s - pair[1].bytes_per_s).abs()
}

/// The same in per cent of their mean.
pub(super) fn difference_pct(pair: &[Made; 2]) -> f64 {
    difference(pair) * 200.0 / (pair[0].bytes_per_s + pair[1].bytes_per_s)
}

/// How far the losses of a pair are apart, in points.
pub(super) fn loss_difference(pair: &[Made; 2]) -> f64 {
    (pair[0].loss_pct - pair[1].loss_pct).abs()
}

/// Adds the tables.
pub(super) fn tables(experiment: Experiment, made: &[Measurement], pairs: &Pairs) -> Experiment {
    let found = [pairs.kernel.len(), pairs.ours.len(), pairs.mixed.len()];
    let kinds = ["TCP and TCP", "ours and ours (paper: cap)", "one of each"];
    let mut counts = Table::new("Pairs")
        .column("tools", "")
        .column_of("paper", "", Source::Paper)
        .column_of("here", "", Source::Ours);
    for ((kind, paper), found) in kinds.into_iter().zip(PAPER_PAIRS).zip(found) {
        counts = counts.row([Cell::from(kind), paper.into(), found.into()]);
    }
    experiment
        .table(counts)
        .table(failures(made))
        .table(by_path(made))
}

fn failures(made: &[Measurement]) -> Table {
    let mut classes = BTreeMap::<_, (usize, &str)>::new();
    for failure in made.iter().filter_map(|one| one.failure.as_ref()) {
        let entry = classes.entry((failure.of, &*failure.class));
        entry.or_insert((0, &*failure.said)).0 += 1;
    }
    let mut table = Table::new("Measurements without two whole transfers")
        .column("what failed", "")
        .column("class", "")
        .column("measurements", "")
        .column("for example", "");
    for ((of, class), (count, said)) in classes {
        table = table.row([
            Cell::from(of.word()),
            class.into(),
            count.into(),
            said.into(),
        ]);
    }
    table
}

/// Medians for each way between two hosts.
fn by_path(made: &[Measurement]) -> Table {
    let mut paths = BTreeMap::<(&str, &str), [Vec<f64>; 2]>::new();
    for one in made {
        let entry = paths
            .entry((&one.planned.from, &one.planned.to))
            .or_default();
        for transfer in &one.transfers {
            entry[usize::from(transfer.tool == Tool::Ours)].push(transfer.bytes_per_s * 8e-6);
        }
    }
    let mut table = Table::new("Throughput by path: medians")
        .column("from", "")
        .column("to", "")
        .column("TCP", "Mbit/s")
        .column_of("ours", "Mbit/s", Source::Ours)
        .column("transfers", "");
    for ((from, to), [kernel, ours]) in paths {
        let median = |set: &Vec<f64>| stats::Distribution::of(set.iter().copied()).map(|of| of.p50);
        table = table.row([
            Cell::from(from),
            to.into(),
            median(&kernel).into(),
            median(&ours).into(),
            (kernel.len() + ours.len()).into(),
        ]);
    }
    table
}
