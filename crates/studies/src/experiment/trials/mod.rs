//! Trials of the manager again and again (Papageorgiou 2008, "T", chapter 5): which of its claims hold here?
//!
//! An application and a measurement tool share a bottleneck with other traffic, once with the application's packets riding on the probes
//! and once beside them ([`crate::trial`]). A [`Cell`] is a tool, riding or not, and a piggybacking ratio; each is run several times: in a lab one
//! run at a time, since probes need the machine for themselves; in virtual time side by side, with different seeds. What the runs of a cell found is put together ([`found`]), each claim that
//! this traffic can tell is held against it ([`claims`]), and drawn ([`figures`]).

mod claims;
mod figures;
mod found;

use super::pool::{self, Job};
use super::{Bench, Scale, World};
use crate::trial::plan::{Cross, Probes};
use claims::Claims;
use found::Found;
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Span;

/// The most runs of one cell.
const MOST: usize = 1_000;
/// The least time of a rate of others that is shortened, and of a run without several.
const LEAST_STEP: Duration = Duration::from_secs(8);
const LEAST_RUN: Duration = Duration::from_secs(48);
/// Runs of a cell in virtual time, unless it says otherwise.
const SIMULATED: usize = 14;
/// About so many seconds of a trial are simulated in one.
const SECONDS: u32 = 150;
/// What a run takes beside its time.
const AROUND: Duration = Duration::from_secs(2);

/// Cells, and what others send meanwhile.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Trials {
    /// What others send, as `isobath manager trial --cross` has it.
    cross: Cross,
    /// How long each of several rates lasts; without it, 45 s.
    #[serde(default = "step")]
    each: Span,
    /// How long a run lasts.
    duration: Span,
    /// Runs of each cell.
    repeats: usize,
    /// Who measures; each with riding off and on.
    probes: Vec<Probes>,
    /// Ratios below 1 that are tried, too, with riding on and a tool that estimates.
    #[serde(default)]
    ratios: Vec<f64>,
    /// Where all is done.
    #[serde(default)]
    world: World,
    /// Runs of each cell in virtual time, where they differ by their seeds.
    #[serde(default = "simulated")]
    simulated: usize,
}

const fn simulated() -> usize {
    SIMULATED
}

const fn step() -> Span {
    Span::from_millis(45_000)
}

/// A tool, whether packets ride on its probes, and on which part of its trains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) probes: Probes,
    pub(super) riding: bool,
    pub(super) ratio: f64,
}

impl Cell {
    const fn new(probes: Probes, riding: bool) -> Self {
        Self {
            probes,
            riding,
            ratio: 1.0,
        }
    }

    const fn word(self) -> &'static str {
        if self.riding { "on" } else { "off" }
    }

    fn record(self, repeat: usize) -> String {
        let (probes, riding) = (self.probes.name(), self.word());
        format!("{probes}-{riding}-{}-{repeat}", self.ratio)
    }
}

/// How much is done at a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Extent {
    repeats: usize,
    each: Duration,
    duration: Duration,
}

impl Trials {
    /// The same in another world.
    ///
    /// # Errors
    /// When it is none that could be carried out there.
    pub(super) fn in_world(&mut self, world: World) -> Result<(), String> {
        self.world = world;
        self.check()
    }

    pub(super) const fn is_simulated(&self) -> bool {
        matches!(self.world, World::Sim)
    }

    const fn runs(&self) -> usize {
        if self.is_simulated() {
            self.simulated
        } else {
            self.repeats
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if ![self.repeats, self.simulated]
            .iter()
            .all(|runs| (1..=MOST).contains(runs))
        {
            return Err(format!("there are 1 to {MOST} repeats"));
        }
        if self.cells().is_empty() {
            return Err("there are no probes to try".to_owned());
        }
        if !self.ratios.iter().all(|ratio| *ratio > 0.0 && *ratio < 1.0) {
            return Err("ratios lie between 0 and 1; 1 is always tried".to_owned());
        }
        let times = [self.duration.0, self.each.0];
        if times
            .iter()
            .any(|time| !(LEAST_STEP..=Duration::from_secs(3_600)).contains(time))
        {
            return Err("duration and each are 8s to an hour".to_owned());
        }
        Ok(())
    }

    /// Each once: without riding, with it, and with it on a part of the trains.
    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &probes in &self.probes {
            cells.push(Cell::new(probes, false));
            if probes == Probes::None {
                continue;
            }
            cells.push(Cell::new(probes, true));
            let ratios = self.ratios.iter().filter(|_| probes.pause().is_some());
            cells.extend(ratios.map(|&ratio| Cell {
                ratio,
                ..Cell::new(probes, true)
            }));
        }
        cells
    }

    fn extent(&self, scale: Scale) -> Extent {
        let share = scale.get().min(1.0);
        let shorter = |span: Span, least: Duration| {
            let least = least.min(span.0);
            Duration::from_secs(span.0.mul_f64(share).max(least).as_secs())
        };
        let each = shorter(self.each, LEAST_STEP);
        let duration = match &self.cross {
            Cross::Steps(rates) if rates.len() > 1 => {
                let steps = self.duration.0.as_secs_f64() / self.each.0.as_secs_f64();
                Duration::from_secs_f64((steps * each.as_secs_f64()).round())
            }
            _ => shorter(self.duration, LEAST_RUN),
        };
        Extent {
            repeats: scale.of(self.runs(), 1),
            each,
            duration,
        }
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let extent = self.extent(scale);
        let runs = self.cells().len() * extent.repeats;
        let side_by_side = if self.is_simulated() { jobs.max(1) } else { 1 };
        let one = self.time_for_one(extent) + pool::OVERHEAD;
        one.saturating_mul(u32::try_from(runs.div_ceil(side_by_side)).unwrap_or(u32::MAX))
    }

    /// How long a run takes.
    fn time_for_one(&self, extent: Extent) -> Duration {
        if self.is_simulated() {
            extent.duration / SECONDS
        } else {
            extent.duration + AROUND
        }
    }

    /// All runs, so that an experiment that was interrupted has some of each cell.
    fn jobs(&self, bench: &Bench<'_>) -> Vec<Job> {
        let extent = self.extent(bench.scale);
        let repeats = 0..extent.repeats;
        let jobs = repeats.flat_map(|repeat| {
            let cells = self.cells().into_iter();
            cells.map(move |cell| self.job(cell, repeat, extent, bench.seed))
        });
        jobs.collect()
    }

    /// T has a fixed seed for others' connections, so that runs differ by what nobody decides. In virtual time nothing does but the seed.
    fn job(&self, cell: Cell, repeat: usize, extent: Extent, seed: u64) -> Job {
        let (each, duration) = (extent.each.as_secs(), extent.duration.as_secs());
        let (verb, seed) = if self.is_simulated() {
            ("sim trial", seed.wrapping_add(repeat as u64))
        } else {
            ("manager trial", seed)
        };
        let text = format!(
            "{verb} --probes {} --riding {} --ratio {} --cross {} --each {each}s --duration {duration}s --seed {seed}",
            cell.probes.name(),
            cell.word(),
            cell.ratio,
            self.cross,
        );
        Job {
            name: cell.record(repeat),
            arguments: text.split_whitespace().map(str::to_owned).collect(),
            expected: self.time_for_one(extent),
            is_heavy: !self.is_simulated(),
        }
    }
}

/// Runs what has not been run.
pub(super) fn run(trials: &Trials, bench: &Bench<'_>) {
    pool::run(bench, &trials.jobs(bench));
}

/// What the trials say.
pub(super) fn conclude(trials: &Trials, bench: &Bench<'_>, experiment: Experiment) -> Experiment {
    let found = trials.cells().into_iter();
    let repeats = trials.extent(bench.scale).repeats;
    let found = found.map(|cell| Found::read(bench, cell, repeats));
    let found: Vec<_> = found.collect();
    let experiment = Claims::new(&trials.cross, &found).add(experiment);
    let experiment = figures::add(experiment, &found);
    found::add(
        experiment,
        trials,
        &found,
        trials.extent(bench.scale).duration,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> Trials {
        Trials {
            cross: "1Mbit,3Mbit,5Mbit,6Mbit,4Mbit,2Mbit".parse().unwrap(),
            each: Span::from_millis(45_000),
            duration: Span::from_millis(270_000),
            repeats: 4,
            probes: vec![Probes::None, Probes::Pathload, Probes::Pk2],
            ratios: vec![0.5],
            world: World::Lab,
            simulated: 14,
        }
    }

    #[test]
    fn in_virtual_time_there_are_more_runs_which_differ_by_their_seeds() {
        let mut trials = step();
        trials.in_world(World::Sim).unwrap();
        let extent = trials.extent(Scale::FULL);
        assert_eq!(extent.repeats, 14);
        let jobs =
            [0, 13].map(|repeat| trials.job(Cell::new(Probes::Pk2, true), repeat, extent, 5));
        let lines = jobs.each_ref().map(|job| job.arguments.join(" "));
        assert!(
            lines[0].starts_with("sim trial ") && lines[0].ends_with("--seed 5"),
            "{lines:?}"
        );
        assert!(
            lines[1].ends_with("--seed 18") && !jobs[1].is_heavy,
            "{lines:?}"
        );
        let lab = step().job(Cell::new(Probes::Pk2, true), 3, extent, 5);
        assert!(
            lab.is_heavy && lab.arguments.ends_with(&["5".to_owned()]),
            "{lab:?}"
        );
    }

    #[test]
    fn a_smaller_scale_has_shorter_steps_and_fewer_runs() {
        let trials = step();
        let extent = |scale: &str| {
            let extent = trials.extent(scale.parse().unwrap());
            (
                extent.repeats,
                extent.each.as_secs(),
                extent.duration.as_secs(),
            )
        };
        assert_eq!(extent("1"), (4, 45, 270));
        assert_eq!(extent("0.5"), (2, 22, 132));
        assert_eq!(extent("0.01"), (1, 8, 48));
        assert_eq!(extent("2"), (8, 45, 270));
    }

    /// Holds manager/cross-rates, manager/grid.
    #[test]
    fn the_built_in_ones_have_the_traffic_the_tools_and_the_runs_of_the_thesis() {
        use crate::experiment::{Description, Study};
        let all = [
            Probes::None,
            Probes::Pathload,
            Probes::PathloadFast,
            Probes::Pk1,
            Probes::Pk2,
            Probes::Pk3,
        ];
        let step = "1Mbit,3Mbit,5Mbit,6Mbit,4Mbit,2Mbit";
        for (name, cross, ratios) in [
            ("manager/step", step, Vec::new()),
            ("manager/fixed5", "5Mbit", Vec::new()),
            ("manager/web", "web", vec![0.5]),
        ] {
            let Study::Trials(trials) = Description::find(name).unwrap().0.study else {
                panic!("{name} is another study");
            };
            assert_eq!(trials.cross.to_string(), cross);
            assert_eq!((&trials.probes[..], trials.repeats), (&all[..], 4));
            assert_eq!(trials.ratios, ratios);
            assert_eq!(trials.duration, Span::from_millis(6 * 45_000));
            assert_eq!(trials.each, Span::from_millis(45_000));
        }
    }

    /// Holds manager/grid.
    #[test]
    fn each_tool_is_tried_with_and_without_riding() {
        let cells = step().cells();
        let words: Vec<_> = cells.iter().map(|cell| cell.record(0)).collect();
        assert_eq!(
            words,
            [
                "none-off-1-0",
                "pathload-off-1-0",
                "pathload-on-1-0",
                "pathload-on-0.5-0",
                "pk2-off-1-0",
                "pk2-on-1-0"
            ]
        );
    }
}
