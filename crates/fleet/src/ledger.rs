//! The ledger of an agent: what it has begun, ended and handed over.
//!
//! Each change is a line on disk before anything else happens, so that an agent which is killed at any moment knows afterwards what it was
//! about. A run that has a line is never begun again; one that was begun and not ended was cut short; one that was ended and not handed over
//! is handed over, as often as it takes, under its identity, so that it is there once. Runs that were due while nobody was there are found
//! by the schedule: up to [`Ledger::until`] each has a line.

use crate::outcome::Outcome;
use crate::{Moment, Name, RunId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of the ledger.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// A run begins.
    Began {
        /// Which.
        run: RunId,
        /// When, and why.
        #[serde(flatten)]
        beginning: Beginning,
    },
    /// It is over, or left out.
    Ended(Box<Outcome>),
    /// Its outcome is kept elsewhere now.
    Handed(RunId),
    /// All runs of a fleet that were to begin before this have a line.
    Until {
        /// The fleet.
        fleet: Name,
        /// The moment.
        at: Moment,
    },
}

/// How a run began.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Beginning {
    /// When it was to begin.
    pub planned: Moment,
    /// When it did.
    pub at: Moment,
    /// Whether an operator asked for it, and not the schedule.
    #[serde(default)]
    pub on_demand: bool,
}

/// How far a run has come.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Began(Beginning),
    Ended(Box<Outcome>),
    Handed,
}

/// All that the lines say together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    runs: BTreeMap<RunId, Stage>,
    until: BTreeMap<Name, Moment>,
}

impl Ledger {
    /// Takes a line. What does not fit what is known changes nothing: a run ends once, and is handed over after that.
    pub fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Began { run, beginning } => {
                self.runs.entry(run).or_insert(Stage::Began(beginning));
            }
            Entry::Ended(outcome) => {
                let run = outcome.run.clone();
                let stage = self
                    .runs
                    .entry(run)
                    .or_insert_with(|| Stage::Ended(outcome.clone()));
                if matches!(stage, Stage::Began(_)) {
                    *stage = Stage::Ended(outcome);
                }
            }
            Entry::Handed(run) => {
                // After a run that is unknown it stands alone: a shortened ledger says no more.
                let stage = self.runs.entry(run).or_insert(Stage::Handed);
                if matches!(stage, Stage::Ended(_)) {
                    *stage = Stage::Handed;
                }
            }
            Entry::Until { fleet, at } => {
                // The last word counts: a clock that was ahead may have been set back.
                self.until.insert(fleet, at);
            }
        }
    }

    /// Whether a run has a line: it must not begin.
    pub fn knows(&self, run: &RunId) -> bool {
        self.runs.contains_key(run)
    }

    /// Whether a run is over.
    pub fn has_ended(&self, run: &RunId) -> bool {
        matches!(self.runs.get(run), Some(Stage::Ended(_) | Stage::Handed))
    }

    /// Runs that have begun and not ended. For an agent that has just started: those cut short.
    pub fn begun(&self) -> impl Iterator<Item = (&RunId, Beginning)> {
        self.runs.iter().filter_map(|(run, stage)| match stage {
            Stage::Began(beginning) => Some((run, *beginning)),
            _ => None,
        })
    }

    /// What is still to be handed over.
    pub fn unhanded(&self) -> impl Iterator<Item = &Outcome> {
        self.runs.values().filter_map(|stage| match stage {
            Stage::Ended(outcome) => Some(&**outcome),
            _ => None,
        })
    }

    /// Up to when all runs of a fleet have a line.
    pub fn until(&self, fleet: &Name) -> Option<Moment> {
        self.until.get(fleet).copied()
    }

    /// Drops what nobody asks about any more: runs that were handed over and that were asked for before this moment.
    pub fn forget(&mut self, before: Moment) {
        self.runs.retain(|run, stage| {
            let is_old = run.instant < before;
            !(is_old && *stage == Stage::Handed)
        });
    }

    /// The fewest lines that say the same.
    pub fn lines(&self) -> Vec<Entry> {
        let mut lines = Vec::new();
        for (run, stage) in &self.runs {
            let run = run.clone();
            match stage {
                Stage::Began(beginning) => lines.push(Entry::Began {
                    run,
                    beginning: *beginning,
                }),
                Stage::Ended(outcome) => lines.push(Entry::Ended(outcome.clone())),
                Stage::Handed => lines.push(Entry::Handed(run)),
            }
        }
        let until = self.until.iter().map(|(fleet, at)| Entry::Until {
            fleet: fleet.clone(),
            at: *at,
        });
        lines.extend(until);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Became, Times};
    use proptest::prelude::*;

    fn run(number: u64) -> RunId {
        let mut run: RunId = "f.m.a.b.20261125T000000000Z".parse().unwrap();
        run.instant = Moment::from_millis(number);
        run
    }

    fn ended(number: u64, status: Became) -> Entry {
        let at = Moment::from_millis(number);
        let times = Times {
            planned: at,
            began: None,
            ended: at,
        };
        let outcome = Outcome::without_record(run(number), None, times, status, "x".to_owned());
        Entry::Ended(Box::new(outcome))
    }

    fn began(number: u64) -> Entry {
        let at = Moment::from_millis(number);
        Entry::Began {
            run: run(number),
            beginning: Beginning {
                planned: at,
                at,
                on_demand: number % 2 == 1,
            },
        }
    }

    #[test]
    fn a_run_ends_once_and_is_handed_over_after_that() {
        let mut ledger = Ledger::default();
        assert!(!ledger.knows(&run(1)));
        ledger.apply(began(1));
        ledger.apply(Entry::Handed(run(1)));
        assert_eq!(ledger.begun().count(), 1);
        ledger.apply(ended(1, Became::Failed));
        ledger.apply(ended(1, Became::Complete));
        ledger.apply(began(1));
        let outcomes: Vec<_> = ledger.unhanded().map(|outcome| outcome.status).collect();
        assert_eq!(outcomes, [Became::Failed]);
        ledger.apply(Entry::Handed(run(1)));
        ledger.apply(ended(1, Became::Complete));
        assert_eq!((ledger.unhanded().count(), ledger.begun().count()), (0, 0));
        assert!(ledger.knows(&run(1)));
    }

    #[test]
    fn a_line_of_before_runs_on_demand_is_read_and_one_of_now_says_which_it_was() {
        let old = r#"{"began":{"run":"f.m.a.b.20261125T000000000Z","planned":"2026-11-25T00:00:00Z","at":"2026-11-25T00:00:01Z"}}"#;
        let Entry::Began { beginning, .. } = serde_json::from_str(old).unwrap() else {
            panic!("{old}")
        };
        assert!(!beginning.on_demand);
        let new = serde_json::to_string(&began(1)).unwrap();
        assert!(new.contains("\"on_demand\":true"), "{new}");
        assert_eq!(serde_json::from_str::<Entry>(&new).unwrap(), began(1));
    }

    #[test]
    fn only_what_was_handed_over_is_forgotten() {
        let mut ledger = Ledger::default();
        for number in 1..=4 {
            ledger.apply(began(number));
        }
        for number in 2..=4 {
            ledger.apply(ended(number, Became::Missed));
        }
        ledger.apply(Entry::Handed(run(3)));
        ledger.apply(Entry::Handed(run(4)));
        ledger.forget(Moment::from_millis(4));
        let known: Vec<_> = (1..=4).map(|number| ledger.knows(&run(number))).collect();
        assert_eq!(known, [true, true, false, true]);
    }

    proptest! {
        #[test]
        fn a_shortened_ledger_says_the_same(lines in proptest::collection::vec((0_u8..4, 0_u64..6), 0..60)) {
            let mut ledger = Ledger::default();
            for (kind, number) in lines {
                ledger.apply(match kind {
                    0 => began(number),
                    1 => ended(number, Became::Missed),
                    2 if !ledger.knows(&run(number)) => continue,
                    2 => Entry::Handed(run(number)),
                    _ => Entry::Until { fleet: run(0).fleet, at: Moment::from_millis(number) },
                });
            }
            let mut shortened = Ledger::default();
            for line in ledger.lines() {
                let text = serde_json::to_string(&line).unwrap();
                shortened.apply(serde_json::from_str(&text).unwrap());
            }
            prop_assert_eq!(shortened, ledger);
        }
    }
}
