//! A few of the transfers over UDP: does what virtual time says hold where packets are real?

use crate::experiment::place::Cell;
use crate::experiment::pool::{self, Job, Outcome, outcome};
use crate::experiment::{Bench, Scale};
use report::experiment::{Case, Cell as Entry, Experiment, Source, Table};
use schema::btc::tables::Transfer;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stats::interval;
use std::time::Duration;
use units::Span;

/// Confidence of intervals.
const LEVEL: f64 = 0.95;

/// The labs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Labs {
    /// Transfers by each rule in each lab.
    repeats: usize,
    /// How long each takes.
    duration: Span,
    /// The paths.
    pub(super) cell: Vec<Cell>,
}

/// What [`super::paper_rules`] is on the command line, but for the growth.
const PAPER_RULES: &str = "--cc reno --window 135 --initial-window 2 --delayed-ack 200ms --option delayed_ack.quick=0 --option abc=1 --option recovery=newreno --option limited_transmit=false --option prr=false --option rack=false --option undo=false --option rto_min=1s";

/// The two rules, as the command line knows them.
const RULES: [&str; 2] = ["per-window", "per-ack"];

impl Labs {
    fn repeats(&self, scale: Scale) -> usize {
        scale.of(self.repeats, 2)
    }

    fn time(&self, scale: Scale) -> Duration {
        let repeats = u32::try_from(self.repeats(scale)).unwrap_or(u32::MAX);
        self.duration.0.saturating_mul(repeats)
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let all = (self.time(scale) + pool::OVERHEAD).saturating_mul(2);
        all.mul_f64(self.cell.len() as f64 / jobs.max(1) as f64)
    }

    pub(super) fn run(&self, bench: &Bench<'_>) -> anyhow::Result<()> {
        let mut jobs = Vec::new();
        for (index, cell) in self.cell.iter().enumerate() {
            let lab = bench.write(&format!("{}.lab.toml", cell.name()), &cell.toml(0.0))?;
            for rule in RULES {
                let arguments = format!(
                    "btc {} --option growth={rule} --repeat {} --duration {}s --seed {} --lab",
                    PAPER_RULES,
                    self.repeats(bench.scale),
                    self.duration.0.as_secs(),
                    bench.seed.wrapping_mul(100).wrapping_add(index as u64),
                );
                let arguments = arguments.split(' ').map(str::to_owned);
                jobs.push(Job {
                    name: name(cell, rule),
                    arguments: arguments.chain([lab.display().to_string()]).collect(),
                    expected: self.time(bench.scale),
                    is_heavy: cell.is_heavy(),
                });
            }
        }
        pool::run(bench, &jobs);
        Ok(())
    }

    /// Adds the case and the table.
    pub(super) fn add(&self, bench: &Bench<'_>, experiment: Experiment) -> Experiment {
        let name = "the same over UDP in labs, long transfers";
        let expected = "above 1";
        let mut table = Table::new("Over UDP in labs: means over repeats")
            .column("path", "")
            .column_of("per window", "Mbit/s", Source::Ours)
            .column_of("per acknowledgement", "Mbit/s", Source::Ours)
            .column("quotient", "");
        let mut logs = Vec::new();
        for cell in &self.cell {
            let [window, ack] = RULES.map(|rule| throughputs(bench, cell, rule));
            let mean = |of: &[f64]| stats::Distribution::of(of.iter().copied()).map(|of| of.mean);
            let quotient = mean(&window)
                .zip(mean(&ack))
                .map(|(one, other)| one / other);
            logs.extend(
                window
                    .iter()
                    .zip(&ack)
                    .map(|(one, other)| (one / other).ln()),
            );
            table = table.row([
                Entry::from(cell.to_string()),
                mean(&window).into(),
                mean(&ack).into(),
                quotient.into(),
            ]);
        }
        let case = match interval::mean(&logs, LEVEL) {
            None => Case::not_run(name, expected),
            Some(of) => {
                let [quotient, low, high] = [of.estimate, of.low, of.high].map(f64::exp);
                let found = format!("{quotient:.3} ({low:.3} to {high:.3}, n = {})", logs.len());
                Case::new(name, found, expected)
                    .holds(low > 1.0)
                    .figures(json!({ "quotient": quotient, "low": low, "high": high, "transfers": logs.len() }))
            }
        };
        experiment.case(case).table(table)
    }
}

fn name(cell: &Cell, rule: &str) -> String {
    format!("{}-{rule}", cell.name())
}

/// The throughputs of a lab's transfers by `rule`.
fn throughputs(bench: &Bench<'_>, cell: &Cell, rule: &str) -> Vec<f64> {
    let Outcome::Complete(record) = outcome(bench, &name(cell, rule)) else {
        return Vec::new();
    };
    let rows = record.rows::<Transfer>().unwrap_or_default();
    rows.iter().filter_map(|row| row.throughput_mbps).collect()
}
