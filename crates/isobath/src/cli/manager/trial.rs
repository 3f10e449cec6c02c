//! `isobath manager trial`.

use super::Switch;
use indicatif::ProgressBar;
use kit::bar;
use kit::begin;
use kit::options::Output;
use kit::usage::Usage;
use lab::{Network, Options, profiles};
use record::Run;
use serde_json::json;
use studies::dumbbell::Place;
use studies::trial::plan::{Cross, Probes};
use studies::trial::run::{self, Context, Outcome};
use studies::trial::{Live, Plan, TEST, quality, scorecard, summary};
use sys::process;
use units::{Rate, Span};

/// Octets of a packet that are kept: all of the longest.
const WHOLE: u16 = 1_500;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 measured; 3 could not be run, or broke off; 4 this machine was the bottleneck; 130 interrupted, record kept."
)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    output: Output,
}

/// What is to be tried.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    /// Emulated network: a name from 'isobath lab list', or a TOML file; its client sends to its server over the shared
    /// bottleneck.
    #[arg(long, value_name = "NAME", default_value = "manager-dumbbell")]
    pub(crate) lab: String,
    /// Measurement tool to run beside the application.
    #[arg(long, value_enum, value_name = "TOOL")]
    probes: Probes,
    /// Whether application packets ride on the probes.
    #[arg(long, value_enum, value_name = "ON|OFF", default_value = "on")]
    riding: Switch,
    /// Maximum time a packet waits for a probe.
    #[arg(long, value_name = "TIME", default_value = "10ms")]
    delay: Span,
    /// Leading share of each train that may carry packets, 0 to 1.
    #[arg(long, default_value_t = 1.0)]
    ratio: f64,
    /// Rate at which the application writes.
    #[arg(long, value_name = "RATE", default_value = "4Mbit")]
    source: Rate,
    /// Cross traffic: consecutive rates, 'web', or 'none'.
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "1Mbit,3Mbit,5Mbit,6Mbit,4Mbit,2Mbit"
    )]
    cross: Cross,
    /// Duration of each cross-traffic rate.
    #[arg(long, value_name = "TIME", default_value = "45s")]
    each: Span,
    /// Duration of the trial.
    #[arg(short, long, value_name = "TIME", default_value = "270s", value_parser = crate::cli::seconds)]
    duration: Span,
    /// Random seed of the lab and of 'web' cross traffic.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Asked {
    /// The plan, if it is one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        let plan = Plan {
            probes: self.probes,
            riding: self.riding == Switch::On,
            delay: self.delay,
            ratio: self.ratio,
            source: self.source,
            cross: self.cross.clone(),
            each: self.each,
            duration: self.duration,
            seed: self.seed,
        };
        let wrong = |what: String| Usage::of(anyhow::anyhow!(what));
        plan.check().map_err(wrong)?;
        Ok(plan)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = args.asked.plan()?;
    let mut topology = profiles::find(&args.asked.lab).map_err(Usage::of)?;
    let wrong = |what: String| Usage::of(anyhow::anyhow!(what));
    let place =
        Place::find(&mut topology, plan.others(), plan.cross == Cross::Web).map_err(wrong)?;
    let options = Options {
        capture: Some(WHOLE),
        ..Options::default()
    };
    // The lab comes first: it may have to change this process before there are other threads.
    let network = Network::up_with(topology, plan.seed, &options)?;
    let interrupt = process::interrupt_flag()?;
    let mut run = begun(args, &plan, &place, &network)?;
    let mut opened = args.output.open(&args.asked.lab, &run)?;
    let bar = bar::bar(
        "trial {wide_bar}  {msg}",
        Some(bar::STEPS),
        args.output.quiet,
    );
    let context = Context {
        plan: &plan,
        lab: Some(&network),
        interrupt: &interrupt,
        display: &|live| show(&bar, live),
    };
    let outcome = run::run(&context, &network, &place, &mut opened.writer);
    let outcome = outcome.inspect_err(|_| opened.undo())?;
    bar.finish_and_clear();
    conclude(&mut run, &plan, &outcome, &network)?;
    args.output
        .close(&run, &outcome.ending, opened, scorecard::scorecard)
}

/// What is known before the run.
fn begun(args: &Args, plan: &Plan, place: &Place, network: &Network) -> anyhow::Result<Run> {
    let mut run = args.output.begun(TEST, plan)?;
    run.plan["bottleneck"] = json!({ "rate": place.rate });
    let topology = network.topology();
    let address = |host: &str| network.address(host, false).into_iter().collect();
    run.path.client.addresses = address(&topology.client);
    run.path.server.addresses = address(&topology.server);
    run.path.families = vec![4];
    run.path.lab = Some(begin::lab_info(&args.asked.lab, network));
    run.hosts = vec![kit::host::facts("client")];
    Ok(run)
}

/// Shows how it goes.
pub(crate) fn show(bar: &ProgressBar, live: &Live) {
    bar::show(bar, live.done);
    bar.set_message(format!(
        "application {:.1} Mbit/s, {} trains, {} riders, {} estimates",
        live.source_mbps, live.trains, live.riders, live.estimates
    ));
}

/// Turns what was found into the run's conclusion.
fn conclude(
    run: &mut Run,
    plan: &Plan,
    outcome: &Outcome,
    network: &Network,
) -> anyhow::Result<()> {
    let found = summary::summarise(
        plan,
        &outcome.tables,
        Some(outcome.capacity),
        outcome.truth.clone(),
    );
    run.summary = serde_json::to_value(found)?;
    run.instrument = quality::instrument(outcome, network.cpu());
    run.warnings = quality::warnings(outcome, &run.instrument);
    run.status = quality::status(outcome, &run.warnings);
    Ok(())
}
