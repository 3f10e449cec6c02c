//! The runs of one thing that was done again and again: those that count, and how many do not.

use super::Bench;
use super::pool::{Outcome, outcome};
use record::Record;
use report::experiment::Experiment;

/// Runs that are not counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct LeftOut {
    /// This machine was too busy for them, or they failed.
    useless: usize,
    /// They have not been made, or not to their end.
    missing: usize,
}

/// The runs of these names that count, as `read` has them, each with its name. What it cannot read does not count.
pub(super) fn gather<R>(
    bench: &Bench<'_>,
    names: impl IntoIterator<Item = String>,
    read: impl Fn(&Record) -> Option<R>,
) -> (Vec<(String, R)>, LeftOut) {
    let (mut runs, mut left_out) = (Vec::new(), LeftOut::default());
    for name in names {
        match outcome(bench, &name) {
            Outcome::Complete(record) => match read(&record) {
                Some(run) => runs.push((name, run)),
                None => left_out.useless += 1,
            },
            Outcome::Invalid | Outcome::Failed(_) => left_out.useless += 1,
            Outcome::Missing => left_out.missing += 1,
        }
    }
    (runs, left_out)
}

impl LeftOut {
    /// Says how many all these are.
    pub(super) fn note(
        all: impl Iterator<Item = Self> + Clone,
        experiment: Experiment,
    ) -> Experiment {
        let useless: usize = all.clone().map(|one| one.useless).sum();
        let missing: usize = all.map(|one| one.missing).sum();
        let notes = [
            (
                useless,
                "runs do not count: this machine was too busy for them, or they failed",
            ),
            (missing, "runs have not been made"),
        ];
        let notes = notes.into_iter().filter(|(count, _)| *count > 0);
        notes.fold(experiment, |experiment, (count, what)| {
            experiment.note(format!("{count} {what}."))
        })
    }
}
