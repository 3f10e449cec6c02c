//! `isobath estimate`: finds the far end or makes one in a lab, sends its trains, and tells what they say.

mod args;
mod progress;

pub(crate) use args::{Args, Asked};

use super::lab::{Far, between};
use super::{begin, common};
use crate::estimate::run::{self, Context, Outcome};
use crate::estimate::{Plan, quality, scorecard, summary};
use jiff::Timestamp;
use lab::Network;
use record::Run;
use serde_json::json;
use session::Client;
use sys::process;

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = args.asked.plan(args.reverse)?;
    // The lab comes first: it may have to change this process before there are other threads.
    let ends = [args.from.as_deref(), args.to.as_deref()];
    let network = args.towards.lab.as_deref();
    let network = network.map(|name| between(name, ends, plan.seed));
    let network = network.transpose()?;
    let interrupt = process::interrupt_flag()?;
    let far = network.as_ref();
    let far = far.map(|network| Far::start_all(network, args.towards.reach.ipv6));
    let mut far = far.transpose()?.unwrap_or_default();
    let mut client = args.towards.connect(far.first())?;
    let mut run = new_run(args, &plan, &client, network.as_ref())?;
    let mut opened = args.output.open(args.towards.name(), &run)?;
    let agreed = run::agree(&mut client, &plan).inspect_err(|_| opened.undo())?;
    let bar = progress::bar(args.output.quiet);
    let context = Context {
        plan: &plan,
        lab: network.as_ref(),
        interrupt: &interrupt,
        display: &|live| progress::show(&bar, live),
    };
    let outcome = run::run(&context, agreed, &mut client, &mut opened.writer)?;
    bar.finish_and_clear();
    conclude(&mut run, &plan, &outcome, network.as_ref())?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    far.iter_mut().for_each(Far::stop);
    args.output.tell(&run, &dir, || {
        let summary = serde_json::from_value(run.summary.clone())?;
        Ok(scorecard::scorecard(&run, &summary))
    })?;
    Ok(common::exit_status(&run, &outcome.ending))
}

/// What is known before the run.
fn new_run(
    args: &Args,
    plan: &Plan,
    client: &Client,
    network: Option<&Network>,
) -> anyhow::Result<Run> {
    let mut described = serde_json::to_value(plan)?;
    described["note"] = json!(args.output.note);
    let mut run = Run::new("estimate", Timestamp::now(), described);
    let family = if client.peer.is_ipv6() { 6 } else { 4 };
    let lab = args.towards.lab.as_deref().zip(network);
    run.path = begin::path_info(&[client.peer], vec![family], lab);
    run.hosts = begin::hosts([client]);
    Ok(run)
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
