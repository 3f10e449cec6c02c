//! What was found in the cells.

use super::simulated_name;
use crate::experiment::Bench;
use crate::experiment::place::{Cell, millis, per_cent};
use crate::experiment::pool::{Outcome, outcome, shown};
use crate::experiment::simulate::Simulated;
use record::{Record, Status};
use report::experiment::{Cell as Entry, Experiment, Source, Table};
use schema::btc::plan::Plan;
use schema::btc::tables::Transfer;
use serde::Deserialize;
use stats::Distribution;
use transport::Options;

/// From which difference a cell is talked about, in per cent.
const NOTABLE: f64 = 10.0;

/// Throughput and loss of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figures {
    /// Payload over time.
    pub(super) mbps: f64,
    /// Packets lost.
    pub(super) loss_pct: f64,
}

/// Ours and the kernel's, back to back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    /// Ours.
    pub(super) ours: Figures,
    /// The kernel's.
    pub(super) kernel: Figures,
}

/// A cell that was measured.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Which.
    pub(super) cell: Cell,
    /// Its pairs, in order.
    pub(super) pairs: Vec<Pair>,
    /// The same transfers in virtual time; none before they were simulated.
    pub(super) simulated: Vec<Simulated>,
    /// The rules that ours had.
    pub(super) options: Options,
    /// Its record.
    pub(super) record: String,
    /// Whether this machine was too busy for it.
    pub(super) is_doubtful: bool,
}

/// What became of all cells.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// Those that were measured.
    pub(super) found: Vec<Found>,
    /// Those in which the instrument was the bottleneck.
    pub(super) invalid: Vec<String>,
    /// Those that could not be measured, and why.
    pub(super) failed: Vec<String>,
    /// How many have not been tried.
    pub(super) missing: usize,
}

/// Looks at all cells.
pub(super) fn all(bench: &Bench<'_>, cells: &[Cell]) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for cell in cells {
        match outcome(bench, &cell.name()) {
            Outcome::Complete(record) => match Found::from(bench, cell, &record) {
                Some(found) => outcomes.found.push(found),
                None => outcomes.failed.push(format!("{cell} (no whole pair)")),
            },
            Outcome::Failed(reason) => outcomes.failed.push(format!("{cell} ({reason})")),
            Outcome::Invalid => outcomes.invalid.push(cell.to_string()),
            Outcome::Missing => outcomes.missing += 1,
        }
    }
    outcomes
}

impl Found {
    /// What was found in `cell`, if it was measured.
    pub(super) fn of(bench: &Bench<'_>, cell: &Cell) -> Option<Self> {
        match outcome(bench, &cell.name()) {
            Outcome::Complete(record) => Self::from(bench, cell, &record),
            _ => None,
        }
    }

    /// The same from its record; nothing without a whole pair.
    fn from(bench: &Bench<'_>, cell: &Cell, record: &Record) -> Option<Self> {
        let plan: Plan = Deserialize::deserialize(&record.run().plan).ok()?;
        let transfers = record.rows::<Transfer>().ok()?;
        let simulated = bench.read(&simulated_name(cell));
        let simulated = simulated.and_then(|text| serde_json::from_str(&text).ok());
        let pairs = pairs(&transfers);
        (!pairs.is_empty()).then(|| Self {
            cell: *cell,
            pairs,
            simulated: simulated.unwrap_or_default(),
            options: plan.options,
            record: shown(bench, &cell.name()),
            is_doubtful: record.run().status == Status::Invalid,
        })
    }

    /// Mean throughput of ours.
    pub(super) fn ours(&self) -> f64 {
        mean(self.pairs.iter().map(|pair| pair.ours.mbps))
    }

    /// Mean throughput of the kernel's.
    pub(super) fn kernel(&self) -> f64 {
        mean(self.pairs.iter().map(|pair| pair.kernel.mbps))
    }

    /// Mean throughput in virtual time.
    pub(super) fn sim(&self) -> Option<f64> {
        let all = self.simulated.iter().filter_map(|one| one.throughput_mbps);
        Some(Distribution::of(all)?.mean)
    }

    /// By how much the mean of ours is above the kernel's, in per cent of it.
    pub(super) fn difference_pct(&self) -> f64 {
        over(self.ours(), self.kernel())
    }

    /// By how much the mean in virtual time is above that over UDP, in per cent of it.
    pub(super) fn sim_difference_pct(&self) -> Option<f64> {
        Some(over(self.sim()?, self.ours()))
    }

    /// How far the kernel's own repeats are from the next one, in per cent; likewise ours.
    pub(super) fn own_differences(&self, of: fn(&Pair) -> f64) -> impl Iterator<Item = f64> {
        self.pairs
            .windows(2)
            .map(move |two| over(of(&two[0]), of(&two[1])))
    }

    /// The largest of those of either, without sign.
    fn spread(&self) -> Option<f64> {
        let ours = self.own_differences(|pair| pair.ours.mbps);
        let kernel = self.own_differences(|pair| pair.kernel.mbps);
        ours.chain(kernel).map(f64::abs).max_by(f64::total_cmp)
    }

    /// What is to be said of a cell in which ours and the kernel's differ.
    pub(super) fn note(&self) -> Option<String> {
        let difference = self.difference_pct();
        if difference.abs() <= NOTABLE {
            return None;
        }
        let why = match self.spread() {
            Some(spread) if spread >= difference.abs() => {
                format!(
                    "within the spread of repeats: up to {spread:.0} % between two by the same tool"
                )
            }
            Some(spread) => {
                format!(
                    "beyond the spread of repeats, at most {spread:.0} % between two by the same tool"
                )
            }
            None => "a single pair".to_owned(),
        };
        Some(format!("{}: {difference:+.1} %, {why}.", self.cell))
    }
}

/// By how much `one` is above `other`, in per cent of `other`.
pub(super) fn over(one: f64, other: f64) -> f64 {
    (one - other) / other * 100.0
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    Distribution::of(values).map_or(0.0, |of| of.mean)
}

/// The pairs that are whole.
fn pairs(transfers: &[Transfer]) -> Vec<Pair> {
    let find = |tool: &str, repeat| {
        let is_it = |one: &&Transfer| &*one.tool == tool && one.repeat == repeat;
        let found = transfers.iter().find(is_it)?;
        Some(Figures {
            mbps: found.throughput_mbps.filter(|mbps| *mbps > 0.0)?,
            loss_pct: found.loss_pct?,
        })
    };
    let last = transfers.iter().map(|one| one.repeat).max();
    let repeats = last.map_or(0..0, |last| 0..last.saturating_add(1));
    let pair = |repeat| {
        Some(Pair {
            ours: find("ours", repeat)?,
            kernel: find("kernel", repeat)?,
        })
    };
    repeats.filter_map(pair).collect()
}

/// The table of all cells.
pub(super) fn table(experiment: Experiment, found: &[Found]) -> Experiment {
    let mut table = Table::new("Every cell: means over its repeats")
        .column("rate", "Mbit/s")
        .column("round trip", "ms")
        .column("random loss", "%")
        .column("queue", "BDP")
        .column("kernel", "Mbit/s")
        .column_of("ours", "Mbit/s", Source::Ours)
        .column_of("virtual time", "Mbit/s", Source::Ours)
        .column("ours - kernel", "%")
        .column("virtual time - ours", "%")
        .column("loss, kernel", "%")
        .column_of("loss, ours", "%", Source::Ours)
        .column("pairs", "")
        .column("machine too busy", "")
        .column("record", "");
    for one in found {
        let loss = |of: fn(&Pair) -> f64| mean(one.pairs.iter().map(of));
        table = table.row([
            Entry::from(one.cell.rate.as_mbps()),
            millis(one.cell.rtt).into(),
            per_cent(one.cell.loss).into(),
            one.cell.queue.into(),
            one.kernel().into(),
            one.ours().into(),
            one.sim().into(),
            one.difference_pct().into(),
            one.sim_difference_pct().into(),
            loss(|pair| pair.kernel.loss_pct).into(),
            loss(|pair| pair.ours.loss_pct).into(),
            one.pairs.len().into(),
            one.is_doubtful.into(),
            one.record.clone().into(),
        ]);
    }
    experiment.table(table)
}
