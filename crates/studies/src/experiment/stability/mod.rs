//! The paper's study of a mesh of hosts: pairs of transfers at random times between random hosts.
//!
//! A *measurement* is a script that a host carries out: two transfers to another host, back to back, each by a tool drawn at
//! random with replacement. Measurements start as a Poisson process and overlap as chance will have it. From those with the
//! same tool twice follows how stable a tool's result is; from the mixed ones how the two tools compare.
//!
//! A measurement that fails leaves a record as well, and says whether the *transfer* failed or what carries the measurements
//! did: the lab, the far end, this machine. The paper called the latter NIMI failures and left them out.
//!
//! Each host of the lab runs `isobath serve`; a measurement is `isobath btc HOST` in a process on the source host. Or a fleet carries the
//! measurements, with an agent on each host ([`mod@fleet`]).

mod background;
mod cases;
mod figures;
mod fleet;
mod found;
mod measure;
mod outcome;
mod schedule;

use super::{Bench, Scale};
use background::Background;
use lab::Topology;
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;
use units::Span;

/// The fewest measurements, however small the scale.
const FEWEST: usize = 8;
/// After the last start the last measurements take about so long.
const LAST: Duration = Duration::from_secs(15);

/// The study of stability.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stability {
    /// Measurements, each of two transfers.
    measurements: usize,
    /// Mean time between the starts of two.
    mean: Span,
    /// By how much shorter it is here.
    time_scale: f64,
    /// The host of the lab with the NATS server of the fleet that carries the measurements; without one, processes do. It measures nothing.
    #[serde(default)]
    hub: Option<String>,
    /// The hosts and what is between them.
    lab: Topology,
    /// Other traffic.
    #[serde(default)]
    background: Vec<Background>,
}

impl Stability {
    pub(super) fn check(&self) -> Result<(), String> {
        self.topology()?;
        let hosts: BTreeSet<&String> = self.lab.hosts.iter().collect();
        if self.measured().len() < 2 {
            return Err("a transfer needs two hosts".to_owned());
        }
        if let Some(hub) = self.hub.as_ref().filter(|hub| !hosts.contains(hub)) {
            return Err(format!("hub: '{hub}' is not one of the hosts"));
        }
        let named = self.background.iter().flat_map(|one| [&one.from, &one.to]);
        if let Some(name) = named.into_iter().find(|name| !hosts.contains(name)) {
            return Err(format!("background: '{name}' is not one of the hosts"));
        }
        if !(self.time_scale > 0.0 && self.time_scale.is_finite()) || self.measurements == 0 {
            return Err("measurements and time_scale are above 0".to_owned());
        }
        Ok(())
    }

    /// The lab, checked as any other.
    fn topology(&self) -> Result<Topology, String> {
        let text = toml::to_string(&self.lab).map_err(|error| error.to_string())?;
        Topology::parse(&text, "lab").map_err(|error| error.to_string())
    }

    /// The hosts that measure each other.
    fn measured(&self) -> Vec<&String> {
        let is_hub = |host: &&String| self.hub.as_ref() == Some(*host);
        self.lab.hosts.iter().filter(|host| !is_hub(host)).collect()
    }

    /// What was made so far.
    fn made(&self, bench: &Bench<'_>) -> Vec<found::Measurement> {
        if self.hub.is_some() {
            return fleet::made(bench);
        }
        let all = 0..self.measurements(bench.scale);
        all.filter_map(|number| found::read(bench, number))
            .collect()
    }

    fn measurements(&self, scale: Scale) -> usize {
        scale.of(self.measurements, FEWEST)
    }

    /// Mean time between two starts here.
    fn mean(&self) -> Duration {
        self.mean.0.div_f64(self.time_scale)
    }

    pub(super) fn expected(&self, scale: Scale) -> Duration {
        self.mean().mul_f64(self.measurements(scale) as f64) + LAST
    }
}

/// Makes what has not been made.
pub(super) fn run(stability: &Stability, bench: &Bench<'_>) -> anyhow::Result<()> {
    if let Some(hub) = &stability.hub {
        let (made, all) = (
            stability.made(bench).len(),
            stability.measurements(bench.scale),
        );
        return match all.saturating_sub(made) {
            0 => Ok(()),
            due => fleet::all(stability, hub, bench, made, due),
        };
    }
    let plans = schedule::draw(
        &stability.lab.hosts,
        stability.measurements(bench.scale),
        stability.mean(),
        bench.seed,
    );
    let due: Vec<_> = plans
        .into_iter()
        .filter(|plan| found::read(bench, plan.number).is_none())
        .collect();
    if due.is_empty() {
        return Ok(());
    }
    let topology = stability.topology().map_err(anyhow::Error::msg)?;
    measure::all(bench, topology, &stability.background, &due)
}

/// What the study shows.
pub(super) fn conclude(
    stability: &Stability,
    bench: &Bench<'_>,
    experiment: Experiment,
) -> Experiment {
    let all = stability.measurements(bench.scale);
    let made = stability.made(bench);
    let pairs = found::Pairs::of(&made, bench.with_invalid);
    let doubtful = found::doubtful(&made);
    let mut experiment = cases::add(experiment, &pairs);
    experiment = figures::add(experiment, &made, &pairs);
    experiment = found::tables(experiment, &made, &pairs);
    experiment
        .note(format!(
            "{} of {all} measurements were made (scale {}), with a mean of {:.1} s between starts: the paper's 30 s, {} times \
             faster.",
            made.len(),
            bench.scale.get(),
            stability.mean().as_secs_f64(),
            stability.time_scale
        ))
        .note(format!(
            "For {doubtful} of them this machine was too busy to be trusted; they are {}.",
            if bench.with_invalid { "counted (--with-invalid)" } else { "left out" }
        ))
        .note(measure::RULES)
        .note(
            "The paper's curves are not in its text; beside ours stand the numbers that it names. Its paths were those of the \
             Internet between some 100 hosts in 1999 or 2000; those of a lab have other rates, and throughputs cannot be \
             compared in absolute terms.",
        )
}
