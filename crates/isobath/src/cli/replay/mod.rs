//! `isobath replay`: plays vectors in a lab or with another host, and tells what came of them.

mod args;
mod calibrate;
mod hosts;
mod progress;

pub(crate) use args::{Args, Played};
pub(crate) use progress::{bar, reading, show};

use anyhow::anyhow;
use args::{Play, Verb, Verify};
use kit::begin::{self, Opened};
use kit::ending::Ending;
use kit::host;
use kit::usage::{Usage, print};
use lab::Network;
use path::Assigned;
use record::{PathInfo, Run, Verdict};
use schema::replay::plan::Plan;
use std::net::{IpAddr, SocketAddr};
use sys::process;
use tmix::replay::collector::{Context, Outcome};
use tmix::replay::forecast::Forecast;
use tmix::replay::limits::margin::{self, Excess};
use tmix::replay::limits::{Limits, file};
use tmix::replay::quality::LeftOut;
use tmix::replay::room::Room;
use tmix::replay::run::{self, Place};
use tmix::replay::workload::Workload;
use tmix::replay::{place, quality, scorecard, verify};

/// Exit status when nothing could be told.
const INCONCLUSIVE: u8 = 5;

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.verb {
        Some(Verb::Calibrate(args)) => calibrate::run(args),
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
    let (plan, workload) = prepare(args.plan()?)?;
    match &args.host {
        Some(host) => hosts::play(args, host, &plan, workload),
        None => in_lab(args, &plan, &workload),
    }
}

/// What will be played by `plan`, which learns the direction of more data.
///
/// # Errors
/// When the file cannot be read, or nothing of it is to be played.
fn prepare(mut plan: Plan) -> anyhow::Result<(Plan, Workload)> {
    let until = plan.duration.map(|duration| duration.0);
    let mut workload = Workload::read(&plan.vectors, &plan.models, until, plan.seed)?;
    if !plan.udp {
        workload.leave_out_udp();
    }
    if workload.parts.is_empty() {
        return Err(nothing_to_play(&plan));
    }
    plan.forward = workload.totals().forward();
    Ok((plan, workload))
}

/// Why a replay of nothing is refused.
pub(crate) fn nothing_to_play(plan: &Plan) -> anyhow::Error {
    Usage::of(anyhow!(
        "{} has no vector that starts within the duration - give another file or a longer --duration",
        plan.vectors.display()
    ))
}

fn in_lab(args: &Play, plan: &Plan, workload: &Workload) -> anyhow::Result<u8> {
    let forecast = Forecast::of(workload, plan.duration.map(|d| d.0));
    let room = Room::in_lab(&forecast).map_err(Usage::of)?;
    let reserve = Reserve::of(args, &forecast)?;
    // The lab comes first: it may have to change this process before there are other threads.
    let delays = Assigned::default();
    let network = place::up(args.played.lab(), plan, &delays)?;
    let interrupt = process::interrupt_flag()?;
    let mut run = new_run(args, plan, &forecast)?;
    run.plan["limits"] = reserve.described();
    run.path = path(args, &network);
    let mut opened = Opened::create(args.output.out.as_deref(), args.played.lab(), &run)?;
    let display = progress::display(args, plan, args.played.lab());
    let context = Context {
        plan,
        workload,
        lab: Some(&network),
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let place = Place {
        network: &network,
        delays: &delays,
        room,
        v6: args.reach.is_v6(),
    };
    let outcome = run::run(&context, &place, &mut opened.writer).inspect_err(|_| opened.undo())?;
    display.finish();
    let seen = Some((&network, &reserve));
    let ending = conclude(&mut run, plan, outcome, workload.udp, seen)?;
    args.output
        .close(&run, &ending, opened, scorecard::scorecard)
}

/// What is known of this machine's limits, and whether the replay was planned to go beyond them.
struct Reserve {
    limits: Option<Limits>,
    planned: Option<Excess>,
}

impl Reserve {
    /// Refuses a replay that would be too much, unless it is wanted nevertheless.
    fn of(args: &Play, forecast: &Forecast) -> anyhow::Result<Self> {
        let limits = file::of_this_machine();
        let demands = margin::planned(forecast);
        let planned = limits
            .as_ref()
            .and_then(|limits| margin::excess(limits, &demands));
        if let (Some(limits), Some(excess), false) = (&limits, &planned, args.beyond_limits) {
            return Err(Usage::of(anyhow!(excess.refusal(limits))));
        }
        Ok(Self { limits, planned })
    }

    /// The limits as a plan keeps them.
    fn described(&self) -> serde_json::Value {
        let Some(limits) = &self.limits else {
            return serde_json::Value::Null;
        };
        let limits = limits.components.iter();
        let limits = limits.map(|found| (found.component.name().to_owned(), found.limit.into()));
        serde_json::Value::Object(limits.collect())
    }
}

/// What is known before the run.
fn new_run(args: &Play, plan: &Plan, forecast: &Forecast) -> anyhow::Result<Run> {
    let mut run = args.output.begun("replay", plan)?;
    run.plan["forecast"] = serde_json::to_value(forecast)?;
    run.hosts = vec![host::facts("client")];
    Ok(run)
}

/// Between whom it is played in a lab.
fn path(args: &Play, network: &Network) -> PathInfo {
    let v6 = args.reach.is_v6();
    let addresses: Vec<IpAddr> = network
        .topology()
        .servers()
        .first()
        .and_then(|server| network.address(server, v6))
        .into_iter()
        .collect();
    let servers: Vec<SocketAddr> = addresses.into_iter().map(|ip| (ip, 0).into()).collect();
    let family = if v6 { 6 } else { 4 };
    begin::path_info(&servers, vec![family], Some((args.played.lab(), network)))
}

/// Turns what was found into the run's conclusion.
fn conclude(
    run: &mut Run,
    plan: &Plan,
    outcome: Outcome,
    udp: u64,
    lab: Option<(&Network, &Reserve)>,
) -> anyhow::Result<Ending> {
    let Outcome {
        ending,
        figures,
        cpu,
        truth,
        uncaptured: packets,
        open,
        length,
    } = outcome;
    let rate = lab.and_then(|(network, _)| place::rate(network.topology(), plan.forward));
    let left_out = LeftOut {
        udp,
        packets,
        rtts: lab.is_some_and(|(network, _)| !place::gives_rtts(network.topology())),
    };
    let summary = figures.summary(plan, length, rate, truth);
    let emulator = lab.map(|(network, _)| network.cpu());
    run.instrument = quality::instrument(&cpu, &summary, emulator);
    run.warnings = quality::warnings(&ending, &cpu, &summary, &run.instrument, left_out);
    if let Some((_, reserve)) = lab {
        let measured = margin::measured(&summary, open);
        let limits = reserve.limits.as_ref();
        let beyond = margin::warnings(limits, reserve.planned, &measured);
        run.warnings.extend(beyond);
    }
    run.status = quality::status(&ending, &run.warnings);
    run.summary = serde_json::to_value(summary)?;
    Ok(ending)
}
