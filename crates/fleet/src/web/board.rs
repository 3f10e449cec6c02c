//! What is known of a fleet's runs: for each pair of each measurement its runs in the order of time, small enough to keep many.

use crate::figures::{main_figure, median};
use crate::file::Threshold;
use crate::outcome::{Became, Outcome};
use crate::{Moment, Name, RunId};
use kit::register::Register;
use record::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// Runs of a fleet that are kept in mind, some 100 octets each; of more the oldest go first.
const MOST_RUNS: usize = 500_000;
/// Characters of what agents say, which may be anything.
const LONGEST_REASON: usize = 200;
const LONGEST_UNIT: usize = 16;
/// Forged outcomes that are kept in mind.
const MOST_FORGED: usize = 10_000;

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) status: Became,
    pub(super) verdict: Option<Verdict>,
    /// Its main figure, if it is complete.
    pub(super) value: Option<f64>,
    /// Why it is not complete, or which threshold it is beyond.
    pub(super) reason: Option<Box<str>>,
    pub(super) is_beyond: bool,
    pub(super) has_record: bool,
}

/// What is to be thought of it at a glance.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Look {
    /// Measured, and nobody asked for more.
    Measured,
    Pass,
    Fail,
    /// Beyond a threshold of the fleet file.
    Beyond,
    /// There is no figure that counts, or no verdict.
    Undecided,
    /// Nothing was measured.
    Nothing,
}

impl Look {
    /// The class of elements that show it.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Pass => "pass",
            Self::Fail | Self::Beyond => "fail",
            Self::Undecided => "open",
            Self::Nothing => "error",
        }
    }

    /// Whether somebody should see to it.
    pub(super) const fn is_bad(self) -> bool {
        !matches!(self, Self::Measured | Self::Pass)
    }
}

impl Told {
    fn of(outcome: &Outcome, value: Option<f64>, beyond: &[String]) -> Self {
        let beyond = (!beyond.is_empty()).then(|| beyond.join(", "));
        let reason = outcome.reason.as_deref().or(beyond.as_deref());
        Self {
            status: outcome.status,
            verdict: outcome.verdict,
            value,
            reason: reason.map(|reason| cut(reason, LONGEST_REASON).into()),
            is_beyond: beyond.is_some(),
            has_record: !outcome.files.is_empty(),
        }
    }

    pub(super) const fn look(&self) -> Look {
        match (self.status, self.verdict) {
            (Became::Failed | Became::Missed, _) => Look::Nothing,
            (Became::Complete, Some(Verdict::Fail)) => Look::Fail,
            (Became::Complete, _) if self.is_beyond => Look::Beyond,
            (Became::Complete, None) => Look::Measured,
            (Became::Complete, Some(Verdict::Pass)) => Look::Pass,
            (Became::Complete, Some(Verdict::Inconclusive | Verdict::Error))
            | (Became::Incomplete | Became::Invalid, _) => Look::Undecided,
        }
    }
}

/// The beginning of `text`.
fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The runs of a pair, by the instant that the fleet file asks for each.
pub(super) type Runs = BTreeMap<Moment, Told>;

/// The runs of a measurement.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Name and unit of the main figure, as far as one is known.
    pub(super) figure: Option<[String; 2]>,
    /// By the host that measures, and the one that it measures towards.
    pub(super) pairs: BTreeMap<[Name; 2], Runs>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Board {
    pub(super) measures: BTreeMap<Name, Measured>,
    /// Runs of which somebody has told who is not their host.
    pub(super) forged: BTreeSet<RunId>,
    /// From when on all is known.
    pub(super) since: Moment,
    runs: usize,
}

impl Board {
    /// One that knows all from `since` on.
    pub(super) fn new(since: Moment) -> Self {
        Self {
            since,
            ..Self::default()
        }
    }

    /// Takes what became of a run; to be told again changes nothing.
    pub(super) fn take(
        &mut self,
        outcome: &Outcome,
        register: &Register,
        thresholds: &[Threshold],
    ) {
        if outcome.run.instant < self.since {
            return;
        }
        let test = outcome.test.as_deref().unwrap_or_default();
        let found = (outcome.status == Became::Complete)
            .then(|| main_figure(register, test, &outcome.summary))
            .flatten();
        let run = &outcome.run;
        let measured = self.measures.entry(run.measure.clone()).or_default();
        let held = outcome.held_against(thresholds, register);
        let beyond: Vec<_> = held.into_iter().filter_map(|(_, beyond)| beyond).collect();
        let told = Told::of(outcome, found.as_ref().map(|found| found.value), &beyond);
        if let Some(found) = found {
            measured.figure = Some([found.name, cut(&found.unit, LONGEST_UNIT)]);
        }
        let pair = [run.from.clone(), run.to.clone()];
        let runs = measured.pairs.entry(pair).or_default();
        self.runs += usize::from(runs.insert(run.instant, told).is_none());
    }

    /// Takes that somebody else than its host has told of a run.
    pub(super) fn take_forged(&mut self, run: RunId) {
        if self.forged.len() < MOST_FORGED {
            self.forged.insert(run);
        }
    }

    /// What became of a run, if it is known.
    pub(super) fn status(&self, run: &RunId) -> Option<Became> {
        let measured = self.measures.get(&run.measure)?;
        let pair = [run.from.clone(), run.to.clone()];
        Some(measured.pairs.get(&pair)?.get(&run.instant)?.status)
    }

    /// Forgets what was before `horizon`, and as much more as there is no room for at `now`.
    pub(super) fn forget(&mut self, horizon: Moment, now: Moment) {
        let mut horizon = horizon.max(self.since);
        self.forget_before(horizon);
        while self.runs > MOST_RUNS && horizon < now {
            horizon = horizon + (now.since(horizon) / 8).max(std::time::Duration::from_secs(1));
            self.forget_before(horizon);
        }
        self.forged.retain(|run| run.instant >= horizon);
        self.since = horizon;
    }

    fn forget_before(&mut self, horizon: Moment) {
        for measured in self.measures.values_mut() {
            for runs in measured.pairs.values_mut() {
                *runs = runs.split_off(&horizon);
            }
            measured.pairs.retain(|_, runs| !runs.is_empty());
        }
        self.measures
            .retain(|_, measured| !measured.pairs.is_empty());
        let pairs = self
            .measures
            .values()
            .flat_map(|measured| measured.pairs.values());
        self.runs = pairs.map(Runs::len).sum();
    }
}

/// The middle of the figures of these runs.
pub(super) fn median_of<'a>(runs: impl IntoIterator<Item = &'a Told>) -> Option<f64> {
    median(runs.into_iter().filter_map(|told| told.value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/fleet.md says how much memory the page needs.
    #[test]
    fn a_run_takes_no_more_memory_than_is_said() {
        let run = size_of::<(Moment, Told)>();
        assert!(run <= 64, "{run}");
    }
}
