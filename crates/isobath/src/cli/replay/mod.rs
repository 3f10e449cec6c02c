//! `isobath replay`: brings a lab up, plays vectors in it, and tells what came of them.

mod args;
mod progress;

pub(crate) use args::Args;

use super::begin::{self, Opened};
use super::{Usage, common, print};
use crate::host;
use crate::replay::cast::{Cast, Host};
use crate::replay::forecast::Forecast;
use crate::replay::monitors::SNAP;
use crate::replay::plan::{Plan, Way};
use crate::replay::quality::LeftOut;
use crate::replay::run::{self, Context, Outcome};
use crate::replay::{quality, scorecard, verify};
use crate::rrul::run::Ending;
use anyhow::anyhow;
use args::{Play, Verb, Verify};
use jiff::Timestamp;
use lab::{Network, Topology, profiles};
use path::{Assigned, StageSpec};
use record::{Run, Verdict};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use sys::process;
use units::Rate;

/// Exit status when nothing could be told.
const INCONCLUSIVE: u8 = 5;

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.verb {
        Some(Verb::Verify(args)) => verify(args),
        None => play(&args.play),
    }
}

fn verify(args: &Verify) -> anyhow::Result<u8> {
    let (fidelity, _) = verify::verify(&args.run)?;
    if args.json {
        print(&serde_json::to_string_pretty(&fidelity)?)?;
    } else {
        print(&verify::words(&fidelity))?;
    }
    Ok(match fidelity.verdict {
        Verdict::Pass => 0,
        Verdict::Fail => 1,
        Verdict::Inconclusive | Verdict::Error => INCONCLUSIVE,
    })
}

fn play(args: &Play) -> anyhow::Result<u8> {
    let mut plan = args.plan()?;
    let file = plan.vectors.clone();
    let cast = Cast::read(&file, &plan.models, plan.duration.map(|d| d.0), plan.seed)?;
    if cast.parts.is_empty() {
        return Err(Usage::of(anyhow!(
            "{} has no vector that starts within the duration - give another file or a longer --duration",
            file.display()
        )));
    }
    plan.forward = forward(&cast);
    let forecast = Forecast::of(&cast, plan.duration.map(|d| d.0));
    let tuples = args::check(&forecast)?;
    // The lab comes first: it may have to change this process before there are other threads.
    let delays = Assigned::default();
    let network = network(args, &plan, &delays)?;
    let interrupt = process::interrupt_flag()?;
    let mut run = new_run(args, &plan, &forecast, &network)?;
    let mut opened = Opened::create(args.output.out.as_deref(), &args.lab, &run)?;
    let bar = progress::bar(args.output.quiet);
    let context = Context {
        plan: &plan,
        cast: &cast,
        network: &network,
        delays: &delays,
        tuples,
        v6: args.ipv6,
        interrupt: &interrupt,
        display: &|live| progress::show(&bar, live),
    };
    let outcome = run::run(&context, &mut opened.writer).inspect_err(|_| opened.undo())?;
    bar.finish_and_clear();
    let ending = conclude(&mut run, &plan, outcome, cast.udp, &network)?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    tell(args, &run, &dir)?;
    Ok(common::exit_status(&run, &ending))
}

/// The direction in which more is sent.
fn forward(cast: &Cast) -> Way {
    if cast.bytes(Host::Client) > cast.bytes(Host::Server) {
        Way::Up
    } else {
        Way::Down
    }
}

/// The lab, with the bottleneck that the plan wants.
fn network(args: &Play, plan: &Plan, delays: &Assigned) -> anyhow::Result<Network> {
    let mut topology = profiles::find(&args.lab).map_err(Usage::of)?;
    if let Some(rate) = plan.bottleneck {
        bottleneck(&mut topology, rate).map_err(Usage::of)?;
    }
    let options = lab::Options {
        delays: Some(delays.clone()),
        arrivals: true,
        signals: true,
        capture: plan.capture.then_some(SNAP),
        initial_window: plan.initial_window,
        congestion_control: plan.congestion_control.clone(),
        busy_hosts: true,
        ..lab::Options::default()
    };
    Ok(Network::up_with(topology, plan.seed, &options)?)
}

/// Gives every link of `topology` that has a rate this one.
fn bottleneck(topology: &mut Topology, to: Rate) -> anyhow::Result<()> {
    let mut changed = false;
    for link in &mut topology.links {
        for stage in link.up.0.iter_mut().chain(&mut link.down.0) {
            if let StageSpec::Rate { rate, .. } = stage {
                *rate = to;
                changed = true;
            }
        }
    }
    anyhow::ensure!(
        changed,
        "no link of this lab has a rate to change - choose another, such as dumbbell"
    );
    Ok(())
}

/// What is known before the run.
fn new_run(
    args: &Play,
    plan: &Plan,
    forecast: &Forecast,
    network: &Network,
) -> anyhow::Result<Run> {
    let mut described = serde_json::to_value(plan)?;
    described["forecast"] = serde_json::to_value(forecast)?;
    described["note"] = serde_json::json!(args.output.note);
    let mut run = Run::new("replay", Timestamp::now(), described);
    let addresses: Vec<IpAddr> = network
        .topology()
        .servers()
        .first()
        .and_then(|server| network.address(server, args.ipv6))
        .into_iter()
        .collect();
    let servers: Vec<SocketAddr> = addresses.into_iter().map(|ip| (ip, 0).into()).collect();
    let family = if args.ipv6 { 6 } else { 4 };
    run.path = begin::path_info(&servers, vec![family], Some((&args.lab, network)));
    run.hosts = vec![host::facts("client")];
    Ok(run)
}

/// Turns what was found into the run's conclusion.
fn conclude(
    run: &mut Run,
    plan: &Plan,
    outcome: Outcome,
    udp: u64,
    network: &Network,
) -> anyhow::Result<Ending> {
    let rate = rate(network.topology(), plan.forward);
    let Outcome {
        ending,
        figures,
        cpu,
        truth,
        uncaptured: packets,
        length,
    } = outcome;
    let left_out = LeftOut { udp, packets };
    let summary = figures.summary(plan, length, rate, truth);
    run.instrument = quality::instrument(&cpu, &summary, network.cpu());
    run.warnings = quality::warnings(&ending, &cpu, &summary, &run.instrument, left_out);
    run.status = quality::status(&ending, &run.warnings);
    run.summary = serde_json::to_value(summary)?;
    Ok(ending)
}

/// The least rate of the links in direction `way`.
fn rate(topology: &Topology, way: Way) -> Option<Rate> {
    let links = topology.links.iter();
    let specs = links.map(|link| match way {
        Way::Up => &link.up,
        Way::Down => &link.down,
    });
    specs.filter_map(profiles::rate).min()
}

fn tell(args: &Play, run: &Run, dir: &Path) -> anyhow::Result<()> {
    args.output.tell(run, dir, || {
        let summary = serde_json::from_value(run.summary.clone())?;
        Ok(scorecard::scorecard(run, &summary))
    })
}
