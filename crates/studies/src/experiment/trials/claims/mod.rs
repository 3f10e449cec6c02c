//! T's claims, each held against what was found by a rule that stands beside it.
//!
//! A claim holds or does not only where all cells that it compares have runs, and of estimations enough; else it cannot be told.

mod estimates;
mod losses;
mod traffic;

use super::found::{Found, find};
use crate::trial::plan::{Cross, Probes};
use crate::trial::summary::Throughput;
use report::experiment::{Case, Experiment};
use serde_json::json;

/// Estimations of a cell that a claim about them needs.
const FEWEST: usize = 4;
/// Regular trains, and tools that estimate.
const REGULAR: [Probes; 3] = [Probes::Pk1, Probes::Pk2, Probes::Pk3];
const PATHLOADS: [Probes; 2] = [Probes::Pathload, Probes::PathloadFast];

/// What is claimed under one kind of traffic.
pub(super) struct Claims<'a> {
    cross: &'a Cross,
    found: &'a [Found],
}

/// A cell without riding and the same with it.
struct Pair<'a> {
    off: &'a Found,
    on: &'a Found,
}

impl Pair<'_> {
    /// A figure of both.
    fn both(&self, of: impl Fn(&Found) -> Option<f64>) -> Option<[f64; 2]> {
        Some([of(self.off)?, of(self.on)?])
    }
}

/// A claim: what T says, the rule, and both cells' figures for each tool that it is about.
struct Claim<'a> {
    name: String,
    expected: &'a str,
    unit: &'a str,
    probes: &'a [Probes],
}

impl<'a> Claims<'a> {
    pub(super) const fn new(cross: &'a Cross, found: &'a [Found]) -> Self {
        Self { cross, found }
    }

    /// Adds the answer and the cases.
    pub(super) fn add(&self, experiment: Experiment) -> Experiment {
        let cases = match self.cross {
            Cross::Web => self.web(),
            Cross::Steps(rates) if rates.len() > 1 => self.step(),
            _ => self.fixed(),
        };
        let count = |verdict| cases.iter().filter(|case| case.holds == verdict).count();
        let summary = format!(
            "{} of {} claims hold, {} do not, and {} cannot be told.",
            count(Some(true)),
            cases.len(),
            count(Some(false)),
            count(None)
        );
        cases
            .into_iter()
            .fold(experiment.summary(summary), Experiment::case)
    }

    fn step(&self) -> Vec<Case> {
        let mut cases = vec![
            self.overhead("figures 5.3, 5.5", Probes::Pk2, 0.25),
            self.overhead("figure 5.4", Probes::PathloadFast, 0.5),
        ];
        cases.extend(REGULAR.map(|probes| self.closer("figure 5.6", probes)));
        cases.push(self.alike("figure 5.7: with pathload the application fares the same"));
        cases.push(self.within_half_minute());
        cases.push(self.more_complete(
            "figure 5.8: pSLOW completes more often",
            Probes::Pathload,
            "48 % never, off",
        ));
        cases.push(self.fast_more_often());
        cases.extend(self.as_accurate("figure 5.9"));
        cases.extend(PATHLOADS.map(|probes| self.too_high("figure 5.9", probes)));
        cases.push(self.unharmed("figure 5.5", 1.0));
        cases
    }

    fn fixed(&self) -> Vec<Case> {
        let mut cases = vec![self.overhead("figures 5.10, 5.11", Probes::Pk2, 0.25)];
        cases.push(self.sustained());
        cases.push(self.slowed());
        cases.extend(REGULAR.map(|probes| self.closer("figure 5.13", probes)));
        cases.push(self.alike("figure 5.14: with pathload the application fares the same"));
        cases.extend(PATHLOADS.map(|probes| self.same_times(probes)));
        cases.extend(PATHLOADS.map(|probes| {
            self.more_complete(
                "figure 5.15: fewer complete rounds off",
                probes,
                "no figures in the text",
            )
        }));
        cases.extend(self.as_accurate("figure 5.16"));
        cases.push(self.unharmed("figure 5.11", 1.0));
        cases
    }

    fn web(&self) -> Vec<Case> {
        let mut cases = vec![self.unharmed("figure 5.17", 5.0), self.same_average()];
        cases.extend(REGULAR.map(|probes| self.closer("figure 5.18", probes)));
        cases.push(self.hurt());
        cases.push(self.less_severe());
        cases.extend(PATHLOADS.map(|probes| self.faster(probes)));
        cases.push(self.rates());
        cases.extend(PATHLOADS.map(|probes| {
            self.more_complete(
                "figure 5.21: completes more often",
                probes,
                "no figures in the text",
            )
        }));
        cases.extend(self.as_accurate("figure 5.21"));
        cases.push(self.toward_the_end());
        cases.extend([
            self.fewer_riders_lost(),
            self.half_hurts_less(),
            self.half_is_faster(),
        ]);
        cases
    }

    fn pair(&self, probes: Probes) -> Option<Pair<'a>> {
        Some(Pair {
            off: find(self.found, probes, false, 1.0)?,
            on: find(self.found, probes, true, 1.0)?,
        })
    }

    /// The two figures of each tool of a claim; none unless all have both.
    fn figures(
        &self,
        probes: &[Probes],
        of: impl Fn(&Found) -> Option<f64>,
    ) -> Option<Vec<[f64; 2]>> {
        let figures = probes.iter().map(|probes| self.pair(*probes)?.both(&of));
        figures.collect()
    }

    /// A claim about pairs of figures, which holds when `holds` says so of them all.
    fn judge(
        &self,
        claim: &Claim<'_>,
        of: impl Fn(&Found) -> Option<f64>,
        holds: impl Fn(&[[f64; 2]]) -> bool,
    ) -> Case {
        let Some(figures) = self.figures(claim.probes, of) else {
            return self.untold(&claim.name, claim.expected, claim.probes);
        };
        let words = claim
            .probes
            .iter()
            .zip(&figures)
            .map(|(probes, [off, on])| format!("{} {off:.2} off, {on:.2} on", probes.name()));
        let words: Vec<_> = words.collect();
        let said = format!("{} {}", words.join("; "), claim.unit);
        let by_name = claim
            .probes
            .iter()
            .zip(&figures)
            .map(|(probes, [off, on])| (probes.name().to_owned(), json!({ "off": off, "on": on })));
        let by_name: serde_json::Map<_, _> = by_name.collect();
        let case = Case::new(&claim.name, said.trim(), claim.expected)
            .holds(holds(&figures))
            .figures(by_name.into());
        self.recorded(case, claim.probes)
    }

    /// A claim that cannot be told: its cells have not been run, or too few of their estimations came to an end.
    fn untold(&self, name: &str, expected: &str, probes: &[Probes]) -> Case {
        let counts = probes.iter().map(|probes| {
            let pair = self.pair(*probes)?;
            let [off, on] = [pair.off, pair.on].map(|found| found.times_s().len());
            Some(format!("{} {off} off, {on} on", probes.name()))
        });
        let Some(counts) = counts.collect::<Option<Vec<_>>>() else {
            return Case::not_run(name, expected);
        };
        let found = format!("too few estimations came to an end: {}", counts.join("; "));
        Case::new(name, found, expected).figures(json!({ "needed": FEWEST }))
    }

    fn recorded(&self, case: Case, probes: &[Probes]) -> Case {
        let on = probes
            .first()
            .and_then(|probes| find(self.found, *probes, true, 1.0));
        match on.and_then(|found| found.record.clone()) {
            Some(record) => case.record(record),
            None => case,
        }
    }

    fn target(&self) -> f64 {
        let source = self.found.iter().find_map(Found::source);
        source.map_or(f64::INFINITY, |source| source.target_mbps)
    }
}

/// A rate on the bottleneck.
fn through(of: fn(&Throughput) -> f64) -> impl Fn(&Found) -> Option<f64> {
    move |found| found.mean(|summary| summary.throughput_mbps.as_ref().map(of))
}

fn read(found: &Found) -> Option<f64> {
    found.source().map(|source| source.mean_mbps)
}

fn below(found: &Found) -> Option<f64> {
    found.source().map(|source| source.below_pct)
}

/// A cell with enough estimations.
fn enough(found: &Found) -> Option<&Found> {
    (found.rows().len() >= FEWEST).then_some(found)
}

/// A cell with enough estimations that were completed.
fn completed(found: &Found) -> Option<&Found> {
    (found.times_s().len() >= FEWEST).then_some(found)
}

#[cfg(test)]
mod tests;
