//! Experiments: what a paper did, or a claim of ours, as something that can be run again.
//!
//! An experiment is a TOML file ([`mod@description`]) that names a *study*, what is done, with its parameters, and the
//! papers whose claims are looked at. A study makes many measurements, each in a process of its own ([`pool`]) or in
//! virtual time ([`simulate`]), and then says what came of them as cases that hold or do not, tables and figures
//! ([`report::experiment`]):
//!
//! | study | question |
//! |---|---|
//! | [`grid`] | do our transfers and the kernel's get the same from a path, and the same as in virtual time? does that follow theory? |
//! | [`stability`] | do two transfers in a row agree while the paths change? |
//! | [`growth`] | is the window's growth per window more aggressive than that per acknowledgement? |
//! | [`medianet`] | does an application that adapts gain by estimates of its path, and by riding on their probes? |
//! | [`mathis`] | does throughput follow the square root of loss? |
//! | [`composition`] | does the loss of two links compose to that of the path over both? |
//! | [`curves`] | does TCP keep a rate as far as round trip and loss let it? |
//! | [`replay`] | what does a replay of traffic lose under cruder models of it? |
//! | [`trials`] | what does an application pay for a measurement beside it, and what when it rides on its probes? |
//! | [`verdicts`] | do tests of model based metrics give the verdicts that their papers say? |
//!
//! After each step the experiment's folder says what has been done ([`folder`]), so that an experiment that was
//! interrupted goes on where it was:
//!
//! ```text
//! 2026-11-21T09-30-00Z-experiment-btc-grid/
//!     plan.json           the TOML, seed and scale
//!     runs/               a record for each measurement, and the lab it was made in
//!     set-aside/          records of measurements that were made again
//!     experiment.json     what came of it
//!     index.html          the same as a page
//! ```
//!
//! A study is two functions: one that does what is not yet done, one that looks at what has been done and says what it
//! means. The second reads the folder and nothing else.

pub mod bench;
pub mod claims;
pub mod composition;
pub mod curves;
pub mod description;
pub mod display;
pub mod error;
pub mod folder;
pub mod grid;
pub mod growth;
pub mod mathis;
pub mod medianet;
pub mod page;
pub mod place;
pub mod pool;
mod repeats;
pub mod replay;
pub mod simulate;
pub mod stability;
pub mod trials;
pub mod verdicts;

pub use bench::{Bench, Scale};
pub use description::{Description, Study};
pub use replay::World;

/// The paper's transfers: 1,049,800 octets in segments of 1,448.
const PAPER_SEGMENTS: u32 = 725;

impl Study {
    /// The same in another world.
    fn in_world(&mut self, world: World) -> Result<(), String> {
        match self {
            Self::Grid(grid) => grid.in_world(world),
            Self::Replay(replays) => replays.in_world(world),
            Self::Verdicts(verdicts) => verdicts.in_world(world),
            Self::Trials(trials) => trials.in_world(world),
            Self::Medianet(medianet) => medianet.in_world(world),
            _ => Err("it runs in one world only - leave --world out".to_owned()),
        }
    }

    /// How long everything takes at this scale on so many processors, roughly.
    pub fn expected(&self, scale: Scale, jobs: usize) -> std::time::Duration {
        match self {
            Self::Composition(composition) => composition.expected(scale, jobs),
            Self::Curves(curves) => curves.expected(scale, jobs),
            Self::Grid(grid) => grid.expected(scale, jobs),
            Self::Growth(growth) => growth.expected(scale, jobs),
            Self::Mathis(mathis) => mathis.expected(scale, jobs),
            Self::Medianet(medianet) => medianet.expected(scale, jobs),
            Self::Replay(replays) => replays.expected(scale, jobs),
            Self::Stability(stability) => stability.expected(scale),
            Self::Trials(trials) => trials.expected(scale, jobs),
            Self::Verdicts(verdicts) => verdicts.expected(scale, jobs),
        }
    }

    /// Does what is not yet done, until all is or the user interrupts.
    ///
    /// # Errors
    ///
    /// When nothing can be done: no right to make networks, no room on the disk. What a measurement finds wrong is written
    /// down.
    pub fn run(&self, bench: &Bench<'_>) -> anyhow::Result<()> {
        match self {
            Self::Composition(composition) => composition::run(composition, bench),
            Self::Curves(curves) => curves::run(curves, bench),
            Self::Grid(grid) => grid::run(grid, bench),
            Self::Growth(growth) => growth::run(growth, bench),
            Self::Mathis(mathis) => mathis::run(mathis, bench),
            Self::Medianet(medianet) => {
                medianet::run(medianet, bench);
                Ok(())
            }
            Self::Replay(replays) => replay::run(replays, bench),
            Self::Stability(stability) => stability::run(stability, bench),
            Self::Trials(trials) => {
                trials::run(trials, bench);
                Ok(())
            }
            Self::Verdicts(verdicts) => verdicts::run(verdicts, bench),
        }
    }

    /// Says what has been found so far.
    ///
    /// # Errors
    ///
    /// When what is in the folder cannot be read.
    pub fn conclude(
        &self,
        bench: &Bench<'_>,
        experiment: report::experiment::Experiment,
    ) -> anyhow::Result<report::experiment::Experiment> {
        match self {
            Self::Composition(composition) => {
                Ok(composition::conclude(composition, bench, experiment))
            }
            Self::Curves(curves) => Ok(curves::conclude(curves, bench, experiment)),
            Self::Grid(grid) => Ok(grid::conclude(grid, bench, experiment)),
            Self::Growth(growth) => growth::conclude(growth, bench, experiment),
            Self::Mathis(mathis) => mathis::conclude(mathis, bench, experiment),
            Self::Medianet(medianet) => medianet::conclude(medianet, bench, experiment),
            Self::Replay(replays) => replay::conclude(replays, bench, experiment),
            Self::Stability(stability) => Ok(stability::conclude(stability, bench, experiment)),
            Self::Trials(trials) => Ok(trials::conclude(trials, bench, experiment)),
            Self::Verdicts(verdicts) => Ok(verdicts::conclude(verdicts, bench, experiment)),
        }
    }
}
