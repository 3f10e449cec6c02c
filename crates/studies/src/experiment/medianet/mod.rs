//! An application that adapts (Papageorgiou 2008, chapter 6, "T"): what it gains by estimates, and by riding on their probes.
//!
//! Each run is `isobath manager medianet` in one of five modes ([`MODES`]), alone on the machine, or `isobath sim medianet`. What the runs of a mode found is
//! pooled as T did, all frames by all seconds, and T's claims are held against the runs ([`claims`]).

mod claims;
mod figures;
mod found;

use super::pool::{self, Job};
use super::{Bench, Scale, World};
use crate::medianet::plan::{LINKING, Probes};
use found::Found;
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Span;

/// The most runs of a mode.
const MOST: usize = 1_000;
/// Runs of each mode in virtual time, unless it says otherwise.
const SIMULATED: usize = 14;
/// About so many seconds of a run are simulated in one.
const SECONDS: u32 = 150;
/// The shortest run in which an estimate can end.
const SHORTEST: Duration = Duration::from_secs(24);
/// What the five modes are, and what T found in each: frames a second, Mbit/s, and the share of frames that failed in per cent.
const MODES: [Mode; 5] = [
    Mode::new(Probes::None, false, [30.11, 1.84, 0.09]),
    Mode::new(Probes::Pathload, false, [39.58, 1.96, 0.80]),
    Mode::new(Probes::Pathload, true, [43.42, 2.05, 0.79]),
    Mode::new(Probes::PathloadFast, false, [39.10, 1.86, 1.14]),
    Mode::new(Probes::PathloadFast, true, [52.08, 2.28, 1.00]),
];

/// How the streams are told, and whether they ride.
#[derive(Clone, Copy, Debug)]
struct Mode {
    probes: Probes,
    riding: bool,
    /// Tables 6.2, 6.3 and 6.4.
    paper: [f64; 3],
}

impl Mode {
    const fn new(probes: Probes, riding: bool, paper: [f64; 3]) -> Self {
        Self {
            probes,
            riding,
            paper,
        }
    }

    const fn riding(self) -> &'static str {
        if self.riding { "on" } else { "off" }
    }

    /// Its name: riding, then probes.
    fn name(self) -> String {
        format!("{}/{}", self.riding(), self.probes.name())
    }

    fn record(self, run: usize) -> String {
        format!("{}-{}-{run:02}", self.probes.name(), self.riding())
    }
}

/// How often and how long each mode is run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MediaNet {
    /// Runs of each mode.
    runs: usize,
    /// How long frames are sent; cross traffic is as much shorter or longer.
    duration: Span,
    /// Where all is done.
    #[serde(default)]
    world: World,
    /// Runs of each mode in virtual time, where they differ by their seeds.
    #[serde(default = "simulated")]
    simulated: usize,
}

const fn simulated() -> usize {
    SIMULATED
}

impl MediaNet {
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

    /// Runs of each mode at full scale.
    const fn all(&self) -> usize {
        if self.is_simulated() {
            self.simulated
        } else {
            self.runs
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if ![self.runs, self.simulated]
            .iter()
            .all(|runs| (1..=MOST).contains(runs))
        {
            return Err(format!("there are 1 to {MOST} runs of a mode"));
        }
        if !(Duration::from_secs(5)..=Duration::from_secs(3_600)).contains(&self.duration.0) {
            return Err("a run lasts 5s to 1h".to_owned());
        }
        Ok(())
    }

    /// Fewer runs first, then shorter ones.
    fn runs(&self, scale: Scale) -> usize {
        scale.of(self.all(), 1)
    }

    /// How long each is.
    fn duration(&self, scale: Scale) -> Duration {
        let share = (scale.get() * self.all() as f64).min(1.0);
        let millis = self.duration.0.mul_f64(share).as_millis();
        let millis = Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        millis.max(SHORTEST.min(self.duration.0))
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let one = self.time_for_one(scale) + pool::OVERHEAD;
        let side_by_side = if self.is_simulated() { jobs.max(1) } else { 1 };
        let runs = (self.runs(scale) * MODES.len()).div_ceil(side_by_side);
        one.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX))
    }

    /// How long a run takes.
    fn time_for_one(&self, scale: Scale) -> Duration {
        let duration = self.duration(scale);
        if self.is_simulated() {
            duration / SECONDS
        } else {
            duration + LINKING
        }
    }

    /// All runs; modes take turns, so that what changes on the machine meets all alike.
    fn jobs(&self, bench: &Bench<'_>) -> Vec<Job> {
        let duration = self.duration(bench.scale);
        let runs = 0..self.runs(bench.scale);
        let all = runs.flat_map(|run| MODES.map(|mode| (run, mode)));
        all.map(|(run, mode)| {
            let seed = bench.seed.wrapping_mul(1_000_000) + run as u64;
            let verb = if self.is_simulated() {
                "sim medianet"
            } else {
                "manager medianet"
            };
            let text = format!(
                "{verb} --probes {} --riding {} --duration {} --seed {seed}",
                mode.probes.name(),
                mode.riding(),
                Span(duration)
            );
            Job {
                name: mode.record(run),
                arguments: text.split_whitespace().map(str::to_owned).collect(),
                expected: self.time_for_one(bench.scale),
                is_heavy: !self.is_simulated(),
            }
        })
        .collect()
    }
}

/// Runs what has not been run.
pub(super) fn run(medianet: &MediaNet, bench: &Bench<'_>) {
    pool::run(bench, &medianet.jobs(bench));
}

/// What came of it.
pub(super) fn conclude(
    medianet: &MediaNet,
    bench: &Bench<'_>,
    experiment: Experiment,
) -> anyhow::Result<Experiment> {
    let runs = medianet.runs(bench.scale);
    let found = MODES.map(|mode| Found::of(bench, mode, runs));
    let experiment = claims::add(experiment, &found);
    let experiment = figures::add(experiment, &found)?;
    Ok(found::add(experiment, &found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/medianet-modes.
    #[test]
    fn the_built_in_one_has_the_five_modes_of_the_thesis_at_its_length() {
        use crate::experiment::{Description, Study};
        let Study::Medianet(study) = Description::find("manager/medianet").unwrap().0.study else {
            panic!("it is that study");
        };
        let length = Span::from_millis(336_000);
        assert_eq!((study.runs, study.duration), (4, length));
        let told = [
            "off/none",
            "off/pathload",
            "on/pathload",
            "off/pathload-fast",
            "on/pathload-fast",
        ];
        assert_eq!(MODES.map(Mode::name), told);
        // Table 6.2: by how much more frames a second are decoded than without estimates.
        let gains = MODES.map(|mode| (mode.paper[0] / MODES[0].paper[0] - 1.0) * 100.0);
        for (gain, told) in gains.iter().zip([0.0, 31.44, 44.19, 29.87, 72.96]) {
            assert!((gain - told).abs() < 0.05, "{gains:?}");
        }
    }

    #[test]
    fn a_smaller_scale_has_fewer_runs_and_then_shorter_ones() {
        let study = MediaNet {
            runs: 4,
            duration: "336s".parse().unwrap(),
            world: World::Lab,
            simulated: 14,
        };
        let of = |scale: &str| {
            let scale = scale.parse().unwrap();
            (study.runs(scale), study.duration(scale).as_secs())
        };
        assert_eq!(of("1"), (4, 336));
        assert_eq!(of("0.5"), (2, 336));
        assert_eq!(of("0.125"), (1, 168));
        assert_eq!(of("0.001"), (1, 24));
    }
}
