//! Does the loss of two links add up to that of the path over both?
//!
//! For each pair of losses a path a-b-c is tested three times: a to b, b to c, a to c. The losses of the two parts are composed
//! (RFC 6049) and held against that of the whole. Each test is made twice: to a fixed least number of packets, and as the
//! sequential test alone ends it, whose losses are bent when it ends early (thesis 4.4.3).

mod found;

use super::pool::{self, Job};
use super::{Bench, Scale};
use report::experiment::Experiment;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The fewest losses of a link, however small the scale.
const FEWEST: usize = 2;
/// A run takes about so long.
const RUN: Duration = Duration::from_secs(5);
/// The parts of the path and the whole: name, and its ends.
const PATHS: [(&str, &str, &str); 3] = [("ab", "a", "b"), ("bc", "b", "c"), ("ac", "a", "c")];
/// How a test ends: name, and whether the least number of packets is asked for.
const RULES: [(&str, bool); 2] = [("least", true), ("sequential", false)];

/// Losses, and how often each pair is tested.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Composition {
    /// Losses of a link, as shares: each pair of them is a path.
    losses: Vec<f64>,
    /// Tests of each path and rule.
    repeats: usize,
    /// The least number of packets.
    packets: u64,
    /// Options of every run of `isobath mbm`.
    arguments: String,
}

/// A path: the losses of its two links.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell([f64; 2]);

impl Cell {
    fn name(self) -> String {
        let [one, other] = self.0.map(super::place::per_cent);
        format!("{one}pct-{other}pct")
    }

    fn toml(self) -> String {
        let link = |from: &str, to: &str, loss: f64| {
            let lost = if loss > 0.0 {
                format!("{{ kind = \"loss\", probability = {loss:?} }}, ")
            } else {
                String::new()
            };
            format!(
                "[[link]]\nbetween = [\"{from}\", \"{to}\"]\n\
                 up = [{{ kind = \"rate\", rate = \"100Mbit\" }}, {lost}{{ kind = \"delay\", delay = \"2ms\" }}]\n\
                 down = [{{ kind = \"rate\", rate = \"100Mbit\" }}, {{ kind = \"delay\", delay = \"2ms\" }}]\n"
            )
        };
        let [one, other] = self.0;
        format!(
            "summary = \"two links that lose {one} and {other} of packets\"\nclient = \"a\"\nserver = \"c\"\n\
             hosts = [\"a\", \"c\"]\nrouters = [\"b\"]\nipv6 = false\n{}{}",
            link("a", "b", one),
            link("b", "c", other)
        )
    }

    fn record(self, path: &str, rule: &str, repeat: usize) -> String {
        format!("{}-{path}-{rule}-{repeat:02}", self.name())
    }
}

impl Composition {
    pub(super) fn check(&self) -> Result<(), String> {
        super::place::check_shares("losses", &self.losses)?;
        if self.losses.len() < FEWEST || !(1..=100).contains(&self.repeats) || self.packets == 0 {
            return Err(
                "write at least 2 losses, 1 to 100 repeats and a number of packets".to_owned(),
            );
        }
        Ok(())
    }

    fn cells(&self, scale: Scale) -> Vec<Cell> {
        let count = scale.of(self.losses.len(), FEWEST);
        let losses = self.losses.get(..count).unwrap_or(&self.losses);
        let pairs = losses
            .iter()
            .flat_map(|one| losses.iter().map(|other| Cell([*one, *other])));
        pairs.collect()
    }

    pub(super) fn expected(&self, scale: Scale, jobs: usize) -> Duration {
        let runs = self.cells(scale).len() * self.repeats * PATHS.len() * RULES.len();
        let all = (RUN + pool::OVERHEAD).saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX));
        all / u32::try_from(jobs).unwrap_or(1).max(1)
    }

    fn jobs(&self, bench: &Bench<'_>) -> anyhow::Result<Vec<Job>> {
        let mut jobs = Vec::new();
        for cell in self.cells(bench.scale) {
            let lab = bench.write(&format!("{}.lab.toml", cell.name()), &cell.toml())?;
            for repeat in 0..self.repeats {
                for (path, from, to) in PATHS {
                    for (rule, is_least) in RULES {
                        let rule_text = if is_least {
                            format!("at-least={}", self.packets)
                        } else {
                            "sequential".to_owned()
                        };
                        let seed = bench.seed.wrapping_mul(1_000_000) + jobs.len() as u64;
                        let text = format!(
                            "mbm {} --rule {rule_text} --from {from} --to {to} --seed {seed} --lab",
                            self.arguments
                        );
                        let words = text.split_whitespace().map(str::to_owned);
                        jobs.push(Job {
                            name: cell.record(path, rule, repeat),
                            arguments: words.chain([lab.display().to_string()]).collect(),
                            expected: RUN,
                            is_heavy: false,
                        });
                    }
                }
            }
        }
        Ok(jobs)
    }
}

/// Runs what has not been run.
pub(super) fn run(composition: &Composition, bench: &Bench<'_>) -> anyhow::Result<()> {
    pool::run(bench, &composition.jobs(bench)?);
    Ok(())
}

/// What came of it.
pub(super) fn conclude(
    composition: &Composition,
    bench: &Bench<'_>,
    experiment: Experiment,
) -> Experiment {
    let cells = composition.cells(bench.scale);
    let [least, sequential] =
        RULES.map(|(rule, _)| found::all(bench, &cells, rule, composition.repeats));
    found::add(experiment, &least, &sequential, composition.packets)
}
