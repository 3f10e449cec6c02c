//! A history, fine and coarse: the columns that a page draws.

use super::tally::{Entry, OUTCOMES, Tally, joined};
use crate::number::short;
use serde::Serialize;
use stats::proportion;

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;
/// A level with as few entries is the coarsest.
const FEWEST: usize = 100;

/// Lost or marked, with the exact interval; null without packets.
#[expect(clippy::struct_field_names, reason = "named as in records")]
#[derive(Serialize)]
pub(super) struct Share {
    observed_pct: f64,
    low_pct: f64,
    high_pct: f64,
}

impl Share {
    fn of(tally: &Tally) -> Option<Self> {
        let found = proportion::exact(tally.marks, tally.packets, CONFIDENCE)?;
        let pct = |share: f64| short(share * 100.0);
        Some(Self {
            observed_pct: pct(found.estimate),
            low_pct: pct(found.low),
            high_pct: pct(found.high),
        })
    }
}

/// A test over all runs, or all tests together.
#[derive(Serialize)]
pub(super) struct Track {
    /// The test; null for all together.
    test: Option<String>,
    runs: u64,
    packets: u64,
    marks: u64,
    share: Option<Share>,
    /// The highest share of a run.
    worst_pct: Option<f64>,
    /// The finest first.
    levels: Vec<Level>,
}

/// The entries of one level, figure by figure.
#[derive(Serialize)]
struct Level {
    /// Runs that say PASS, FAIL, INCONCLUSIVE, ERROR, and nothing; empty where none ever does.
    says: [Vec<u64>; OUTCOMES],
    /// Of all runs together these have no packets: all of the following are empty.
    packets: Vec<u64>,
    marks: Vec<u64>,
    low_pct: Vec<Option<f64>>,
    high_pct: Vec<Option<f64>>,
    /// Empty where each entry is one run.
    worst_pct: Vec<Option<f64>>,
}

impl Level {
    fn of(tallies: &[Tally]) -> Self {
        let has_packets = tallies.iter().any(|tally| tally.packets > 0);
        let is_single = tallies.iter().all(|tally| tally.runs() <= 1);
        let says = |outcome: usize| {
            let runs = tallies.iter().map(|tally| tally.says[outcome]);
            let all: Vec<u64> = runs.collect();
            if all.iter().all(|runs| *runs == 0) {
                Vec::new()
            } else {
                all
            }
        };
        let shown = if has_packets { tallies } else { &[] };
        let shares = || shown.iter().map(Share::of);
        let worst = if is_single { &[] } else { shown };
        let worst = worst.iter().map(|tally| tally.worst);
        Self {
            says: std::array::from_fn(says),
            packets: shown.iter().map(|tally| tally.packets).collect(),
            marks: shown.iter().map(|tally| tally.marks).collect(),
            low_pct: shares().map(|share| Some(share?.low_pct)).collect(),
            high_pct: shares().map(|share| Some(share?.high_pct)).collect(),
            worst_pct: worst.map(|share| Some(short(share? * 100.0))).collect(),
        }
    }
}

/// The tracks of a history: all tests together where there are several, and each test.
pub(super) fn tracks(entries: &[Entry], tests: &[String]) -> Vec<Track> {
    let mut levels = vec![entries.to_vec()];
    while let Some(finest) = levels.last().filter(|level| level.len() > FEWEST) {
        levels.push(joined(finest));
    }
    let all = (tests.len() != 1).then(|| track(None, &levels, |entry| entry.all));
    let each = tests
        .iter()
        .enumerate()
        .map(|(place, name)| track(Some(name.clone()), &levels, |entry| of_test(entry, place)));
    all.into_iter().chain(each).collect()
}

/// What the runs of an entry found in a test; those that did not make it have no verdict.
fn of_test(entry: &Entry, place: usize) -> Tally {
    let mut tally = entry.tests.get(place).copied().unwrap_or_default();
    let missing = entry.all.runs().saturating_sub(tally.runs());
    if let Some(none) = tally.says.last_mut() {
        *none += missing;
    }
    tally
}

fn track(test: Option<String>, levels: &[Vec<Entry>], tally: impl Fn(&Entry) -> Tally) -> Track {
    let tallies: Vec<Vec<Tally>> = levels
        .iter()
        .map(|entries| entries.iter().map(&tally).collect())
        .collect();
    let mut total = Tally::default();
    tallies
        .iter()
        .take(1)
        .flatten()
        .for_each(|one| total.join(one));
    Track {
        test,
        runs: total.runs(),
        packets: total.packets,
        marks: total.marks,
        share: Share::of(&total),
        worst_pct: total.worst.map(|share| short(share * 100.0)),
        levels: tallies.iter().map(|tallies| Level::of(tallies)).collect(),
    }
}
