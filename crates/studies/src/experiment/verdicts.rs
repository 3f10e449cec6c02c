//! Tests of model based metrics again and again: does each give the verdict that its paper says?
//!
//! A case is a path, a target and a test, and the verdict that is expected of it. Each repeat is a run of `isobath mbm` with another
//! chance; a case holds when a stated share of the repeats agree.

mod found;

use super::pool::{self, Job};
use super::{Bench, Scale, World};
use found::Found;
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most cases, and the most repeats of one.
const MOST: usize = 1_000;
/// The same in virtual time, where a repeat takes a fraction of a second.
const MOST_SIMULATED: usize = 20_000;
/// What a run takes in virtual time.
const SIMULATED: Duration = Duration::from_millis(100);
/// Whoever carries the test is not simulated.
const BY_TCP: &str = "--carrier tcp";
/// The fewest repeats, however small the scale.
const FEWEST: usize = 1;

/// Cases, and how often each is run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Verdicts {
    /// Runs of each case.
    repeats: usize,
    /// The same in virtual time; without it, as many.
    simulated: Option<usize>,
    /// Where they are run.
    #[serde(default)]
    world: World,
    /// Whether each run needs the machine for itself: its sender has to be on time.
    #[serde(default)]
    alone: bool,
    /// Labs of its own, as TOML, by name.
    #[serde(default)]
    labs: BTreeMap<String, String>,
    /// Options of every run.
    #[serde(default)]
    arguments: String,
    /// The cases.
    #[serde(rename = "case")]
    cases: Vec<VerdictCase>,
}

/// A path, a target and a test.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictCase {
    /// Its name, of letters, digits, `.` and `-`: part of the names of its records.
    name: String,
    /// What it is, in words.
    about: String,
    /// The lab: one of the experiment's own, or a built-in one.
    lab: String,
    /// Options of `isobath mbm` that say the rest.
    arguments: String,
    /// The verdict that is expected; none to look only.
    #[serde(default)]
    expected: Option<record::Verdict>,
    /// The share of the repeats that must agree.
    #[serde(default = "most")]
    share: f64,
    /// Who says so.
    #[serde(default)]
    source: String,
    /// How long a run takes, about.
    seconds: f64,
}

const fn most() -> f64 {
    0.95
}

impl Verdicts {
    /// The same in another world.
    ///
    /// # Errors
    /// When nothing of it is known there.
    pub(super) fn in_world(&mut self, world: World) -> Result<(), String> {
        self.world = world;
        if self.is_simulated() && self.cases().next().is_none() {
            return Err("the kernel's TCP is not simulated - leave --world out".to_owned());
        }
        Ok(())
    }

    pub(super) const fn is_simulated(&self) -> bool {
        matches!(self.world, World::Sim)
    }

    /// The cases that are run, with their numbers: in virtual time, those that no kernel's TCP carries.
    fn cases(&self) -> impl Iterator<Item = (usize, &VerdictCase)> {
        let is_run = |case: &VerdictCase| {
            let asked = [&self.arguments, &case.arguments];
            !self.is_simulated() || !asked.iter().any(|words| words.contains(BY_TCP))
        };
        let cases = self.cases.iter().enumerate();
        cases.filter(move |(_, case)| is_run(case))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=MOST).contains(&self.repeats) || !(1..=MOST).contains(&self.cases.len()) {
            return Err(format!(
                "there are 1 to {MOST} cases of 1 to {MOST} repeats"
            ));
        }
        let simulated = self.simulated.unwrap_or(1);
        if !(1..=MOST_SIMULATED).contains(&simulated) {
            return Err(format!("simulated is 1 to {MOST_SIMULATED} repeats"));
        }
        for (name, text) in &self.labs {
            lab::Topology::parse(text, name).map_err(|error| error.to_string())?;
        }
        for case in &self.cases {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
            if case.name.is_empty() || !case.name.chars().all(is_plain) {
                return Err(format!("'{}' is no name of a case", case.name));
            }
            if !(0.0..=1.0).contains(&case.share) || !(0.0..1e6).contains(&case.seconds) {
                return Err(format!(
                    "case {}: share is 0 to 1, seconds is a time",
                    case.name
                ));
            }
        }
        Ok(())
    }

    fn repeats(&self, scale: Scale) -> usize {
        let simulated = self.simulated.filter(|_| self.is_simulated());
        scale.of(simulated.unwrap_or(self.repeats), FEWEST)
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let all = self.cases().map(|(_, case)| {
            if self.is_simulated() {
                SIMULATED
            } else {
                case.cost() + pool::OVERHEAD
            }
        });
        let one: Duration = all.sum();
        let repeats = u32::try_from(self.repeats(scale)).unwrap_or(u32::MAX);
        let jobs = if self.is_heavy() { 1 } else { jobs };
        one.saturating_mul(repeats) / u32::try_from(jobs).unwrap_or(1).max(1)
    }

    const fn is_heavy(&self) -> bool {
        self.alone && !self.is_simulated()
    }

    fn jobs(&self, bench: &Bench<'_>) -> anyhow::Result<Vec<Job>> {
        let mut jobs = Vec::new();
        for repeat in 0..self.repeats(bench.scale) {
            for (index, case) in self.cases() {
                jobs.push(self.job(bench, case, index, repeat)?);
            }
        }
        Ok(jobs)
    }

    fn job(
        &self,
        bench: &Bench<'_>,
        case: &VerdictCase,
        index: usize,
        repeat: usize,
    ) -> anyhow::Result<Job> {
        let lab = match self.labs.get(&case.lab) {
            Some(text) => bench
                .write(&format!("{}.lab.toml", case.lab), text)?
                .display()
                .to_string(),
            None => case.lab.clone(),
        };
        let (verb, most, expected) = if self.is_simulated() {
            ("sim mbm", MOST_SIMULATED, SIMULATED)
        } else {
            ("mbm", MOST, case.cost())
        };
        let seed = bench.seed.wrapping_mul(1_000_000) + (index * most + repeat) as u64;
        let text = format!("{verb} {} {} --seed {seed}", self.arguments, case.arguments);
        let words = text.split_whitespace().map(str::to_owned);
        Ok(Job {
            name: case.record(repeat),
            arguments: words.chain(["--lab".to_owned(), lab]).collect(),
            expected,
            is_heavy: self.is_heavy(),
        })
    }
}

impl VerdictCase {
    fn record(&self, repeat: usize) -> String {
        format!("{}-{repeat:02}", self.name)
    }

    fn cost(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }
}

/// Runs what has not been run.
pub(super) fn run(verdicts: &Verdicts, bench: &Bench<'_>) -> anyhow::Result<()> {
    pool::run(bench, &verdicts.jobs(bench)?);
    Ok(())
}

/// What the verdicts were.
pub(super) fn conclude(
    verdicts: &Verdicts,
    bench: &Bench<'_>,
    experiment: Experiment,
) -> Experiment {
    let repeats = verdicts.repeats(bench.scale);
    let found: Vec<Found> = verdicts
        .cases()
        .map(|(_, case)| Found::of(bench, case, repeats))
        .collect();
    let left_out = verdicts.cases.len() - found.len();
    let experiment = if left_out > 0 {
        experiment.note(format!(
            "{left_out} cases by the kernel's TCP are not simulated."
        ))
    } else {
        experiment
    };
    found::add(experiment, &found)
}

#[cfg(test)]
mod tests {
    use super::super::{Description, Study};
    use super::*;

    #[test]
    fn in_virtual_time_there_are_more_repeats_and_no_kernel() {
        let study = |name: &str| {
            let (found, _) = Description::find(name).unwrap();
            let (found, text) = found.in_world(World::Sim).unwrap();
            // What is carried out can be read again.
            let again = Description::parse(&text, &found.name).unwrap();
            match again.study {
                Study::Verdicts(verdicts) => verdicts,
                other => panic!("{other:?}"),
            }
        };
        let boundary = study("mbm/boundary");
        assert!(boundary.repeats(Scale::FULL) > boundary.repeats);
        assert!(!boundary.is_heavy());
        let vantage = study("mbm/vantage-point");
        assert_eq!((vantage.cases.len(), vantage.cases().count()), (6, 3));
    }
}
