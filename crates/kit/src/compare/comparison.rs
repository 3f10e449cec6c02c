//! The comparison itself: means, differences and their intervals. This is what `--json` prints.

use super::figures::Figure;
use super::groups::{Group, Member, labels};
use super::interval::{CONFIDENCE, Interval, of_difference, of_mean};
use crate::register::Register;
use record::Status;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The schema of a comparison.
const SCHEMA: &str = "isobath.comparison/1";

/// Several groups of runs, figure by figure.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Always [`SCHEMA`].
    schema: &'static str,
    /// The confidence of every interval.
    confidence: f64,
    /// The group that others are compared with, by index: the first that has runs.
    pub reference: usize,
    /// The groups.
    pub groups: Vec<Kind>,
    /// The figures.
    pub figures: Vec<Row>,
    /// Runs that are not in the means.
    pub left_out: Vec<LeftOut>,
}

/// A group.
#[derive(Debug, Serialize)]
pub struct Kind {
    /// What distinguishes it from the others.
    pub name: String,
    /// Records whose figures are in its means.
    pub runs: Vec<PathBuf>,
    /// How many runs it has in all.
    pub of: usize,
}

/// A figure.
#[derive(Debug, Serialize)]
pub struct Row {
    /// For people.
    pub name: String,
    /// Empty for a pure number.
    pub unit: String,
    /// Where it is in `summary`.
    path: String,
    /// In each group; null where no run has it.
    pub groups: Vec<Option<Estimate>>,
    /// Of each group to the reference; null for the reference itself, and where either has no value.
    pub differences: Vec<Option<Shift>>,
}

/// The mean of a figure over a group's runs.
#[derive(Debug, Serialize)]
pub struct Estimate {
    /// How many runs have it.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Lower end of its interval; null with one run.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What each run says, in their order.
    values: Vec<f64>,
}

/// How much higher a group's mean is than the reference's.
#[derive(Debug, Serialize)]
pub struct Shift {
    /// Negative when it is lower.
    pub difference: f64,
    /// Lower end of its interval; null with one run in either group.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether the interval says that there is one; null without an interval.
    pub seen: Option<bool>,
}

/// A run that is not in the means.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    /// Its record, or where that was to be.
    pub run: PathBuf,
    /// The group it belongs to, by index.
    pub group: usize,
    /// Its status; null without a record.
    pub status: Option<Status>,
    /// Why.
    pub reason: String,
}

impl Comparison {
    /// Compares `groups` by their complete runs, or, if `all`, by every run that has figures.
    pub fn of(register: &Register, groups: &[Group], all: bool) -> Self {
        let used: Vec<Vec<&Member>> = groups
            .iter()
            .map(|group| group.members.iter().filter(|run| run.counts(all)).collect())
            .collect();
        let reference = used.iter().position(|runs| !runs.is_empty()).unwrap_or(0);
        let summaries: Vec<&Value> = used.iter().flatten().map(|run| &run.summary).collect();
        let tests: BTreeSet<&str> = used.iter().flatten().map(|run| &*run.test).collect();
        let measurements: Vec<_> = tests
            .iter()
            .filter_map(|test| register.of_test(test).ok())
            .collect();
        let kinds = groups.iter().zip(labels(groups)).zip(&used);
        let left_out = groups.iter().enumerate().flat_map(|(index, group)| {
            let out = group.members.iter().filter(|run| !run.counts(all));
            out.map(move |run| LeftOut::of(run, index))
        });
        Self {
            schema: SCHEMA,
            confidence: CONFIDENCE,
            reference,
            groups: kinds
                .map(|((group, name), used)| Kind {
                    name,
                    runs: used.iter().map(|run| run.folder.clone()).collect(),
                    of: group.members.len(),
                })
                .collect(),
            figures: Figure::of(&measurements, &summaries)
                .iter()
                .map(|figure| Row::of(figure, &used, reference))
                .collect(),
            left_out: left_out.collect(),
        }
    }

    /// Whether any run is in it.
    pub fn has_runs(&self) -> bool {
        self.groups.iter().any(|kind| !kind.runs.is_empty())
    }
}

impl Member {
    fn counts(&self, all: bool) -> bool {
        self.status == Some(Status::Complete) || all && self.has_figures()
    }

    /// A run that was killed has no summary until somebody looks at it.
    fn has_figures(&self) -> bool {
        self.summary
            .as_object()
            .is_some_and(|summary| !summary.is_empty())
    }
}

impl LeftOut {
    fn of(run: &Member, group: usize) -> Self {
        Self {
            run: run.folder.clone(),
            group,
            status: run.status,
            reason: run.reason.clone().unwrap_or_default(),
        }
    }
}

impl Row {
    fn of(figure: &Figure, used: &[Vec<&Member>], reference: usize) -> Self {
        let values: Vec<Vec<f64>> = used
            .iter()
            .map(|runs| {
                let values = runs.iter().filter_map(|run| figure.value(&run.summary));
                values.collect()
            })
            .collect();
        let base = values.get(reference).map_or(&[][..], Vec::as_slice);
        let difference = |(number, values): (usize, &Vec<f64>)| {
            let found = (number != reference).then(|| of_difference(values, base));
            found.flatten().map(Shift::from)
        };
        Self {
            name: figure.name.clone(),
            unit: figure.unit.clone(),
            path: figure.formula(),
            differences: values.iter().enumerate().map(difference).collect(),
            groups: values.iter().map(|values| Estimate::of(values)).collect(),
        }
    }
}

impl Estimate {
    fn of(values: &[f64]) -> Option<Self> {
        let Interval { mean, ends } = of_mean(values)?;
        Some(Self {
            n: values.len(),
            mean,
            low: ends.map(|(low, _)| low),
            high: ends.map(|(_, high)| high),
            values: values.to_vec(),
        })
    }
}

impl From<Interval> for Shift {
    fn from(Interval { mean, ends }: Interval) -> Self {
        Self {
            difference: mean,
            low: ends.map(|(low, _)| low),
            high: ends.map(|(_, high)| high),
            seen: ends.map(|(low, high)| low > 0.0 || high < 0.0),
        }
    }
}
