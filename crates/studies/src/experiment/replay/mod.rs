//! Replays of the same traffic under cruder and cruder models (Aikat 2010, "D"): which of its claims hold here?
//!
//! Vectors are drawn, and in the lab those are kept that can be played to their end ([`kept`]). Each run plays them by one
//! model of structure, of round trips and of windows (a [`Cell`]): first over a link that limits nothing,
//! then over one that has hardly more than what the control carried (a-t-b-t, usernet, empirical windows). Figures are those of
//! a window in which connections end as fast as they start. What the runs of a cell found is put together
//! ([`measured`]) and each claim that the cells can tell is held against it ([`claims`]).
//!
//! In the lab all runs play the same vectors, each alone on the machine, and differ by what the machine does. In virtual time they would be
//! the same to the octet; so there each repeat has vectors of its own ([`hour`]), which all models play.

mod claims;
mod curve;
mod extent;
mod found;
mod hour;
mod kept;
mod measured;

use super::pool::{self, Job, Outcome};
use super::{Bench, Scale};
use extent::{Extent, LEAST, Whole};
use found::Found;
use hour::Hour;
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;
use tmix::replay::verify;
use tmix::trace::Share;
use units::Span;
use vectors::model::rtt::Model;
use vectors::model::{Structure, Windows};

/// The run that is captured, and what its capture says.
const CAPTURED: &str = "captured";
const FIDELITY: &str = "fidelity.json";
/// So much is captured in virtual time: of UNC's whole traffic half a gigabyte of headers.
const LONGEST_CAPTURE: Duration = Duration::from_secs(60);
/// The most runs of one cell, and cells.
const MOST: usize = 1_000;
/// What a run takes beside its replay: reading, the lab, closing connections, figures.
const AROUND: Duration = Duration::from_secs(2);
/// About as many seconds of UNC's whole traffic are simulated in one.
const SIMULATED: u32 = 8;

/// Cells, and how each is replayed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Replays {
    /// The mix that vectors are drawn from, as `isobath trace synth` knows it.
    mix: String,
    /// How much of its rate of starts, as text: `1/30`.
    share: String,
    /// How long connections start.
    starts: Span,
    /// Connections are played that are over so long after their start, when nothing limits them.
    longest: Span,
    /// Part of `starts` at its beginning that figures are not of; at least `longest`, so that as many end as start afterwards.
    warm_up: Span,
    /// Runs of each cell in each mode.
    repeats: usize,
    /// Rate of the constrained link, as a multiple of what the control carried in the forward direction.
    capacity: f64,
    /// What is played: of each family every combination.
    families: Vec<Family>,
    /// Where it is played.
    #[serde(default)]
    world: World,
    /// How much is played in virtual time, where no machine limits it.
    whole: Option<Whole>,
}

/// Where an experiment is carried out.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// In emulated networks, by the kernel's TCP.
    #[default]
    Lab,
    /// In virtual time.
    Sim,
}

/// Models of which each goes with each.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Family {
    structures: Vec<Structure>,
    rtts: Vec<Model>,
    #[serde(default = "empirical")]
    windows: Vec<Windows>,
}

fn empirical() -> Vec<Windows> {
    vec![Windows::Empirical]
}

/// What of the vectors is played.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Cell {
    structure: Structure,
    rtt: Model,
    windows: Windows,
}

/// What all is compared with (D, section 4.4.1).
const CONTROL: Cell = Cell::new(Structure::ATBT, Model::Usernet);

impl Cell {
    const fn new(structure: Structure, rtt: Model) -> Self {
        Self {
            structure,
            rtt,
            windows: Windows::Empirical,
        }
    }
}

/// What the link limits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    /// Nothing.
    Unconstrained,
    /// To hardly more than the load.
    Constrained,
}

impl Mode {
    const ALL: [Self; 2] = [Self::Unconstrained, Self::Constrained];

    const fn name(self) -> &'static str {
        match self {
            Self::Unconstrained => "unconstrained",
            Self::Constrained => "constrained",
        }
    }
}

impl Replays {
    /// The same in another world.
    ///
    /// # Errors
    /// When it does not say how much there is of it in that world.
    pub(super) fn in_world(&mut self, world: World) -> Result<(), String> {
        self.world = world;
        self.check()
    }

    pub(super) const fn is_simulated(&self) -> bool {
        matches!(self.world, World::Sim)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.is_simulated() && self.whole.is_none() {
            return Err("it does not say what is played in virtual time - add a table 'whole' with share, starts, warm_up and cool_down".to_owned());
        }
        let share = self.share();
        let Extent {
            starts,
            longest,
            warm_up,
            cool_down,
            ..
        } = self.whole_extent();
        let parsed: Result<Share, _> = share.parse();
        parsed.map_err(|error| format!("share = '{share}': write {error}"))?;
        if !(1..=MOST).contains(&self.repeats) || !(1..=MOST).contains(&self.cells().len()) {
            return Err(format!(
                "there are 1 to {MOST} cells of 1 to {MOST} repeats"
            ));
        }
        if !(LEAST..=Duration::from_secs(86_400)).contains(&starts) {
            return Err("starts is 6s to a day".to_owned());
        }
        if longest > warm_up || longest.is_zero() && !self.is_simulated() {
            return Err("longest is above 0 and at most warm_up".to_owned());
        }
        if warm_up.saturating_add(cool_down) > starts / 2 {
            return Err("warm_up, with cool_down, is at most half of starts".to_owned());
        }
        if !(0.1..=1_000.0).contains(&self.capacity) {
            return Err("capacity is a multiple of the load, 0.1 to 1000".to_owned());
        }
        if !self.cells().contains(&CONTROL) {
            return Err("some family has the control: a-t-b-t, usernet, empirical".to_owned());
        }
        Ok(())
    }

    /// Each once, in the order of the families.
    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for family in &self.families {
            for &structure in &family.structures {
                for &rtt in &family.rtts {
                    for &windows in &family.windows {
                        let cell = Cell {
                            structure,
                            rtt,
                            windows,
                        };
                        if !cells.contains(&cell) {
                            cells.push(cell);
                        }
                    }
                }
            }
        }
        cells
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let extent = self.extent(scale);
        let runs = self.cells().len() * Mode::ALL.len() * extent.repeats;
        let (runs, side_by_side) = if self.is_simulated() {
            // More of them than processors only share these.
            let processors = available_parallelism().map_or(1, NonZeroUsize::get);
            (runs, jobs.clamp(1, processors))
        } else {
            // The rehearsal, and the one that is captured.
            (runs + 2, 1)
        };
        let one = self.time_for_one(extent.starts, extent) + pool::OVERHEAD;
        one.saturating_mul(u32::try_from(runs.div_ceil(side_by_side)).unwrap_or(u32::MAX))
    }

    /// How long a run takes in which connections start for so long.
    fn time_for_one(&self, starts: Duration, extent: Extent) -> Duration {
        if self.is_simulated() {
            starts / SIMULATED
        } else {
            starts + extent.longest + AROUND
        }
    }

    /// A run of `vectors` by the models of `cell`, with `more` options; `times` are its length, and what of it at the beginning
    /// and at the end has no part in the figures.
    fn job(
        &self,
        bench: &Bench<'_>,
        cell: Cell,
        name: &str,
        vectors: &str,
        times: [Duration; 3],
        more: &str,
    ) -> Job {
        let [length, warm_up, cool_down] = times.map(|span| span.as_millis());
        let verb = if self.is_simulated() {
            "sim replay"
        } else {
            "replay"
        };
        let text = format!(
            "{verb} --structure {} --rtt {} --windows {} --duration {length}ms --warm-up {warm_up}ms --cool-down {cool_down}ms {more}",
            cell.structure, cell.rtt, cell.windows
        );
        let words = text.split_whitespace().map(str::to_owned);
        let extent = self.extent(bench.scale);
        Job {
            name: name.to_owned(),
            arguments: words
                .chain([bench.folder(vectors).display().to_string()])
                .collect(),
            expected: self.time_for_one(times[0].min(extent.starts), extent),
            is_heavy: !self.is_simulated(),
        }
    }

    /// A run that counts, of the vectors of `hour`.
    fn counted(&self, bench: &Bench<'_>, cell: Cell, name: &str, hour: Hour, more: &str) -> Job {
        let times = self.extent(bench.scale).times();
        self.job(bench, cell, name, &hour.vectors(), times, more)
    }

    /// The control's run that is captured. In virtual time that is the beginning: what is open at its end is cut as a capture cuts it.
    fn captured(&self, bench: &Bench<'_>) -> Job {
        let options = format!("--seed {}", bench.seed);
        if !self.is_simulated() {
            return self.counted(bench, CONTROL, CAPTURED, Hour::FIRST, &options);
        }
        let length = self.extent(bench.scale).starts.min(LONGEST_CAPTURE);
        let times = [length, Duration::ZERO, Duration::ZERO];
        let options = format!("{options} --capture");
        let vectors = Hour::FIRST.vectors();
        self.job(bench, CONTROL, CAPTURED, &vectors, times, &options)
    }

    /// Options of a run that is not captured.
    fn uncaptured(&self, bench: &Bench<'_>, repeat: usize) -> String {
        if self.is_simulated() {
            format!("--seed {}", bench.seed.wrapping_add(repeat as u64))
        } else {
            format!("--no-capture --seed {}", bench.seed)
        }
    }

    /// All runs of a mode; `link` are the options that make it, if they are known of the hour.
    fn jobs(
        &self,
        bench: &Bench<'_>,
        mode: Mode,
        link: &dyn Fn(Hour) -> Option<String>,
    ) -> Vec<Job> {
        let repeats = 0..self.extent(bench.scale).repeats;
        let of = |repeat| {
            let hour = self.hour(repeat);
            let link = link(hour)?;
            let job = move |cell| {
                let options = format!("{} {link}", self.uncaptured(bench, repeat));
                let name = record(cell, mode, repeat);
                self.counted(bench, cell, &name, hour, &options)
            };
            Some(self.cells().into_iter().map(job))
        };
        repeats.filter_map(of).flatten().collect()
    }
}

fn record(cell: Cell, mode: Mode, repeat: usize) -> String {
    let name = format!(
        "{}-{}-{}-{}-{repeat}",
        cell.structure,
        cell.rtt,
        cell.windows,
        mode.name()
    );
    name.replace(':', "-")
}

/// Runs what has not been run.
pub(super) fn run(replays: &Replays, bench: &Bench<'_>) -> anyhow::Result<()> {
    if !kept::prepare(replays, bench)? {
        return Ok(());
    }
    let mut free = replays.jobs(bench, Mode::Unconstrained, &|_| Some(String::new()));
    free.push(replays.captured(bench));
    pool::run(bench, &free);
    if bench.is_interrupted() {
        return Ok(());
    }
    verify_captured(bench)?;
    for hour in replays.hours(bench.scale) {
        if hour::capacity(replays, bench, hour)?.is_none() {
            bench.display.say(&replays.uncontrolled(hour));
        }
    }
    let limit = |hour: Hour| {
        let rate = hour.known_capacity(bench)?;
        Some(format!("--bottleneck {}bit --constrained", rate.as_bps()))
    };
    pool::run(bench, &replays.jobs(bench, Mode::Constrained, &limit));
    Ok(())
}

/// Holds the capture against the vectors, once.
fn verify_captured(bench: &Bench<'_>) -> anyhow::Result<()> {
    let is_made = matches!(pool::outcome(bench, CAPTURED), Outcome::Complete(_));
    if !is_made || bench.read(FIDELITY).is_some() {
        return Ok(());
    }
    match verify::verify(&bench.folder(CAPTURED)) {
        Ok((fidelity, _)) => {
            bench.write(FIDELITY, &serde_json::to_string_pretty(&fidelity)?)?;
        }
        Err(error) => bench.display.say(&format!("{CAPTURED}: {error}")),
    }
    Ok(())
}

/// What the replays say.
///
/// # Errors
/// When a record cannot be read.
pub(super) fn conclude(
    replays: &Replays,
    bench: &Bench<'_>,
    experiment: Experiment,
) -> anyhow::Result<Experiment> {
    let found = Found::of(replays, bench)?;
    let experiment = claims::add(experiment, replays, &found);
    Ok(found::add(experiment, replays, &found))
}

#[cfg(test)]
mod tests;
