//! What the repeats of each case said.

use super::VerdictCase;
use crate::experiment::Bench;
use crate::experiment::pool::shown;
use crate::experiment::repeats::{LeftOut, gather};
use record::{Record, Verdict};
use report::experiment::{Axis, Case, Experiment, Figure, Kind, Series, Table};
use schema::mbm::Summary;
use serde::Deserialize;
use serde_json::json;

/// Confidence of intervals.
const LEVEL: f64 = 0.95;

/// One run.
struct Run {
    verdict: Verdict,
    /// Loss or marks among the packets that decided, per cent.
    loss_pct: Option<f64>,
    packets: u64,
    seconds: f64,
    why: String,
}

/// A case with its runs.
pub(super) struct Found<'a> {
    case: &'a VerdictCase,
    runs: Vec<Run>,
    left_out: LeftOut,
    /// Of the first run.
    record: Option<String>,
}

impl<'a> Found<'a> {
    pub(super) fn of(bench: &Bench<'_>, case: &'a VerdictCase, repeats: usize) -> Self {
        let names = (0..repeats).map(|repeat| case.record(repeat));
        let (runs, left_out) = gather(bench, names, read);
        let record = runs.first().map(|(name, _)| shown(bench, name));
        Self {
            case,
            runs: runs.into_iter().map(|(_, run)| run).collect(),
            left_out,
            record,
        }
    }

    fn count(&self, verdict: Verdict) -> usize {
        let runs = self.runs.iter();
        runs.filter(|run| run.verdict == verdict).count()
    }

    fn mean(&self, of: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.runs.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The share of runs that said otherwise than expected, with its interval.
    fn errors(&self) -> Option<String> {
        let agree = self.count(self.case.expected?);
        let (runs, wrong) = (self.runs.len(), self.runs.len() - agree);
        let interval = stats::proportion::wilson(wrong as u64, runs as u64, LEVEL)?;
        let share = wrong as f64 / runs as f64;
        let [share, low, high] = [share, interval.low, interval.high].map(|of| 100.0 * of);
        Some(format!("{share:.1} ({low:.1} to {high:.1})"))
    }

    fn says(&self) -> String {
        let verdicts = [
            Verdict::Pass,
            Verdict::Fail,
            Verdict::Inconclusive,
            Verdict::Error,
        ];
        let said = verdicts.into_iter().filter_map(|verdict| {
            let count = self.count(verdict);
            (count > 0).then(|| format!("{count} {}", label(verdict)))
        });
        let said: Vec<_> = said.collect();
        format!("{} of {} runs", said.join(", "), self.runs.len())
    }

    fn judged(&self) -> Option<Case> {
        let case = self.case;
        let expected = case.expected?;
        let claim = format!(
            "{} in {:.0} % of runs{}{}",
            label(expected),
            case.share * 100.0,
            if case.source.is_empty() { "" } else { ": " },
            case.source
        );
        if self.runs.is_empty() {
            return Some(Case::not_run(&case.about, claim));
        }
        let agree = self.count(expected);
        let share = agree as f64 / self.runs.len() as f64;
        let judged = Case::new(&case.about, self.says(), claim)
            .holds(share >= case.share)
            .figures(json!({
                "agree": agree, "runs": self.runs.len(), "loss_pct": self.mean(|run| run.loss_pct),
            }));
        Some(match &self.record {
            Some(record) => judged.record(record.clone()),
            None => judged,
        })
    }
}

fn read(record: &Record) -> Option<Run> {
    let run = record.run();
    let summary: Summary = Deserialize::deserialize(&run.summary).ok()?;
    let test = summary.tests.first()?;
    let first = &test.result;
    let counts = first.figures.as_ref().map(|figures| figures.counts);
    let counts = counts.or_else(|| first.loss.as_ref().map(|loss| loss.counts))?;
    let share = counts.marks() as f64 * 100.0 / counts.packets.max(1) as f64;
    Some(Run {
        verdict: run.verdict?,
        loss_pct: (counts.packets > 0).then_some(share),
        packets: counts.packets,
        seconds: test.seconds,
        why: first.verdict.says.clone(),
    })
}

const fn label(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Inconclusive => "INCONCLUSIVE",
        Verdict::Error => "ERROR",
    }
}

/// Adds the answer, the cases, the figure and the table.
pub(super) fn add(mut experiment: Experiment, found: &[Found<'_>]) -> Experiment {
    let cases: Vec<Case> = found.iter().filter_map(Found::judged).collect();
    let holding = cases.iter().filter(|case| case.holds == Some(true)).count();
    experiment = experiment.summary(format!(
        "{holding} of {} expected verdicts are what the runs said.",
        cases.len()
    ));
    for case in cases {
        experiment = experiment.case(case);
    }
    experiment = experiment.figure(losses(found)).table(table(found));
    LeftOut::note(found.iter().map(|one| one.left_out), experiment)
}

/// The loss of every run, case by case.
fn losses(found: &[Found<'_>]) -> Figure {
    let names = found.iter().map(|one| one.case.name.clone());
    let mut points = Vec::new();
    let mut means = Vec::new();
    let mut intervals = Vec::new();
    for (index, one) in found.iter().enumerate() {
        let values: Vec<f64> = one.runs.iter().filter_map(|run| run.loss_pct).collect();
        points.extend(values.iter().map(|loss| (index as f64, *loss)));
        let Some(mean) = one.mean(|run| run.loss_pct) else {
            continue;
        };
        means.push((index as f64, mean));
        let interval = stats::interval::mean(&values, LEVEL);
        intervals.push(interval.map(|of| (of.low.max(0.0), of.high)));
    }
    let mut mean = Series::new("mean of the runs", Kind::Bars, means);
    mean.intervals = intervals;
    Figure::new("losses", "Packets lost or marked, by case")
        .caption("Each point is a run; the interval of the mean is at 95 % (Student's t).")
        .how_to("A case with no bar lost nothing.")
        .how_to("Runs that end early spread more: the sequential test ends when it knows the verdict, not the loss.")
        .x(Axis::of_categories("case", names))
        .y(Axis::new("lost or marked", "%"))
        .series(mean)
        .series(Series::new("a run", Kind::Points, points))
}

fn table(found: &[Found<'_>]) -> Table {
    let mut table = Table::new("Every case")
        .column("case", "")
        .column("expected", "")
        .column("PASS", "runs")
        .column("FAIL", "runs")
        .column("INCONCLUSIVE", "runs")
        .column("ERROR", "runs")
        .column("not as expected", "% (95 %)")
        .column("lost or marked", "%")
        .column("packets to a verdict", "")
        .column("time to a verdict", "s")
        .column("the first run said", "");
    for one in found {
        let why = one.runs.first().map(|run| run.why.clone());
        table = table.row([
            one.case.name.clone().into(),
            one.case.expected.map_or("", label).to_owned().into(),
            one.count(Verdict::Pass).into(),
            one.count(Verdict::Fail).into(),
            one.count(Verdict::Inconclusive).into(),
            one.count(Verdict::Error).into(),
            one.errors().into(),
            one.mean(|run| run.loss_pct).into(),
            one.mean(|run| Some(run.packets as f64)).into(),
            one.mean(|run| Some(run.seconds)).into(),
            report::experiment::Cell::from(why.unwrap_or_default()),
        ]);
    }
    table
}
