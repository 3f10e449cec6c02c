//! What a fleet knows of its paths: the latest estimates of each pair, for programs that ask for one.
//!
//! An answer has the fields of the manager's estimation service. That one measures when it is asked; a fleet measures by its schedule, and
//! what it knows is refused where it is older or less accurate than was asked for, in a line that says what there is.

use crate::outcome::{Became, Outcome};
use crate::{Moment, Name, RunId};
use schema::Direction;
use schema::estimate::Summary;
use schema::estimate::plan::{Method, What};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use units::Span;

/// An estimate as old as this will do, where nothing else is said.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(3_600);

/// What somebody wants to know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) what: What,
    /// Where the path begins, and where it ends.
    pub(crate) ends: [Name; 2],
    /// Only by this fleet.
    pub(crate) fleet: Option<Name>,
    pub(crate) max_age: Duration,
    /// The interval's half-width, in percent of the value.
    pub(crate) within_pct: Option<f64>,
}

/// What is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Answer {
    pub(crate) what: What,
    pub(crate) from: Name,
    pub(crate) to: Name,
    /// Null when there is none to be believed.
    pub(crate) value: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) unit: String,
    pub(crate) conclusive: bool,
    /// Why it is not conclusive.
    pub(crate) reason: Option<String>,
    pub(crate) estimator: Method,
    /// When the run was over.
    pub(crate) measured: Moment,
    pub(crate) quality: Quality,
    pub(crate) seconds: f64,
    /// The run that found it.
    pub(crate) run: RunId,
}

/// How good it is, and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Quality {
    pub(crate) age_s: f64,
    pub(crate) interval_pct: Option<f64>,
    pub(crate) overhead_bytes: u64,
    pub(crate) rider_bytes: u64,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    /// Nobody has measured it in the time that is known.
    #[error("nobody has measured '{what}' from '{from}' to '{to}' - {known}")]
    Unknown {
        what: &'static str,
        from: Name,
        to: Name,
        known: String,
    },
    /// What is known does not do.
    #[error("{0}")]
    Quality(String),
}

/// The latest estimates: of each property of each path, by the measurement of a fleet that finds it.
#[derive(Debug, Default)]
pub(crate) struct Estimates(BTreeMap<Path, BTreeMap<[Name; 2], Answer>>);

/// A property, and where the path begins and ends.
type Path = (&'static str, [Name; 2]);

impl Estimates {
    /// Takes what became of a run, if it is the latest estimate of its measurement.
    pub(crate) fn take(&mut self, outcome: &Outcome) {
        let Some(answer) = answer(outcome) else {
            return;
        };
        let path = (answer.what.name(), [answer.from.clone(), answer.to.clone()]);
        let by = [outcome.run.fleet.clone(), outcome.run.measure.clone()];
        let known = self.0.entry(path).or_default();
        if known
            .get(&by)
            .is_none_or(|known| known.measured <= answer.measured)
        {
            known.insert(by, answer);
        }
    }

    /// Forgets what was measured before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Moment) {
        for known in self.0.values_mut() {
            known.retain(|_, answer| answer.measured >= horizon);
        }
        self.0.retain(|_, known| !known.is_empty());
    }

    /// All of them, as of `now`.
    pub(crate) fn all(&self, now: Moment) -> impl Iterator<Item = Answer> {
        let known = self.0.values().flat_map(BTreeMap::values);
        known.map(move |answer| answer.clone().aged(now))
    }

    /// The best that is known and will do: a conclusive one before others, a later before an earlier one.
    ///
    /// # Errors
    /// When nothing is known, or nothing that is good enough.
    pub(crate) fn answer(&self, asked: &Asked, now: Moment) -> Result<Answer, Refusal> {
        let known = self.0.get(&(asked.what.name(), asked.ends.clone()));
        let known = known.into_iter().flatten();
        let known: Vec<_> = known
            .filter(|(by, _)| asked.fleet.as_ref().is_none_or(|fleet| by[0] == *fleet))
            .map(|(_, answer)| answer.clone().aged(now))
            .collect();
        let will_do = known.iter().filter(|answer| answer.will_do(asked));
        let best = will_do.max_by_key(|answer| (answer.conclusive, answer.measured));
        match (best, known.iter().max_by_key(|answer| answer.measured)) {
            (Some(best), _) => Ok(best.clone()),
            (None, Some(last)) => Err(Refusal::Quality(last.not_enough(asked))),
            (None, None) => Err(self.unknown(asked)),
        }
    }

    fn unknown(&self, asked: &Asked) -> Refusal {
        let of_pair = self.0.keys().filter(|(_, ends)| *ends == asked.ends);
        let names: Vec<_> = of_pair.map(|(what, _)| *what).collect();
        let [from, to] = asked.ends.clone();
        let known = if names.is_empty() {
            "plan an 'estimate' of this pair in the fleet file".to_owned()
        } else {
            format!("known of this pair: {}", names.join(", "))
        };
        Refusal::Unknown {
            what: asked.what.name(),
            from,
            to,
            known,
        }
    }
}

impl Answer {
    fn aged(mut self, now: Moment) -> Self {
        self.quality.age_s = now.since(self.measured).as_secs_f64();
        self
    }

    fn will_do(&self, asked: &Asked) -> bool {
        let is_new = self.quality.age_s <= asked.max_age.as_secs_f64();
        let pct = self.quality.interval_pct;
        let is_accurate = asked
            .within_pct
            .is_none_or(|within| pct.is_some_and(|pct| pct <= within));
        is_new && is_accurate
    }

    /// Why it will not do.
    fn not_enough(&self, asked: &Asked) -> String {
        let pct = self.quality.interval_pct;
        let accuracy = pct.map_or_else(
            || "has no interval".to_owned(),
            |pct| format!("is within {pct:.1} %"),
        );
        format!(
            "the last estimate of '{}' from '{}' to '{}' is {} old and {accuracy} - ask for less, or plan it more often or by another estimator",
            asked.what.name(),
            self.from,
            self.to,
            self.age()
        )
    }

    /// Its age, in words: seconds, and after some minutes whole minutes.
    fn age(&self) -> String {
        let unit = if self.quality.age_s < 600.0 {
            1.0
        } else {
            60.0
        };
        let age = (self.quality.age_s / unit).round() * unit;
        Span(Duration::try_from_secs_f64(age).unwrap_or_default()).words()
    }

    /// In a line.
    pub(crate) fn words(&self) -> String {
        let (what, unit) = (self.what.name(), &self.unit);
        let figure = |value: Option<f64>| value.map(|value| format!("{value:.2}"));
        let value = figure(self.value).map_or_else(
            || format!("none: {}", self.reason.as_deref().unwrap_or_default()),
            |value| format!("{value} {unit}"),
        );
        let range = figure(self.low).zip(figure(self.high));
        let range = range.filter(|_| self.value.is_some());
        let range = range.map_or_else(String::new, |(low, high)| format!(" ({low} to {high})"));
        format!(
            "{what} {} to {}: {value}{range}; {} old, by {}, run {}",
            self.from,
            self.to,
            self.age(),
            self.estimator.name(),
            self.run
        )
    }
}

/// The estimate in an outcome; none of another measurement, or of a run that was not complete.
fn answer(outcome: &Outcome) -> Option<Answer> {
    let is_estimate = outcome.test.as_deref() == Some("estimate");
    if !is_estimate || outcome.status != Became::Complete {
        return None;
    }
    let summary: Summary = serde_json::from_value(outcome.summary.clone()).ok()?;
    let run = &outcome.run;
    let mut ends = [run.from.clone(), run.to.clone()];
    if summary.direction == Direction::Down.label() {
        ends.reverse();
    }
    let [from, to] = ends;
    let finding = summary.finding;
    let value = finding.value.filter(|_| finding.conclusive);
    let range = value.zip(finding.low.zip(finding.high));
    let interval_pct = range
        .filter(|(value, _)| *value != 0.0)
        .map(|(value, (low, high))| (high - low) / 2.0 / value.abs() * 100.0);
    Some(Answer {
        what: summary.what,
        from,
        to,
        value,
        low: finding.low,
        high: finding.high,
        unit: summary.unit,
        conclusive: finding.conclusive,
        reason: (!finding.conclusive).then_some(finding.says),
        estimator: summary.estimator,
        measured: outcome.ended,
        quality: Quality {
            age_s: 0.0,
            interval_pct,
            overhead_bytes: summary.overhead_bytes,
            rider_bytes: summary.rider_bytes,
        },
        seconds: summary.seconds,
        run: run.clone(),
    })
}

#[cfg(test)]
mod tests;
