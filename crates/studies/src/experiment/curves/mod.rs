//! Throughput of the kernel's Reno over round trip and loss, as fast as it can and held to a rate.
//!
//! The two figures behind the idea of model based metrics (thesis 2.4.1 and 3.2): TCP's throughput falls with the round trip and
//! with the square root of loss, so a stream at a constant rate is carried as far as the curve lies above that rate, and no farther.
//! Each point is a transfer of the kernel's over a lab's emulated path; the free ones are made in virtual time, too, by our own Reno.

mod cases;
mod found;

use super::place::{Cell, check_shares};
use super::pool::{self, Job};
use super::simulate::{self, Case as Transfer, Simulated};
use super::{Bench, Scale};
use found::{Kept, Point};
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use sim::End;
use std::time::Duration;
use transport::Options;
use units::{Rate, Span};

/// Where the simulations are kept.
const SIMULATED: &str = "sim.json";
/// The fewest round trips, however small the scale.
const FEWEST: usize = 3;

/// The study of the two figures.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// Rate of the link.
    rate: Rate,
    /// What a stream is held to.
    pace: Rate,
    /// Round trips.
    rtts: Vec<Span>,
    /// Shares of packets lost at random.
    losses: Vec<f64>,
    /// Losses that a transfer is to see.
    events: f64,
    /// A transfer lasts at least so long.
    shortest: Span,
    /// And at most.
    longest: Span,
}

/// How a transfer is held back.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Way {
    /// By nothing but its congestion control.
    Free,
    /// To the rate of the stream.
    Paced,
}

impl Way {
    const ALL: [Self; 2] = [Self::Free, Self::Paced];

    const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Paced => "paced",
        }
    }
}

impl Curves {
    pub(super) fn check(&self) -> Result<(), String> {
        check_shares("losses", &self.losses)?;
        let is_lossless = self.losses.iter().any(|loss| *loss <= 0.0);
        if self.losses.is_empty() || is_lossless || self.rtts.len() < FEWEST {
            return Err(format!(
                "losses are shares above 0, at least one; rtts are at least {FEWEST}"
            ));
        }
        if self.pace >= self.rate {
            return Err("pace is below rate".to_owned());
        }
        match self.events {
            1.0..=1e6 if self.shortest.0 <= self.longest.0 => Ok(()),
            _ => Err("events is 1 to 1000000, and shortest at most longest".to_owned()),
        }
    }

    /// The round trips at this scale: both ends of the range stay.
    fn rtts(&self, scale: Scale) -> Vec<Span> {
        let mut rtts = self.rtts.clone();
        rtts.sort_unstable();
        let count = scale.of(rtts.len(), FEWEST).min(rtts.len());
        let last = rtts.len() - 1;
        let chosen = (0..count).map(|index| index * last / (count - 1).max(1));
        chosen
            .filter_map(|index| rtts.get(index).copied())
            .collect()
    }

    fn cells(&self, scale: Scale) -> Vec<Cell> {
        let rtts = self.rtts(scale);
        let of = |loss| {
            rtts.iter().map(move |&rtt| Cell {
                rate: self.rate,
                rtt,
                loss,
                queue: 1.0,
            })
        };
        self.losses.iter().flat_map(|&loss| of(loss)).collect()
    }

    /// What a transfer may reach, by link, loss and pace.
    fn expected_mbps(&self, cell: &Cell, way: Way) -> f64 {
        match way {
            Way::Free => cell.expected_mbps(),
            Way::Paced => cell.expected_mbps().min(self.pace.as_mbps()),
        }
    }

    fn duration(&self, cell: &Cell, way: Way) -> Duration {
        let free = cell.time_for_losses(self.events).unwrap_or_default();
        let slower = cell.expected_mbps() / self.expected_mbps(cell, way);
        let wanted = free.as_secs_f64() * slower;
        let bounds = (self.shortest.0.as_secs_f64(), self.longest.0.as_secs_f64());
        Duration::from_secs_f64(wanted.clamp(bounds.0, bounds.1).ceil())
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let (mut light, mut heavy) = (Duration::ZERO, Duration::ZERO);
        for cell in self.cells(scale) {
            for way in Way::ALL {
                let time = self.duration(&cell, way) + pool::OVERHEAD;
                if way == Way::Free && cell.is_heavy() {
                    heavy += time;
                } else {
                    light += time;
                }
            }
        }
        light / u32::try_from(jobs).unwrap_or(1).max(1) + heavy
    }

    fn job(&self, bench: &Bench<'_>, index: usize, cell: &Cell, way: Way) -> anyhow::Result<Job> {
        let lab = bench.write(&format!("{}.lab.toml", cell.name()), &cell.toml(0.0))?;
        let duration = self.duration(cell, way);
        let pace = match way {
            Way::Free => String::new(),
            Way::Paced => format!("--pace {}bit ", self.pace.as_bps()),
        };
        let seed = seed(bench, index);
        let text = format!(
            "btc --tools kernel --cc reno {pace}--duration {}s --seed {seed} --lab",
            duration.as_secs()
        );
        let words = text.split_whitespace().map(str::to_owned);
        Ok(Job {
            name: record(cell, way),
            arguments: words.chain([lab.display().to_string()]).collect(),
            expected: duration,
            is_heavy: way == Way::Free && cell.is_heavy(),
        })
    }

    fn transfer(&self, bench: &Bench<'_>, index: usize, cell: &Cell) -> Transfer {
        Transfer {
            cell: *cell,
            ack_loss: 0.0,
            options: Options::default(),
            end: End::After(self.duration(cell, Way::Free)),
            seed: seed(bench, index),
        }
    }
}

const fn seed(bench: &Bench<'_>, index: usize) -> u64 {
    bench.seed.wrapping_mul(10_000).wrapping_add(index as u64)
}

fn record(cell: &Cell, way: Way) -> String {
    format!("{}-{}", cell.name(), way.name())
}

/// Runs what has not been run.
pub(super) fn run(curves: &Curves, bench: &Bench<'_>) -> anyhow::Result<()> {
    let cells = curves.cells(bench.scale);
    let mut jobs = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        for (number, way) in Way::ALL.into_iter().enumerate() {
            jobs.push(curves.job(bench, 2 * index + number, cell, way)?);
        }
    }
    pool::run(bench, &jobs);
    if bench.is_interrupted() || bench.read(SIMULATED).is_some() {
        return Ok(());
    }
    let transfers: Vec<Transfer> = cells
        .iter()
        .enumerate()
        .map(|(index, cell)| curves.transfer(bench, index, cell))
        .collect();
    let made: Option<Vec<Simulated>> = simulate::all(bench, &transfers).into_iter().collect();
    if let Some(made) = made {
        bench.write(SIMULATED, &serde_json::to_string(&made)?)?;
    }
    Ok(())
}

/// What the curves show.
pub(super) fn conclude(curves: &Curves, bench: &Bench<'_>, experiment: Experiment) -> Experiment {
    let cells = curves.cells(bench.scale);
    let simulated = bench.read(SIMULATED);
    let simulated: Vec<Simulated> = simulated
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let mut kept = Kept::default();
    for (index, cell) in cells.iter().enumerate() {
        for way in Way::ALL {
            kept.look(bench, cell, way);
        }
        kept.simulated
            .extend(simulated.get(index).map(|made| (*cell, *made)));
    }
    kept.points.sort_by_key(|point: &Point| point.cell.rtt);
    let experiment = cases::add(experiment, curves, &kept);
    let experiment = found::figures(experiment, curves, &kept);
    found::notes(found::table(experiment, curves, &kept), curves, &kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves() -> Curves {
        let text = include_str!("../../../../../experiments/mbm/throughput-curves.toml");
        let found = crate::experiment::Description::parse(text, "curves").unwrap();
        match found.study {
            crate::experiment::Study::Curves(curves) => curves,
            _ => panic!("it is that study"),
        }
    }

    #[test]
    fn it_takes_less_than_eight_minutes_and_a_small_scale_keeps_the_range() {
        let curves = curves();
        let all = curves.expected(Scale::FULL, 4);
        assert!(all < Duration::from_secs(480), "{all:?}");
        let few = curves.rtts("0.1".parse().unwrap());
        assert_eq!(few.len(), FEWEST);
        assert_eq!(few.first(), curves.rtts.first());
        assert_eq!(few.last(), curves.rtts.last());
    }

    #[test]
    fn a_slower_stream_needs_longer_to_see_as_many_losses() {
        let curves = curves();
        let cell = curves.cells(Scale::FULL)[0];
        assert!(curves.duration(&cell, Way::Paced) > curves.duration(&cell, Way::Free));
    }
}
