//! Over a grid of emulated paths: our transfers over UDP, the kernel's TCP, and ours in virtual time.
//!
//! Each cell is a lab of one link ([`super::place`]) and one run of `isobath btc --compare` in it: pairs of transfers back
//! to back, ours and the kernel's in random order. The same cell is then simulated: the same machines, the same pipelines,
//! the same rules, another chance.
//!
//! In virtual time alone the whole product is run, and held against theory ([`whole`], [`theory`]).
//!
//! Under random loss no two transfers are alike, whoever makes them. So what is expected of ours against the kernel's is
//! seen beside what the kernel's own repeats differ by.

mod cases;
mod design;
mod figures;
mod found;
mod theory;
mod whole;

use super::place::Cell;
use super::pool::{self, Job};
use super::simulate::{self, Case};
use super::{Bench, Scale, World};
use design::Values;
use found::Found;
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use sim::End;
use std::time::Duration;
use transport::{CongestionControl, Options};
use units::Span;
use whole::Whole;

/// The fewest cells, however small the scale.
const FEWEST: usize = 6;
/// Packets a second of wall clock that a simulation handles, for what is expected of it.
const SIMULATED: f64 = 400_000.0;

/// What a grid is made of.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Congestion control of both.
    congestion_control: CongestionControl,
    /// Pairs of transfers in a cell.
    repeats: usize,
    /// A transfer takes as long as the longest of these, but at most `longest`: `shortest`, so many round trips, and the
    /// time in which so many packets are lost at random.
    shortest: Span,
    /// See `shortest`.
    round_trips: u32,
    /// See `shortest`.
    losses: f64,
    /// See `shortest`.
    longest: Span,
    /// Every pair of these values occurs.
    range: Values,
    /// Every combination of these does: what users often have.
    often: Values,
    /// Where it is done.
    #[serde(default)]
    world: World,
    /// How much of the whole product is done in virtual time.
    whole: Option<Whole>,
}

impl Grid {
    pub(super) const fn is_simulated(&self) -> bool {
        matches!(self.world, World::Sim)
    }

    /// The same in another world.
    ///
    /// # Errors
    /// When it does not say how much there is of it in that world.
    pub(super) fn in_world(&mut self, world: World) -> Result<(), String> {
        self.world = world;
        self.check()
    }

    /// What is done in virtual time, when that is all.
    fn simulated(&self) -> Option<&Whole> {
        self.whole.as_ref().filter(|_| self.is_simulated())
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.is_simulated() && self.whole.is_none() {
            return Err("it does not say what is done in virtual time - add a table 'whole' with repeats and duration".to_owned());
        }
        if let Some(whole) = &self.whole {
            whole.check()?;
        }
        self.range
            .check()
            .map_err(|what| format!("range: {what}"))?;
        self.often
            .check()
            .map_err(|what| format!("often: {what}"))?;
        match self.repeats {
            1..=1_000 => Ok(()),
            _ => Err("repeats is 1 to 1000".to_owned()),
        }
    }

    /// The cells at this scale.
    pub(super) fn cells(&self, scale: Scale) -> Vec<Cell> {
        let mut cells = match self.simulated() {
            Some(_) => self.product(),
            None => design::cells(&self.range, &self.often),
        };
        cells.truncate(scale.of(cells.len(), FEWEST));
        cells
    }

    /// All cells of the product, in no order.
    fn product(&self) -> Vec<Cell> {
        design::shuffled(self.range.cells()).collect()
    }

    /// The repeats at this scale.
    fn repeats(&self, scale: Scale) -> usize {
        scale.of(self.repeats, 1)
    }

    /// How long a transfer takes.
    fn duration(&self, cell: &Cell) -> Duration {
        let trips = cell.rtt.0.saturating_mul(self.round_trips);
        let losses = cell.time_for_losses(self.losses).unwrap_or_default();
        let longest = self.shortest.0.max(trips).max(losses);
        let whole = longest
            .as_secs_f64()
            .min(self.longest.0.as_secs_f64())
            .ceil();
        Duration::from_secs_f64(whole)
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        if let Some(whole) = self.simulated() {
            return whole.expected(&self.cells(scale), scale, jobs);
        }
        let repeats = u32::try_from(self.repeats(scale)).unwrap_or(u32::MAX);
        let transfers = repeats.saturating_mul(2);
        let (mut light, mut heavy, mut packets) = (Duration::ZERO, Duration::ZERO, 0.0);
        for cell in self.cells(scale) {
            let time = self.duration(&cell).saturating_mul(transfers) + pool::OVERHEAD;
            *(if cell.is_heavy() {
                &mut heavy
            } else {
                &mut light
            }) += time;
            packets += cell.expected_mbps() * 1e6 / 12_000.0 * time.as_secs_f64();
        }
        let workers = u32::try_from(jobs).unwrap_or(1).max(1);
        light / workers + heavy + Duration::from_secs_f64(packets / SIMULATED)
    }

    fn job(&self, bench: &Bench<'_>, index: usize, cell: &Cell) -> anyhow::Result<Job> {
        let name = cell.name();
        let lab = bench.write(&format!("{name}.lab.toml"), &cell.toml(0.0))?;
        let repeats = self.repeats(bench.scale);
        let duration = self.duration(cell);
        let seconds = format!("{}s", duration.as_secs());
        let cc = self.congestion_control.name();
        let arguments = format!(
            "btc --compare --cc {cc} --repeat {repeats} --duration {seconds} --window {} --seed {} --lab",
            cell.window(),
            seed(bench, index)
        );
        let arguments = arguments.split(' ').map(str::to_owned);
        let transfers = u32::try_from(2 * repeats).unwrap_or(u32::MAX);
        Ok(Job {
            arguments: arguments.chain([lab.display().to_string()]).collect(),
            expected: duration.saturating_mul(transfers),
            is_heavy: cell.is_heavy(),
            name,
        })
    }

    /// The same cell in virtual time, once for each repeat. The rules are those that the transfers over UDP had.
    fn simulations(
        &self,
        bench: &Bench<'_>,
        index: usize,
        cell: &Cell,
        options: &Options,
    ) -> Vec<Case> {
        let seeds = 0..self.repeats(bench.scale) as u64;
        let case = |seed| Case {
            cell: *cell,
            ack_loss: 0.0,
            options: options.clone(),
            end: End::After(self.duration(cell)),
            seed: transfer_seed(bench, index, seed),
        };
        seeds.map(case).collect()
    }
}

/// The seed of the cell at `index`: cells with the same chance would differ all in the same way.
const fn seed(bench: &Bench<'_>, index: usize) -> u64 {
    bench.seed.wrapping_mul(10_000).wrapping_add(index as u64)
}

/// The seed of transfer number `repeat` in it.
const fn transfer_seed(bench: &Bench<'_>, index: usize, repeat: u64) -> u64 {
    seed(bench, index).wrapping_mul(10_000).wrapping_add(repeat)
}

/// Where the simulations of a cell are kept.
fn simulated_name(cell: &Cell) -> String {
    format!("{}.sim.json", cell.name())
}

/// Runs what has not been run.
pub(super) fn run(grid: &Grid, bench: &Bench<'_>) -> anyhow::Result<()> {
    if let Some(whole) = grid.simulated() {
        return whole::run(grid, whole, bench);
    }
    let cells = grid.cells(bench.scale);
    let jobs: Vec<Job> = cells
        .iter()
        .enumerate()
        .map(|(index, cell)| grid.job(bench, index, cell))
        .collect::<anyhow::Result<_>>()?;
    pool::run(bench, &jobs);
    simulate(grid, bench, &cells)
}

/// Simulates the cells that have been measured and not simulated.
fn simulate(grid: &Grid, bench: &Bench<'_>, cells: &[Cell]) -> anyhow::Result<()> {
    let mut wanted = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let Some(found) = Found::of(bench, cell) else {
            continue;
        };
        if bench.read(&simulated_name(cell)).is_none() {
            let cases = grid.simulations(bench, index, cell, &found.options);
            wanted.push((*cell, cases));
        }
    }
    make(bench, &wanted)
}

/// Makes the simulations of cells, and keeps each cell's.
fn make(bench: &Bench<'_>, wanted: &[(Cell, Vec<Case>)]) -> anyhow::Result<()> {
    simulate::groups(bench, wanted, |cell, made| {
        bench.write(&simulated_name(cell), &serde_json::to_string(made)?)?;
        Ok(())
    })
}

/// What the grid shows.
pub(super) fn conclude(grid: &Grid, bench: &Bench<'_>, experiment: Experiment) -> Experiment {
    if let Some(whole) = grid.simulated() {
        return theory::conclude(grid, whole, bench, experiment);
    }
    let cells = grid.cells(bench.scale);
    let outcomes = found::all(bench, &cells);
    let mut experiment = cases::add(experiment, &outcomes.found);
    experiment = figures::add(experiment, &outcomes.found);
    experiment = found::table(experiment, &outcomes.found);
    for note in notes(grid, bench, &outcomes) {
        experiment = experiment.note(note);
    }
    experiment
}

fn notes(grid: &Grid, bench: &Bench<'_>, outcomes: &found::Outcomes) -> Vec<String> {
    let all = grid.cells(Scale::FULL).len();
    let cells = grid.cells(bench.scale).len();
    let mut notes = vec![
        format!(
            "{cells} of the design's {all} cells, {} pairs of transfers each (scale {}). The design covers every pair of \
             values of two parameters, and all combinations of what users often have.",
            grid.repeats(bench.scale),
            bench.scale.get()
        ),
        format!(
            "{} combinations of the whole product are left out of the design: the queue would hold fewer than 2 packets, or \
             pipe and queue together fewer than 4.",
            grid.range.impossible()
        ),
        "Random loss meets data only, behind the queue; acknowledgements come back over a link of the same rate, queue and \
         delay."
            .to_owned(),
        "Both tools' receivers offer the same window, three times what pipe and queue hold: the kernel would otherwise tune its \
         own and hold slow start back by it. (The paper gave both 135 segments.)"
            .to_owned(),
    ];
    let doubtful = outcomes.found.iter().filter(|one| one.is_doubtful).count();
    if doubtful > 0 {
        notes.push(format!(
            "{doubtful} cells count although this machine was too busy to be trusted with them (--with-invalid); the table names them."
        ));
    }
    if !outcomes.invalid.is_empty() {
        notes.push(format!(
            "{} cells are left out because this machine was the bottleneck: {}.",
            outcomes.invalid.len(),
            outcomes.invalid.join("; ")
        ));
    }
    if !outcomes.failed.is_empty() {
        notes.push(format!(
            "{} cells could not be measured: {}.",
            outcomes.failed.len(),
            outcomes.failed.join("; ")
        ));
    }
    if outcomes.missing > 0 {
        let missing = outcomes.missing;
        notes.push(format!("{missing} cells have not been measured yet."));
    }
    notes.extend(outcomes.found.iter().filter_map(Found::note));
    notes
}
