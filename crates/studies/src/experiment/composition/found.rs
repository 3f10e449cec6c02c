//! What the tests of the parts and of the whole say.

use super::{Cell, PATHS};
use crate::experiment::Bench;
use crate::experiment::place::per_cent;
use crate::experiment::pool::{Outcome, outcome};
use mbm::compose::loss_rate;
use record::Record;
use report::experiment::{Axis, Case, Experiment, Figure, Kind, Series, Source, Table};
use schema::mbm::Summary;
use serde::Deserialize;
use serde_json::json;
use stats::ks;

/// Below this probability two sets are told apart.
const SIGNIFICANT: f64 = 0.05;

/// Loss and number of packets of one test.
#[derive(Clone, Copy)]
struct Tested {
    loss: f64,
    packets: u64,
}

/// The tests of one path: its two parts and the whole.
pub(super) struct Found {
    cell: Cell,
    parts: [Vec<Tested>; 3],
}

/// The tests of all cells under a rule.
pub(super) fn all(bench: &Bench<'_>, cells: &[Cell], rule: &str, repeats: usize) -> Vec<Found> {
    let tests = |cell: &Cell, path: &str| {
        let names = (0..repeats).map(|repeat| cell.record(path, rule, repeat));
        let found = names.filter_map(|name| match outcome(bench, &name) {
            Outcome::Complete(record) => read(&record),
            _ => None,
        });
        found.collect::<Vec<_>>()
    };
    let found = cells.iter().map(|cell| Found {
        cell: *cell,
        parts: PATHS.map(|(path, ..)| tests(cell, path)),
    });
    found
        .filter(|found| found.parts.iter().all(|tests| !tests.is_empty()))
        .collect()
}

fn read(record: &Record) -> Option<Tested> {
    let summary: Summary = Deserialize::deserialize(&record.run().summary).ok()?;
    let counts = summary.tests.first()?.result.figures.as_ref()?.counts;
    (counts.packets > 0).then(|| Tested {
        loss: counts.marks() as f64 / counts.packets as f64,
        packets: counts.packets,
    })
}

impl Found {
    fn mean(&self, part: usize) -> f64 {
        let tests = &self.parts[part];
        tests.iter().map(|tested| tested.loss).sum::<f64>() / tests.len().max(1) as f64
    }

    /// The whole's loss by those of its parts, per cent.
    fn composed_pct(&self) -> f64 {
        100.0 * loss_rate([self.mean(0), self.mean(1)])
    }

    /// The whole's loss as it was measured, per cent.
    fn measured_pct(&self) -> f64 {
        100.0 * self.mean(2)
    }

    /// The whole's loss as it is emulated, per cent.
    fn true_pct(&self) -> f64 {
        100.0 * loss_rate(self.cell.0)
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Adds the answer, the cases, the figures and the table.
pub(super) fn add(
    experiment: Experiment,
    least: &[Found],
    sequential: &[Found],
    packets: u64,
) -> Experiment {
    let experiment = match bias(least) {
        None => experiment.summary("Nothing has been measured."),
        Some(bias) => experiment.summary(format!(
            "Over {} paths of two lossy links the composed loss differs from the measured by {:+.3} points on average.",
            least.len(),
            bias
        )),
    };
    experiment
        .case(alike(least))
        .case(bent(least, sequential, packets))
        .figure(quantiles(least, sequential, packets))
        .figure(sizes(sequential))
        .table(table(least))
}

/// Composed less measured, on average, in points.
fn bias(found: &[Found]) -> Option<f64> {
    let differences = found
        .iter()
        .map(|one| one.composed_pct() - one.measured_pct());
    (!found.is_empty()).then(|| differences.sum::<f64>() / found.len() as f64)
}

fn alike(least: &[Found]) -> Case {
    let name = "composed and measured losses of the whole are distributed alike";
    let expected = "a straight line in a Q-Q plot (thesis figure 4-7): not told apart (Kolmogorov-Smirnov, p >= 0.05)";
    let composed = sorted(least.iter().map(Found::composed_pct));
    let measured = sorted(least.iter().map(Found::measured_pct));
    let Some(test) = ks::two_sample(composed, measured) else {
        return Case::not_run(name, expected);
    };
    Case::new(
        name,
        format!("d = {:.2}, p = {:.2} (n = {})", test.d, test.p, least.len()),
        expected,
    )
    .holds(test.p >= SIGNIFICANT)
    .figures(json!({ "d": test.d, "p": test.p, "bias_points": bias(least) }))
}

/// The mean distance of single tests of the whole from the emulated loss, in points, and how many there were.
fn error(found: &[Found], counts: impl Fn(&Tested) -> bool) -> Option<(f64, usize)> {
    let errors: Vec<f64> = found
        .iter()
        .flat_map(|one| {
            one.parts[2]
                .iter()
                .filter(|t| counts(t))
                .map(|t| (100.0 * t.loss - one.true_pct()).abs())
        })
        .collect();
    (!errors.is_empty()).then(|| {
        (
            errors.iter().sum::<f64>() / errors.len() as f64,
            errors.len(),
        )
    })
}

fn bent(least: &[Found], sequential: &[Found], packets: u64) -> Case {
    let name = "a sequential test that ends early gets the loss wrong";
    let expected = format!(
        "tests of fewer than {packets} packets are farther from the true loss (thesis 4.4.3)"
    );
    let few = error(sequential, |tested| tested.packets < packets);
    match (few, error(least, |_| true)) {
        (Some((few, n)), Some((many, m))) => Case::new(
            name,
            format!("off by {few:.2} points (n = {n}); with at least {packets} packets by {many:.2} (n = {m})"),
            expected,
        )
        .holds(few > many)
        .figures(json!({ "few_points": few, "many_points": many })),
        _ => Case::not_run(name, expected),
    }
}

fn quantiles(least: &[Found], sequential: &[Found], packets: u64) -> Figure {
    let pairs = |found: &[Found]| {
        let composed = sorted(found.iter().map(Found::composed_pct));
        let measured = sorted(found.iter().map(Found::measured_pct));
        composed.into_iter().zip(measured).collect::<Vec<_>>()
    };
    let most = least
        .iter()
        .chain(sequential)
        .map(Found::composed_pct)
        .fold(0.0, f64::max);
    Figure::new("quantiles", "Quantiles of the composed loss against those of the measured")
        .caption("Each point is a quantile: the k-th smallest of both, one for each path; means over its repeats.")
        .how_to("On the line the losses of the parts compose to that of the whole.")
        .x(Axis::new("composed from a-b and b-c", "%"))
        .y(Axis::new("measured from a to c", "%"))
        .series(Series::new("equal", Kind::Line, [(0.0, 0.0), (most, most)]).source(Source::Paper))
        .series(Series::new("tests that ended when they could", Kind::Points, pairs(sequential)))
        .series(Series::new(format!("tests of at least {packets} packets"), Kind::Points, pairs(least)).source(Source::Ours))
}

fn sizes(sequential: &[Found]) -> Figure {
    let all = sequential
        .iter()
        .flat_map(|one| one.parts[2].iter().map(|tested| tested.packets as f64));
    let points = sequential.iter().flat_map(|one| {
        one.parts[2]
            .iter()
            .map(|tested| (one.true_pct(), tested.packets as f64))
    });
    let mut points: Vec<_> = points.collect();
    points.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let range = sorted(all);
    let told = range
        .first()
        .zip(range.last())
        .map_or_else(String::new, |(least, most)| {
            format!(" Here {least:.0} to {most:.0}; in the thesis 40 to 86,440 (figure 4-8).")
        });
    Figure::new("sizes", "Packets that a sequential test of the whole took")
        .caption(format!("Each point is a test.{told}"))
        .how_to("Between the good loss and the bad one a test takes longest.")
        .x(Axis::new("emulated loss from a to c", "%"))
        .y(Axis::new("packets to a verdict", "").log())
        .series(Series::new("a test", Kind::Points, points).source(Source::Ours))
}

fn table(least: &[Found]) -> Table {
    let mut table = Table::new("Every path: means over its repeats")
        .column("emulated a-b", "%")
        .column("emulated b-c", "%")
        .column("measured a-b", "%")
        .column("measured b-c", "%")
        .column("composed a-c", "%")
        .column("measured a-c", "%")
        .column("packets, a-c", "");
    for one in least {
        let [ab, bc] = one.cell.0.map(per_cent);
        let tests = &one.parts[2];
        let packets =
            tests.iter().map(|tested| tested.packets).sum::<u64>() as f64 / tests.len() as f64;
        let figures = [
            ab,
            bc,
            100.0 * one.mean(0),
            100.0 * one.mean(1),
            one.composed_pct(),
            one.measured_pct(),
            packets,
        ];
        table = table.row(figures);
    }
    table
}
