//! What D claims, claim by claim, and whether it holds here.
//!
//! D judges curves by eye and gives no thresholds. Those here (10 points, 2 %, half) are ours, and each case says its own. An
//! ordering is expected to hold; D's numbers stand beside what was found for the reader.

mod free;
mod queue;
mod rtt;
mod whole;

use super::curve::Curve;
use super::found::{Found, Group};
use super::hour::Hour;
use super::measured::{LONG_MS, Pooled, long_packets};
use super::{CONTROL, Cell, Mode, Replays};
use Mode::{Constrained, Unconstrained};
use report::experiment::{Case, Experiment};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use units::Rate;
use vectors::model::rtt::Model;
use vectors::model::{Structure, Windows};

/// Fewer connections in a run than this say nothing of a distribution.
const FEWEST: usize = 200;
/// D's four structures, from the crudest to the control.
const LADDER: [Structure; 4] = [
    Structure::BlockConcurrent,
    Structure::BlockSequential,
    Structure::AB,
    Structure::ATBT,
];
/// D's three models of round trips, from the lightest to the heaviest.
const CORE: [Model; 3] = [Model::Usernet, Model::Mean, Model::TenPaths];

/// Models of which one delivered so many per cent more octets than another carried different loads.
const UNEQUAL_PCT: f64 = 3.0;
/// Where only connections are played that last for less than this, little can be told of those that D's longest are most of (its mean is
/// 33 s).
const LONG_S: f64 = 600.0;

/// What came of a claim.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    found: String,
    /// None when it cannot be told at this scale.
    holds: Option<bool>,
    figures: Value,
}

impl Told {
    fn new(holds: bool, found: impl Into<String>, figures: Value) -> Self {
        Self {
            found: found.into(),
            holds: Some(holds),
            figures,
        }
    }

    /// When it `holds` in all runs, or in none, or in some.
    fn of(holds: Option<bool>, found: impl Into<String>, figures: Value) -> Self {
        let found = found.into();
        match holds {
            Some(holds) => Self::new(holds, found, figures),
            None => Self::cannot(format!("{found}; the runs do not agree on it"), figures),
        }
    }

    fn cannot(why: impl Into<String>, figures: Value) -> Self {
        Self {
            found: why.into(),
            holds: None,
            figures,
        }
    }
}

impl Told {
    /// The same, but not that it holds when some structure, free, carried more in the window than the constrained link does at
    /// all: what it then suffers is that load, not its structure. What does not hold even so, does not hold.
    fn unless_overloaded(mut self, found: &Found, rtt: Model) -> Self {
        let loads = LADDER.map(|structure| {
            let of = found.get(Cell::new(structure, rtt), Unconstrained);
            of.map_or(0.0, |of| of.mbps)
        });
        let most = loads.into_iter().fold(0.0, f64::max);
        let Some(rate) = found.rate().map(Rate::as_mbps).filter(|rate| most > *rate) else {
            return self;
        };
        self.figures["loads_mbps"] = json!(loads);
        self.figures["link_mbps"] = json!(rate);
        if self.holds == Some(true) {
            self.holds = None;
            self.found = format!(
                "{}; but free, {rtt}, up to {most:.1} Mbit/s were carried, more than the link's {rate:.1}, so this is load and not structure alone",
                self.found
            );
        }
        self
    }

    /// The same, if the models that are compared delivered as many octets; else nothing is told. Where connections are cut at the end of
    /// an hour, D compares windows all the same: small ones leave more to be delivered then (section 6.3.2).
    fn if_equal(mut self, claim: &Claim, found: &Found) -> Self {
        let groups = found.groups.iter().filter(|group| claim.compares(group));
        let octets: Vec<f64> = groups.map(|group| group.pooled.octets).collect();
        let most = octets.iter().copied().fold(0.0, f64::max);
        let least = octets.iter().copied().fold(most, f64::min);
        if most - least > most * UNEQUAL_PCT / 100.0 {
            self.figures["octets_delivered"] = json!([least, most]);
            if found.longest_s.is_infinite() && claim.compares_windows() {
                return self;
            }
            self.holds = None;
            self.found = format!(
                "{}; but between {:.1} and {:.1} MB were delivered, so loads differ and not models alone",
                self.found,
                least * 1e-6,
                most * 1e-6
            );
        }
        self
    }
}

/// A claim.
struct Claim {
    /// Its number, as in the documents.
    number: u32,
    name: &'static str,
    /// What D says, and when it holds here.
    expected: &'static str,
    /// The models without which it cannot be told.
    needs: &'static [Cell],
    /// What it compares beside these.
    among: Among,
    modes: &'static [Mode],
    /// Nothing when a run that it needs is missing.
    judge: fn(&Found) -> Option<Told>,
}

/// What a claim compares beside the models that it needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Among {
    Nothing,
    /// Every structure with every one of [`CORE`], as far as they were run.
    Grid,
}

impl Claim {
    fn compares_windows(&self) -> bool {
        let is_fixed = |cell: &Cell| cell.windows != Windows::Empirical;
        self.needs.iter().any(is_fixed)
    }

    fn compares(&self, group: &Group) -> bool {
        let cell = group.cell;
        let in_grid = CORE.contains(&cell.rtt) && cell == Cell::new(cell.structure, cell.rtt);
        let is_among = self.among == Among::Grid && in_grid;
        self.modes.contains(&group.mode) && (is_among || self.needs.contains(&cell))
    }
}

fn all() -> impl Iterator<Item = &'static Claim> {
    let parts = [rtt::CLAIMS, free::CLAIMS, queue::CLAIMS, whole::CLAIMS];
    let mut claims: Vec<&Claim> = parts.into_iter().flatten().collect();
    claims.sort_by_key(|claim| claim.number);
    claims.into_iter()
}

/// Adds the answer, and each claim that this study's models can tell.
pub(super) fn add(mut experiment: Experiment, replays: &Replays, found: &Found) -> Experiment {
    let played = replays.cells();
    let told = all().filter(|claim| claim.needs.iter().all(|cell| played.contains(cell)));
    let cases: Vec<Case> = told.map(|claim| case(claim, found)).collect();
    let count = |verdict: Option<bool>| {
        let same = |case: &&Case| case.holds == verdict;
        cases.iter().filter(same).count()
    };
    let undecided = match count(None) {
        0 => String::new(),
        some => format!("; {some} cannot be told at this scale"),
    };
    experiment = experiment.summary(format!(
        "Of {} claims {} hold here and {} do not{undecided}.",
        cases.len(),
        count(Some(true)),
        count(Some(false)),
    ));
    cases.into_iter().fold(experiment, Experiment::case)
}

fn case(claim: &Claim, found: &Found) -> Case {
    let name = format!("{}. {}", claim.number, claim.name);
    let told = match fewest(found) {
        Some(few) if few < FEWEST && claim.number != whole::FIDELITY => Some(Told::cannot(
            format!("too few connections: {few} a run, and {FEWEST} are needed"),
            json!({ "connections": few }),
        )),
        _ => (claim.judge)(found).map(|told| told.if_equal(claim, found)),
    };
    let Some(told) = told else {
        return Case::not_run(name, claim.expected);
    };
    let mut case = Case::new(name, told.found, claim.expected).figures(told.figures);
    case.holds = told.holds;
    let group = claim.needs.last().and_then(|&cell| {
        let modes = [Unconstrained, Constrained];
        modes.into_iter().find_map(|mode| found.group(cell, mode))
    });
    match group.and_then(|group| group.record.clone()) {
        Some(record) => case.record(record),
        None => case,
    }
}

/// The fewest connections that a run had.
fn fewest(found: &Found) -> Option<usize> {
    let runs = found.groups.iter().map(|group| &group.pooled);
    runs.map(|of| of.durations.n() / of.runs.max(1)).min()
}

/// The structures of which there are runs with all of `rtts` in this mode, each with them.
fn with<const N: usize>(
    found: &Found,
    mode: Mode,
    rtts: [Model; N],
) -> Vec<(Structure, [&Pooled; N])> {
    let of = |structure| {
        let cells = rtts.map(|rtt| Cell::new(structure, rtt));
        Some((structure, runs(found, cells, mode)?))
    };
    LADDER.into_iter().filter_map(of).collect()
}

/// The structures of the ladder with these round trips.
fn ladder(found: &Found, rtt: Model, mode: Mode) -> Option<[&Pooled; 4]> {
    runs(found, cells(rtt), mode)
}

/// The same without block-concurrent.
fn sequential_ladder(found: &Found, rtt: Model, mode: Mode) -> Option<[&Pooled; 3]> {
    runs(found, sequential_cells(rtt), mode)
}

/// The models of [`ladder`].
const fn cells(rtt: Model) -> [Cell; 4] {
    [
        Cell::new(LADDER[0], rtt),
        Cell::new(LADDER[1], rtt),
        Cell::new(LADDER[2], rtt),
        Cell::new(LADDER[3], rtt),
    ]
}

/// The models of [`sequential_ladder`].
const fn sequential_cells(rtt: Model) -> [Cell; 3] {
    let [_, sequential, ab, full] = cells(rtt);
    [sequential, ab, full]
}

/// What the runs of each of these found, when there are runs of all.
fn runs<const N: usize>(found: &Found, cells: [Cell; N], mode: Mode) -> Option<[&Pooled; N]> {
    let all: Option<Vec<&Pooled>> = cells.iter().map(|&cell| found.get(cell, mode)).collect();
    all?.try_into().ok()
}

/// Whether what was measured in the runs of one model after the other falls: it does when those of each are above those of
/// the next, and does not when somewhere they are below.
fn falls_in_runs(models: &[&[(Hour, f64)]]) -> Option<bool> {
    every(models.windows(2).map(|pair| is_above(pair[0], pair[1])))
}

/// Whether all runs of one model are above all runs of the `other` that played the same vectors; false when they are all below, and
/// unknown when the vectors differ in it, or none were played by both.
fn is_above(one: &[(Hour, f64)], other: &[(Hour, f64)]) -> Option<bool> {
    let hours: BTreeSet<Hour> = one.iter().map(|(hour, _)| *hour).collect();
    let verdicts = hours.into_iter().filter_map(|hour| {
        let [one, other] = [one, other].map(|runs| extremes(runs, hour));
        let [one, other] = [one?, other?];
        let [above, below] = [one[0] > other[1], one[1] < other[0]];
        Some((above || below).then_some(above))
    });
    let verdicts: BTreeSet<Option<bool>> = verdicts.collect();
    let first = verdicts.first().copied().flatten();
    first.filter(|_| verdicts.len() == 1)
}

/// The least and the most of the runs that played `hour`, if there are any.
fn extremes(runs: &[(Hour, f64)], hour: Hour) -> Option<[f64; 2]> {
    let of_hour = runs.iter().filter(|(of, _)| *of == hour);
    let values = of_hour.map(|(_, value)| [*value; 2]);
    values.reduce(|[least, most], [value, _]| [least.min(value), most.max(value)])
}

/// Whether all hold, when it is not known of some: one that does not is enough.
fn every(all: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let all: Vec<Option<bool>> = all.into_iter().collect();
    let fails = all.contains(&Some(false));
    (fails || !all.contains(&None)).then_some(!fails)
}

/// Whether each value is above the next.
fn falls(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] > pair[1])
}

/// Values with one digit behind the point, in a row.
fn row(values: &[f64], between: &str) -> String {
    let words: Vec<String> = values.iter().map(|value| format!("{value:.1}")).collect();
    words.join(between)
}

/// Whether a queue of these was ever long for a moment that counts; if not, why nothing can be told.
fn never_grew<'a>(queues: impl IntoIterator<Item = &'a Curve>) -> Option<Told> {
    let most = queues
        .into_iter()
        .map(|queue| queue.above(LONG_MS))
        .fold(0.0, f64::max);
    (most < 1.0).then(|| {
        let why =
            format!("the queue never grew: above {LONG_MS} ms for at most {most:.2} % of the time");
        Told::cannot(why, json!({ "most_above_16ms_pct": most }))
    })
}

#[cfg(test)]
mod tests;
