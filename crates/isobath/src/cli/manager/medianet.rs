//! `isobath manager medianet`.

use super::Switch;
use indicatif::ProgressBar;
use kit::bar::STEPS;
use kit::begin;
use kit::options::Output;
use kit::usage::Usage;
use kit::{bar, host};
use lab::{Network, profiles};
use record::Run;
use std::net::SocketAddr;
use studies::dumbbell::Place;
use studies::medianet::plan::{Bottleneck, Plan, Probes, WHOLE};
use studies::medianet::run::{self, Context, Outcome};
use studies::medianet::{Live, TEST, quality, scorecard, summary};
use sys::process;
use units::{Rate, Span};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 measured; 3 could not be run; 4 this machine was the bottleneck; 130 interrupted, record kept."
)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    output: Output,
}

/// What is to be run.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    /// Emulated network: a name from 'isobath lab list', or a TOML file; cross traffic enters its slowest link.
    #[arg(long, value_name = "NAME", default_value = "manager-dumbbell")]
    pub(crate) lab: String,
    /// Estimator of the available bandwidth.
    #[arg(long, value_enum, value_name = "NAME", default_value = "none")]
    probes: Probes,
    /// Whether the streams use the overlay and ride on probes.
    #[arg(long, value_enum, value_name = "WHETHER", default_value = "off")]
    riding: Switch,
    /// Duration of the streams; the steps of the cross traffic scale with it.
    #[arg(short, long, value_name = "TIME", default_value_t = WHOLE, value_parser = crate::cli::seconds)]
    duration: Span,
    /// Maximum time a packet waits for a probe, with --riding on.
    #[arg(long, value_name = "TIME", default_value = "10ms")]
    delay: Span,
    /// Report interval of the local scheduler.
    #[arg(long, value_name = "TIME", default_value = "2s")]
    interval: Span,
    /// Rate by which the global scheduler's view rises each second [default: none].
    #[arg(long, value_name = "RATE")]
    creep: Option<Rate>,
    /// Timeout of an estimate.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    patience: Span,
    /// Random seed of probing and emulated links.
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
            duration: self.duration,
            delay: self.delay,
            interval: self.interval,
            creep: self.creep,
            patience: self.patience,
            seed: self.seed,
        };
        plan.check()
            .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = args.asked.plan()?;
    let mut topology = profiles::find(&args.asked.lab).map_err(Usage::of)?;
    let wrong = |what: String| Usage::of(anyhow::anyhow!(what));
    let place = Place::find(&mut topology, Some(plan.cross()), false).map_err(wrong)?;
    let bottleneck = Bottleneck::from(&place);
    // The lab comes first: it may have to change this process before there are other threads.
    let network = Network::up(topology, plan.seed)?;
    let interrupt = process::interrupt_flag()?;
    let mut run = new_run(args, &plan, &bottleneck, &network)?;
    let mut opened = args.output.open(&args.asked.lab, &run)?;
    let bar = bar::bar(
        "{bar:30} {elapsed}/{prefix} {msg}",
        Some(STEPS),
        args.output.quiet,
    );
    let context = Context {
        plan: &plan,
        lab: Some(&network),
        interrupt: &interrupt,
        display: &|live| show(&bar, live),
    };
    let outcome =
        run::run(&context, &network, &place, &mut opened.writer).inspect_err(|_| opened.undo())?;
    bar.finish_and_clear();
    let ending = conclude(&mut run, &plan, &bottleneck, outcome, &network)?;
    args.output
        .close(&run, &ending, opened, scorecard::scorecard)
}

/// What is known before the run.
fn new_run(
    args: &Args,
    plan: &Plan,
    bottleneck: &Bottleneck,
    network: &Network,
) -> anyhow::Result<Run> {
    let mut run = args.output.begun(TEST, plan)?;
    run.plan["bottleneck"] = serde_json::to_value(bottleneck)?;
    run.hosts = vec![host::facts("client")];
    let server = network.address(&network.topology().server, false);
    let server = server.map(|ip| SocketAddr::new(ip, 0));
    let lab = Some((&*args.asked.lab, network));
    run.path = begin::path_info(server.as_slice(), vec![4], lab);
    Ok(run)
}

/// Turns what was found into the run's conclusion.
fn conclude(
    run: &mut Run,
    plan: &Plan,
    bottleneck: &Bottleneck,
    outcome: Outcome,
    network: &Network,
) -> anyhow::Result<kit::ending::Ending> {
    let links = outcome.truth.clone();
    let summary = summary::summarise(plan, &outcome.rows, outcome.seconds, bottleneck, links);
    run.instrument = quality::instrument(&outcome, network.cpu());
    run.warnings = quality::warnings(&outcome, &summary, &run.instrument);
    run.status = quality::status(&outcome.ending, &run.warnings);
    run.summary = serde_json::to_value(summary)?;
    Ok(outcome.ending)
}

/// Shows how it goes.
pub(crate) fn show(bar: &ProgressBar, live: &Live) {
    let planned = live.planned.as_secs_f64();
    bar.set_prefix(format!("{planned:.0}s"));
    bar.set_message(format!(
        "view {:.2} Mbit/s, levels {}, {} frames decoded, {} estimates",
        live.view_mbps, live.levels, live.decoded, live.estimates
    ));
    bar::show(bar, live.elapsed.as_secs_f64() / planned.max(1e-9));
}
