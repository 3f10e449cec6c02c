//! `isobath estimate`: finds the far end or makes one in a lab, sends its trains, and tells what they say.

mod args;
mod foreign;
mod progress;

pub(crate) use args::{Args, Asked};

use estimate::run::{self, Context, Outcome};
use estimate::{quality, riding, scorecard, summary};
use far_ends::address::FarEnd;
use kit::begin::{self, Opened};
use kit::lab_server::Far;
use kit::place::Place;
use kit::tool;
use kit::usage::Usage;
use lab::Network;
use record::Run;
use schema::estimate::Plan;
use schema::estimate::plan::Method;
use serde_json::json;
use std::net::IpAddr;
use std::path::Path;
use sys::process;
use units::Dscp;

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let foreign = args.towards.host.as_deref().and_then(FarEnd::parse);
    if let Some(far_end) = foreign {
        let far_end = far_end.map_err(|reason| Usage::of(anyhow::anyhow!(reason)))?;
        return foreign::run(args, &far_end);
    }
    if args.trust.is_given() {
        return Err(Usage::of(anyhow::anyhow!(foreign::NO_CERTIFICATE)));
    }
    let plan = args.asked.plan(args.reverse)?;
    if plan.method == Method::Hops {
        sys::require_linux("the bottleneck hop")?;
    }
    if let Some(socket) = &args.by {
        return by_manager(args, &plan, socket);
    }
    if plan.method.rides() {
        return Err(Usage::of(anyhow::anyhow!(RIDES)));
    }
    let ends = [args.from.as_deref(), args.to.as_deref()];
    let place = Place::between(&args.towards, ends, plan.seed)?;
    let mut run = begin::new_run("estimate", &plan, &args.towards, &place, &args.output)?;
    run.plan["by"] = json!(args.by);
    let Place {
        network,
        interrupt,
        mut far,
        mut client,
    } = place;
    let mut opened = args.output.open(args.towards.name(), &run)?;
    let agreed = run::agree(&mut client, &plan).inspect_err(|_| opened.undo())?;
    let display = progress::display(args, &plan);
    let context = Context {
        plan: &plan,
        lab: network.as_ref(),
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let outcome = run::run(&context, agreed, &mut client, &mut opened.writer)?;
    display.finish();
    conclude(&mut run, &plan, &outcome, network.as_ref())?;
    far.iter_mut().for_each(Far::stop);
    finish(args, &run, &outcome, opened)
}

/// Why such an estimator is not without a manager.
const RIDES: &str =
    "its trains consist of application packets - use --by with the socket of a manager";

/// By trains that the manager on this host sends.
fn by_manager(args: &Args, plan: &Plan, socket: &Path) -> anyhow::Result<u8> {
    if plan.method == Method::Hops {
        return Err(Usage::of(anyhow::anyhow!(
            "a manager's probes reach its peers but no routers - leave out --by for '{}'",
            plan.what.name()
        )));
    }
    if plan.class != Dscp::default() {
        return Err(Usage::of(anyhow::anyhow!(
            "a manager sends all packets with the same DSCP - leave out --dscp or --by"
        )));
    }
    let host = args.towards.name();
    let to: IpAddr = host.parse().map_err(|_| {
        Usage::of(anyhow::anyhow!(
            "'{host}' is no overlay address - see 'isobath manager status'"
        ))
    })?;
    let manager = tool::connect(socket)?;
    let interrupt = process::interrupt_flag()?;
    let mut run = begun(args, plan)?;
    run.path.server.addresses = vec![to];
    run.path.families = vec![if to.is_ipv6() { 6 } else { 4 }];
    run.hosts = vec![kit::host::facts("client")];
    let mut opened = args.output.open(host, &run)?;
    let display = progress::display(args, plan);
    let context = Context {
        plan,
        lab: None,
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let outcome = riding::run(&context, manager, to, &mut opened.writer)?;
    display.finish();
    conclude(&mut run, plan, &outcome, None)?;
    finish(args, &run, &outcome, opened)
}

fn begun(args: &Args, plan: &Plan) -> anyhow::Result<Run> {
    let mut run = args.output.begun("estimate", plan)?;
    run.plan["by"] = json!(args.by);
    Ok(run)
}

/// Writes the record and tells what is in it.
fn finish(args: &Args, run: &Run, outcome: &Outcome, opened: Opened) -> anyhow::Result<u8> {
    args.output
        .close(run, &outcome.ending, opened, scorecard::scorecard)
}

/// Turns what was found into the run's conclusion.
fn conclude(
    run: &mut Run,
    plan: &Plan,
    outcome: &Outcome,
    network: Option<&Network>,
) -> anyhow::Result<()> {
    run.summary = serde_json::to_value(summary::summarise(plan, outcome))?;
    run.instrument = quality::instrument(outcome, network.map(Network::cpu));
    run.warnings = quality::warnings(outcome, &run.instrument);
    run.status = quality::status(outcome, &run.warnings);
    run.verdict = quality::verdict(outcome, run.status);
    Ok(())
}
