//! `isobath btc`: finds the far end or makes one in a lab, carries the transfers out, and tells what came of them.

mod args;
mod icmp;
mod progress;

pub(crate) use args::Args;

use btc::run::{self, Context, Outcome};
use btc::{quality, scorecard, summary, warnings};
use kit::begin;
use kit::lab_server::Far;
use kit::usage::Usage;
use lab::{Network, profiles};
use record::{Run, Verdict};
use schema::Direction;
use schema::btc::plan::{Mode, Plan, Tool};
use serde_json::json;
use session::Client;
use std::net::SocketAddr;
use std::time::Duration;
use sys::process;

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut plan = args.plan()?;
    let is_kernels = plan.compare || plan.tools.contains(&Tool::Kernel);
    if is_kernels {
        sys::require_linux("a transfer of the kernel's TCP")?;
    }
    if is_kernels && plan.direction == Direction::Up {
        sys::tcp::try_congestion(plan.options.congestion_control.name()).map_err(Usage::of)?;
    }
    if plan.mode == Mode::Icmp {
        sys::require_linux("a transfer by ICMP errors")?;
        return icmp::run(args, plan);
    }
    // The lab comes first: it may have to change this process before there are other threads.
    let network = network(args)?;
    let interrupt = process::interrupt_flag()?;
    let far = network
        .as_ref()
        .map(|network| Far::start_all(network, args.towards.reach.is_v6()))
        .transpose()?
        .unwrap_or_default();
    let mut client = args.towards.connect(far.first())?;
    plan.fit(client.peer);
    check(&plan, &client)?;
    let mut run = new_run(args, &plan, client.peer, Some(&client), network.as_ref())?;
    let mut opened = args.output.open(args.towards.name(), &run)?;
    let agreement = run::agree(&mut client).inspect_err(|_| opened.undo())?;
    let display = progress::display(args);
    let context = Context {
        plan: &plan,
        lab: network.as_ref(),
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let outcome = run::run(&context, agreement, &mut client, &mut opened.writer)?;
    display.finish();
    conclude(&mut run, &plan, &outcome, network.as_ref())?;
    args.output
        .close(&run, &outcome.ending, opened, scorecard::scorecard)
}

/// The lab that was named, if one was.
fn network(args: &Args) -> anyhow::Result<Option<Network>> {
    let Some(name) = &args.towards.lab else {
        return Ok(None);
    };
    let topology = profiles::find(name).map_err(Usage::of)?;
    Ok(Some(Network::up(topology, args.seed)?))
}

/// What can be found wrong before the run. The far end checks what only it can know.
fn check(plan: &Plan, client: &Client) -> anyhow::Result<()> {
    let limits = client.welcome.limits;
    let transfers = plan.limit.duration().unwrap_or_default() * plan.repeat;
    let total = transfers * if plan.compare { 2 } else { 1 };
    if total > Duration::from_secs(limits.duration_s) {
        anyhow::bail!(
            "the run takes {:.0} s and the server allows {} s - use a shorter --duration or fewer repeats",
            total.as_secs_f64(),
            limits.duration_s
        );
    }
    if u32::from(plan.parallel) > limits.streams {
        anyhow::bail!("the server allows {} transfers at once", limits.streams);
    }
    Ok(())
}

/// What is known before the run.
fn new_run(
    args: &Args,
    plan: &Plan,
    peer: SocketAddr,
    client: Option<&Client>,
    network: Option<&Network>,
) -> anyhow::Result<Run> {
    let mut run = args.output.begun("btc", plan)?;
    let rounds = plan.rounds();
    run.plan["order"] = json!(
        rounds
            .iter()
            .map(|r| plan.label(r.tool))
            .collect::<Vec<_>>()
    );
    let family = if peer.is_ipv6() { 6 } else { 4 };
    let lab = args.towards.lab.as_deref().zip(network);
    run.path = begin::path_info(&[peer], vec![family], lab);
    run.hosts = begin::hosts(client);
    Ok(run)
}

/// Turns what was found into the run's conclusion.
fn conclude(
    run: &mut Run,
    plan: &Plan,
    outcome: &Outcome,
    network: Option<&Network>,
) -> anyhow::Result<()> {
    let planned = plan.rounds().len() * usize::from(plan.parallel);
    let emulator = network.map(Network::cpu);
    run.summary = serde_json::to_value(summary::summarise(plan, &outcome.findings))?;
    run.instrument = quality::instrument(outcome, plan.direction.sender(), emulator);
    run.warnings = warnings::warnings(plan, outcome, &run.instrument);
    let limited = |transfer: &schema::btc::tables::Transfer| transfer.outcome == "limited";
    if outcome.findings.transfers.iter().any(limited) {
        run.verdict = Some(Verdict::Inconclusive);
    }
    run.status = quality::status(outcome, planned, &run.warnings);
    Ok(())
}
