//! The account: each run that was planned, and what became of it.

use crate::outcome::{Became, Outcome};
use crate::revisions::Due;
use crate::schedule::LeftOut;
use crate::{Moment, Name, RunId};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// An outcome may come so long after its run should have been over before it counts as missing.
const HAND_OVER: Duration = Duration::from_secs(30);

/// When a run counts as missing of which nobody has told.
pub(crate) fn overdue(due: &Due) -> Moment {
    due.over_by() + HAND_OVER
}

/// What became of a planned run, as far as is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It is not yet its time, or it is under way.
    Open,
    /// Nobody has said anything, and it should be over. Its agent may hand it over later.
    Missing,
    /// The schedule had no place for it.
    LeftOut(LeftOut),
    /// This.
    Known(Box<Outcome>),
}

/// A line of the account.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Which run.
    pub run: RunId,
    /// When it was to begin.
    pub begins: Moment,
    /// Whether an operator asked for it, and not the schedule.
    pub is_on_demand: bool,
    /// What became of it.
    pub fate: Fate,
}

/// All lines, and what there is beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// By when they were to begin.
    pub lines: Vec<Line>,
    /// Outcomes of runs that nobody had planned for that time.
    pub unplanned: Vec<Outcome>,
    /// Runs with more than one outcome.
    pub twice: Vec<RunId>,
    /// Runs of which somebody has told who is not their host; they count as if nobody had.
    pub forged: Vec<RunId>,
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// All that the file or an operator asks for.
    pub planned: u64,
    /// Of these, what an operator asked for: known by their outcomes.
    pub on_demand: u64,
    /// Measured.
    pub complete: u64,
    /// Cut short.
    pub incomplete: u64,
    /// The instrument was the bottleneck.
    pub invalid: u64,
    /// Nothing could be measured.
    pub failed: u64,
    /// Never begun.
    pub missed: u64,
    /// Without a place in the schedule.
    pub left_out: u64,
    /// Should be over, and nobody has said anything.
    pub missing: u64,
    /// Not over yet.
    pub open: u64,
}

impl Account {
    /// A line about what is not signed as it should be, if there is anything.
    pub fn words_of_forged(&self) -> Option<String> {
        let first = self.forged.first()?;
        let count = self.forged.len();
        Some(format!(
            "outcomes that do not have the signature of their host and do not count: {count}, {first} first"
        ))
    }

    /// That of what was `planned`, and what the schedule had no place for, by `outcomes`, at `now`. What operators asked for is known by its
    /// outcomes.
    pub fn of(
        planned: &[Due],
        left_out: &[(Due, LeftOut)],
        outcomes: Vec<Outcome>,
        now: Moment,
    ) -> Self {
        let mut account = Self::default();
        let mut known: HashMap<RunId, Outcome> = HashMap::new();
        for outcome in outcomes {
            let run = outcome.run.clone();
            if known.insert(run.clone(), outcome).is_some() {
                account.twice.push(run);
            }
        }
        for due in planned {
            let run = due.id();
            let fate = match known.remove(&run) {
                Some(outcome) => Fate::Known(Box::new(outcome)),
                None if now > overdue(due) => Fate::Missing,
                None => Fate::Open,
            };
            account.lines.push(Line {
                run,
                begins: due.run.begins,
                is_on_demand: false,
                fate,
            });
        }
        account.lines.extend(left_out.iter().map(|(due, why)| Line {
            run: due.id(),
            begins: due.run.begins,
            is_on_demand: false,
            fate: Fate::LeftOut(*why),
        }));
        let on_demand = known.extract_if(|_, outcome| outcome.on_demand);
        account.lines.extend(on_demand.map(|(run, outcome)| Line {
            run,
            begins: outcome.planned,
            is_on_demand: true,
            fate: Fate::Known(Box::new(outcome)),
        }));
        account
            .lines
            .sort_by(|a, b| (a.begins, &a.run).cmp(&(b.begins, &b.run)));
        account.unplanned = known.into_values().collect();
        account.unplanned.sort_by(|a, b| a.run.cmp(&b.run));
        account
    }

    /// How many of each.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.lines.iter().for_each(|line| counts.add(line));
        counts
    }

    /// How many of each, by measurement and pair.
    pub fn by_pair(&self) -> BTreeMap<[&str; 3], Counts> {
        let mut pairs: BTreeMap<_, Counts> = BTreeMap::new();
        for line in &self.lines {
            let run = &line.run;
            let pair = [&run.measure, &run.from, &run.to].map(Name::as_str);
            pairs.entry(pair).or_default().add(line);
        }
        pairs
    }
}

impl Counts {
    fn add(&mut self, line: &Line) {
        self.on_demand += u64::from(line.is_on_demand);
        match &line.fate {
            Fate::Open => self.add_run(None, false),
            Fate::Missing => self.add_run(None, true),
            Fate::LeftOut(_) => self.add_left_out(),
            Fate::Known(outcome) => self.add_run(Some(outcome.status), false),
        }
    }

    /// Counts a run without a place.
    pub(crate) const fn add_left_out(&mut self) {
        self.planned += 1;
        self.left_out += 1;
    }

    /// Counts a run that had a place: what became of it, or whether it should be over.
    pub(crate) const fn add_run(&mut self, became: Option<Became>, is_late: bool) {
        self.planned += 1;
        let count = match became {
            Some(Became::Complete) => &mut self.complete,
            Some(Became::Incomplete) => &mut self.incomplete,
            Some(Became::Invalid) => &mut self.invalid,
            Some(Became::Failed) => &mut self.failed,
            Some(Became::Missed) => &mut self.missed,
            None if is_late => &mut self.missing,
            None => &mut self.open,
        };
        *count += 1;
    }

    /// In words, without what there is none of.
    pub fn words(&self) -> String {
        let parts = [
            (self.complete, "complete"),
            (self.incomplete, "incomplete"),
            (self.invalid, "invalid"),
            (self.failed, "failed"),
            (self.missed, "missed"),
            (self.left_out, "left out"),
            (self.missing, "missing"),
            (self.open, "open"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<_> = parts
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let of_these = match self.on_demand {
            0 => String::new(),
            count => format!(" ({count} on demand)"),
        };
        format!("{} planned{of_these}: {}", self.planned, parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Times;
    use crate::revisions::{Document, Revisions, Whose};

    #[test]
    fn every_planned_run_has_a_line_and_nothing_else_does() {
        let file = "name = 'f'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[measure]]\nname = 'm'\nrun = 'btc'\n\
                    pairs = { mesh = ['all'] }\ntakes = '20s'\nevery = '1min'\npatience = '10s'";
        let since: Moment = "2026-11-25T08:00:00Z".parse().unwrap();
        let mut revisions = Revisions::new(Whose::All);
        let document = Document {
            file: file.to_owned(),
            since,
            paused: false,
        };
        revisions.push(document).unwrap();
        let end = since + Duration::from_secs(180);
        let (planned, left_out) = (
            revisions.between(since, end),
            revisions.left_out(since, end),
        );
        // One direction begins on time; the other would have to wait for 20 s, and waits for 10.
        assert_eq!((planned.len(), left_out.len()), (3, 3));
        let outcome = |run: RunId| {
            let times = Times {
                planned: since,
                began: None,
                ended: since,
            };
            Outcome::without_record(run, None, times, Became::Failed, "x".to_owned())
        };
        let first = planned[0].id();
        let mut other = first.clone();
        other.instant = other.instant + Duration::from_secs(1);
        let mut asked = other.clone();
        asked.measure = "asked".parse().unwrap();
        let asked = Outcome {
            on_demand: true,
            ..outcome(asked)
        };
        let outcomes = vec![
            outcome(first.clone()),
            outcome(first.clone()),
            outcome(other.clone()),
            asked,
        ];
        let account = Account::of(
            &planned,
            &left_out,
            outcomes,
            since + Duration::from_secs(130),
        );
        let expected = Counts {
            planned: 7,
            on_demand: 1,
            failed: 2,
            left_out: 3,
            missing: 1,
            open: 1,
            ..Counts::default()
        };
        assert_eq!(account.counts(), expected);
        assert_eq!(account.twice, [first]);
        assert_eq!(account.unplanned.len(), 1);
        assert_eq!(account.unplanned[0].run, other);
        assert_eq!(account.by_pair().len(), 3);
        assert_eq!(
            expected.words(),
            "7 planned (1 on demand): 2 failed, 3 left out, 1 missing, 1 open"
        );
    }
}
