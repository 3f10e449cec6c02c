//! What a fleet knows of its paths: the latest estimates of each pair, for programs that ask for one.
//!
//! An answer has the fields of the manager's estimation service. That one measures when it is asked; a fleet measures by its schedule, and
//! what it knows is refused where it is older or less accurate than was asked for, in a line that says what there is.

use crate::outcome::{Became, Outcome};
use crate::{Moment, Name, RunId};
use schema::Direction;
use schema::estimate::Summary;
use schema::estimate::plan::{Method, What};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use units::Span;

/// Estimates of one measurement of a path that are kept beside each other: each newer one less accurate than those before it.
const MOST_OF_EACH: usize = 16;
/// Paths' properties that are kept in mind, some kilooctets each; more are not taken.
const MOST_PATHS: usize = 50_000;
/// Characters of why an estimate is not conclusive.
const LONGEST_REASON: usize = 200;
/// A clock may be ahead by so much.
const AHEAD: Duration = Duration::from_secs(3_600);
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
    /// There is none.
    #[error("{0}")]
    Unknown(String),
    /// What is known does not do.
    #[error("{0}")]
    Quality(String),
}

/// The latest estimates: of each property of each path, by the measurement of a fleet and the host that finds it.
#[derive(Debug, Default)]
pub(crate) struct Estimates(BTreeMap<Path, BTreeMap<[Name; 3], Vec<Answer>>>);

/// A property, and where the path begins and ends.
type Path = (&'static str, [Name; 2]);

impl Estimates {
    /// Takes what became of a run by `now`, if it is an estimate. Those before it go, if it is as good as they.
    pub(crate) fn take(&mut self, outcome: &Outcome, now: Moment) {
        let Some(mut answer) = answer(outcome).filter(|answer| answer.measured <= now + AHEAD)
        else {
            return;
        };
        answer.measured = answer.measured.min(now);
        let path = (answer.what.name(), [answer.from.clone(), answer.to.clone()]);
        if self.0.len() >= MOST_PATHS && !self.0.contains_key(&path) {
            return;
        }
        let RunId {
            fleet,
            measure,
            from,
            ..
        } = answer.run.clone();
        let of_path = self.0.entry(path).or_default();
        let known = of_path.entry([fleet, measure, from]).or_default();
        if known.iter().any(|known| known.replaces(&answer)) {
            return;
        }
        known.retain(|known| !answer.replaces(known));
        known.push(answer);
        known.sort_by_key(|known| known.measured);
        if known.len() > MOST_OF_EACH {
            known.remove(0);
        }
    }

    /// Forgets what was measured before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Moment) {
        for known in self.0.values_mut() {
            for answers in known.values_mut() {
                answers.retain(|answer| answer.measured >= horizon);
            }
            known.retain(|_, answers| !answers.is_empty());
        }
        self.0.retain(|_, known| !known.is_empty());
    }

    /// All of them, as of `now`.
    pub(crate) fn all(&self, now: Moment) -> impl Iterator<Item = Answer> {
        let known = self.0.values().flat_map(BTreeMap::values);
        known.flatten().map(move |answer| answer.clone().aged(now))
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
            .flat_map(|(_, answers)| answers)
            .map(|answer| answer.clone().aged(now))
            .collect();
        let will_do = known.iter().filter(|answer| answer.will_do(asked));
        let best = will_do.max_by_key(|answer| (answer.conclusive, answer.measured));
        match (best, known.iter().max_by_key(|answer| answer.measured)) {
            (Some(best), _) => Ok(best.clone()),
            (None, Some(last)) => Err(Refusal::Quality(last.not_enough(asked))),
            (None, None) => Err(Refusal::Unknown(self.unknown(asked))),
        }
    }

    fn unknown(&self, asked: &Asked) -> String {
        let is_by = |known: &BTreeMap<[Name; 3], _>| {
            let mut fleets = known.keys().map(|by| &by[0]);
            fleets.any(|by| asked.fleet.as_ref().is_none_or(|fleet| by == fleet))
        };
        let known = self.0.iter();
        let of_pair = known.filter(|((_, ends), known)| *ends == asked.ends && is_by(known));
        let names: Vec<_> = of_pair.map(|((what, _), _)| *what).collect();
        let known = if names.is_empty() {
            "plan an 'estimate' of this pair in the fleet file, or measure now: 'isobath fleet ask --measure'".to_owned()
        } else {
            format!(
                "known of this pair: {}; measure now: 'isobath fleet ask --measure'",
                names.join(", ")
            )
        };
        let ([from, to], what) = (&asked.ends, asked.what.name());
        format!("no estimate of '{what}' from '{from}' to '{to}' is known - {known}")
    }
}

impl Answer {
    fn aged(mut self, now: Moment) -> Self {
        self.quality.age_s = now.since(self.measured).as_secs_f64();
        self
    }

    /// Whether nobody needs `other` who has this one: it is as new, and as good.
    fn replaces(&self, other: &Self) -> bool {
        let width = |answer: &Self| answer.quality.interval_pct.unwrap_or(f64::INFINITY);
        let is_as_good = if other.conclusive {
            self.conclusive && width(self) <= width(other)
        } else {
            true
        };
        self.measured >= other.measured && is_as_good
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
        let accuracy = match (self.quality.interval_pct, self.value) {
            (Some(pct), _) => format!("within {pct:.1} %"),
            (None, Some(0.0)) => "zero, of which there is no percentage".to_owned(),
            (None, Some(_)) => "without an interval".to_owned(),
            (None, None) => format!(
                "not conclusive: {}",
                self.reason.as_deref().unwrap_or_default()
            ),
        };
        format!(
            "the last estimate of '{}' from '{}' to '{}' is {} old and {accuracy} - accept an older or less accurate one, measure now ('isobath fleet ask --measure'), or schedule it more often or with another estimator",
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
    let summary: Summary = Deserialize::deserialize(&outcome.summary).ok()?;
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
        unit: summary.what.unit().to_owned(),
        conclusive: finding.conclusive,
        reason: (!finding.conclusive).then(|| finding.says.chars().take(LONGEST_REASON).collect()),
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
pub(crate) mod tests;
