//! `isobath sim`: measurements in virtual time.

mod btc;
mod described;
mod estimate;
mod mbm;
mod medianet;
pub(crate) mod prepared;
mod replay;
mod rrul;
pub(crate) mod sweep;
mod trial;

use clap::Parser as _;
use kit::options::Output;
use prepared::Prepared;
use std::sync::atomic::AtomicBool;
use sys::process;
use transport::CongestionControl;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    #[command(flatten)]
    Measure(Box<Measure>),
    /// Run any of these over all combinations of their options, on all processors, into one Parquet file.
    Sweep(sweep::Args),
}

/// What is measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Measure {
    /// Run bulk transfers over a path given by its rate and RTT, or over that of a lab.
    Btc(btc::Args),
    /// Estimate one property of a simulated path, whose true value is known.
    Estimate(estimate::Args),
    /// Test whether a simulated path can carry an application (RFC 8337).
    Mbm(mbm::Args),
    /// Run adaptive video streams, as 'manager medianet' does.
    Medianet(medianet::Args),
    /// Replay connection vectors; an hour of trace takes minutes.
    Replay(replay::Args),
    /// Measure latency under load (RRUL) over a lab's path.
    Rrul(rrul::Args),
    /// Run an application and a measurement tool over a shared bottleneck, as 'manager trial' does.
    Trial(trial::Args),
}

/// A measurement as words, those after `isobath sim`.
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true)]
pub(crate) struct Measurement {
    #[command(subcommand)]
    measure: Measure,
}

impl Measurement {
    /// The measurement that `arguments` ask for.
    ///
    /// # Errors
    /// What is wrong with them, in one line.
    pub(crate) fn parse(arguments: &[String]) -> anyhow::Result<Self> {
        let parsed = Self::try_parse_from(arguments).map_err(|error| super::one_line(&error))?;
        if matches!(&parsed.measure, Measure::Replay(args) if args.captures()) {
            anyhow::bail!("the runs of a sweep have no folders for captures - leave --capture out");
        }
        Ok(parsed)
    }

    /// See [`Simulation::prepare`].
    ///
    /// # Errors
    /// What is refused, in one line.
    pub(crate) fn prepare<'a>(&'a self, interrupt: &'a AtomicBool) -> anyhow::Result<Prepared<'a>> {
        self.measure.simulation().prepare(interrupt)
    }
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Measure(measure) => {
            if matches!(**measure, Measure::Replay(_)) {
                process::prepare_for_much_memory();
            }
            let interrupt = process::interrupt_flag()?;
            let simulation = measure.simulation();
            let prepared = simulation.prepare(&interrupt)?;
            prepared.run(simulation.name(), simulation.output())
        }
        Verb::Sweep(args) => sweep::run(args),
    }
}

impl Measure {
    fn simulation(&self) -> &dyn Simulation {
        match self {
            Self::Btc(args) => args,
            Self::Estimate(args) => args,
            Self::Mbm(args) => args,
            Self::Medianet(args) => args,
            Self::Replay(args) => args,
            Self::Rrul(args) => args,
            Self::Trial(args) => args,
        }
    }
}

/// A measurement in virtual time, as it was asked for.
trait Simulation {
    /// The lab over which it measures; nothing for a path of figures.
    fn name(&self) -> &str;

    /// What becomes of what is found.
    fn output(&self) -> &Output;

    /// Finds out what is to be done.
    ///
    /// # Errors
    /// What is refused, in one line.
    fn prepare<'a>(&'a self, interrupt: &'a AtomicBool) -> anyhow::Result<Prepared<'a>>;
}

/// A congestion control that is simulated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Control {
    /// CUBIC (RFC 9438), as on a lab's hosts.
    Cubic,
    /// Reno (RFC 5681).
    Reno,
}

impl Control {
    /// The algorithm itself.
    const fn algorithm(self) -> CongestionControl {
        match self {
            Self::Cubic => CongestionControl::Cubic,
            Self::Reno => CongestionControl::Reno,
        }
    }
}
