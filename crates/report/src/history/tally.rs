//! Runs, counted as they are read.

use jiff::Timestamp;
use record::{HistoryLine, HistoryTest, Verdict};
use std::collections::{BTreeMap, VecDeque};

/// Entries of all tracks together in a page; beyond it four of them become one.
const MOST_CELLS: usize = 40_000;
/// How many entries become one.
pub(super) const FACTOR: usize = 4;
/// Tests that have a track: RFC 8337 has twelve.
const MOST_TESTS: usize = 16;
/// Different reasons for having no verdict that are kept, and how many characters of each.
const MOST_FAILURES: usize = 64;
const LONGEST_FAILURE: usize = 300;
/// Names of the newest records that are kept.
const MOST_RECORDS: usize = 64;
/// PASS, FAIL, INCONCLUSIVE, ERROR, and none.
pub(super) const OUTCOMES: usize = 5;
/// FAIL, ERROR, INCONCLUSIVE, PASS, none.
const SEVEREST: [usize; OUTCOMES] = [1, 3, 2, 0, 4];

/// What some runs found in one test, or in all together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// How many runs had each verdict, in the order of [`outcome`].
    pub(super) says: [u64; OUTCOMES],
    pub(super) packets: u64,
    /// Packets that were lost or marked.
    pub(super) marks: u64,
    /// The highest share of them in a run, 0 to 1.
    pub(super) worst: Option<f64>,
}

impl Tally {
    pub(super) fn runs(&self) -> u64 {
        self.says.iter().sum()
    }

    /// A run with this verdict.
    fn one(outcome: usize) -> Self {
        let mut tally = Self::default();
        tally.says[outcome] = 1;
        tally
    }

    fn of_all(verdict: Option<Verdict>) -> Self {
        Self::one(outcome(verdict))
    }

    fn of_test(test: &HistoryTest) -> Self {
        let share = test.marks as f64 / test.packets as f64;
        Self {
            packets: test.packets,
            marks: test.marks,
            worst: (test.packets > 0).then_some(share),
            ..Self::of_all(Some(test.outcome))
        }
    }

    /// With what another stream of the same run found: the run says the worst of what its streams say.
    fn beside(&mut self, other: &Self) {
        let says = match SEVEREST
            .iter()
            .find(|outcome| self.says[**outcome] + other.says[**outcome] > 0)
        {
            Some(outcome) => Self::one(*outcome).says,
            None => self.says,
        };
        self.join(other);
        self.says = says;
    }

    /// With what other runs found.
    pub(super) fn join(&mut self, other: &Self) {
        for (own, others) in self.says.iter_mut().zip(other.says) {
            *own += others;
        }
        self.packets = self.packets.saturating_add(other.packets);
        self.marks = self.marks.saturating_add(other.marks);
        self.worst = match (self.worst, other.worst) {
            (Some(own), Some(others)) => Some(own.max(others)),
            (own, others) => own.or(others),
        };
    }
}

/// The place of a verdict in [`Tally::says`].
const fn outcome(verdict: Option<Verdict>) -> usize {
    match verdict {
        Some(Verdict::Pass) => 0,
        Some(Verdict::Fail) => 1,
        Some(Verdict::Inconclusive) => 2,
        Some(Verdict::Error) => 3,
        None => 4,
    }
}

/// Some runs, one behind the other.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// When the first of them began.
    pub(super) started: Timestamp,
    /// The folder of its record.
    pub(super) record: String,
    /// The whole runs.
    pub(super) all: Tally,
    /// By test, in the order of [`Tallies::tests`]; shorter when the rest did not take part.
    pub(super) tests: Vec<Tally>,
}

impl Entry {
    fn of(line: &HistoryLine, tests: &mut Vec<String>) -> Self {
        let mut tallies: Vec<Tally> = Vec::new();
        for test in &line.tests {
            let Some(place) = place(tests, &test.test) else {
                continue;
            };
            if tallies.len() <= place {
                tallies.resize(place + 1, Tally::default());
            }
            tallies[place].beside(&Tally::of_test(test));
        }
        Self {
            started: line.started,
            record: line.record.clone(),
            all: Tally::of_all(line.verdict),
            tests: tallies,
        }
    }

    /// With the runs of a later one.
    pub(super) fn join(&mut self, later: &Self) {
        self.all.join(&later.all);
        if self.tests.len() < later.tests.len() {
            self.tests.resize(later.tests.len(), Tally::default());
        }
        for (own, others) in self.tests.iter_mut().zip(&later.tests) {
            own.join(others);
        }
    }
}

/// The place of a test among those seen so far; `None` when there are too many.
fn place(tests: &mut Vec<String>, name: &str) -> Option<usize> {
    if let Some(place) = tests.iter().position(|seen| seen == name) {
        return Some(place);
    }
    (tests.len() < MOST_TESTS).then(|| {
        tests.push(name.to_owned());
        tests.len() - 1
    })
}

/// Why runs have no verdict.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) runs: u64,
    /// When the last of them began.
    pub(super) last: Timestamp,
}

/// All runs of a history.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    pub(super) entries: Vec<Entry>,
    /// Runs of an entry; the last may have fewer.
    pub(super) each: u64,
    /// Names of the tests.
    pub(super) tests: Vec<String>,
    pub(super) failures: BTreeMap<String, Failure>,
    pub(super) last: Option<HistoryLine>,
    newest: VecDeque<String>,
}

impl Tallies {
    pub(super) fn add(&mut self, line: HistoryLine) {
        self.each = self.each.max(1);
        self.fail(&line);
        let entry = Entry::of(&line, &mut self.tests);
        match self.entries.last_mut() {
            Some(last) if last.all.runs() < self.each => last.join(&entry),
            _ => self.entries.push(entry),
        }
        if self.entries.len() * (self.tests.len() + 1) > MOST_CELLS {
            self.entries = joined(&self.entries);
            self.each = self.each.saturating_mul(FACTOR as u64);
        }
        if self.newest.len() == MOST_RECORDS {
            self.newest.pop_front();
        }
        self.newest.push_back(line.record.clone());
        self.last = Some(line);
    }

    /// Names of the last records, the newest first.
    pub(super) fn newest_records(&self) -> impl Iterator<Item = &str> {
        self.newest.iter().rev().map(String::as_str)
    }

    fn fail(&mut self, line: &HistoryLine) {
        let Some(why) = &line.failure else { return };
        let why: String = why.chars().take(LONGEST_FAILURE).collect();
        let is_known = self.failures.contains_key(&why);
        if !is_known && self.failures.len() >= MOST_FAILURES {
            return;
        }
        let failure = self.failures.entry(why).or_insert(Failure {
            runs: 0,
            last: line.started,
        });
        failure.runs += 1;
        failure.last = line.started;
    }
}

/// A quarter of the entries.
pub(super) fn joined(entries: &[Entry]) -> Vec<Entry> {
    let join = |group: &[Entry]| {
        let (first, others) = group.split_first()?;
        let mut joined = first.clone();
        for entry in others {
            joined.join(entry);
        }
        Some(joined)
    };
    entries.chunks(FACTOR).filter_map(join).collect()
}
