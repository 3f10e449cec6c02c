//! `isobath mbm`: finds the far end or makes one in a lab, makes the tests, and tells what they say.

mod args;
mod compose;
mod monitor;
mod parts;
mod passive;
mod plan;
mod progress;
mod target;

pub(crate) use args::{Args, Asked};
pub(super) use parts::composed;
pub(crate) use progress::{bar, show};

use args::{Measure, Verb};
use kit::begin::{self, Opened};
use kit::lab_server::{Far, between};
use kit::options;
use kit::usage::print;
use lab::Network;
use mbm::target::NamedTarget;
use mbm_run::run::{self, Context, Outcome};
use mbm_run::{quality, scorecard, summary};
use record::{Run, Status, Verdict};
use schema::mbm::Plan;
use schema::mbm::plan::Carrier;
use serde::Deserialize;
use session::Client;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use sys::process;

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.verb {
        Some(Verb::Compose(args)) => compose::run(args),
        Some(Verb::Passive(args)) => passive::run(args),
        Some(Verb::Plan(args)) => plan::run(args),
        Some(Verb::Targets) => targets(),
        None => measure(&args.measure),
    }
}

fn targets() -> anyhow::Result<u8> {
    let lines = NamedTarget::names().map(|name| {
        let found = NamedTarget::find(name)?;
        Ok(format!(
            "{name:16}{:26}{}",
            found.target.words(),
            found.summary
        ))
    });
    let lines = lines.collect::<Result<Vec<_>, mbm::target::TargetError>>()?;
    print(&lines.join("\n"))?;
    Ok(0)
}

fn measure(args: &Measure) -> anyhow::Result<u8> {
    let plan = args.plan()?;
    if plan.carrier == Carrier::Tcp {
        sys::require_linux("a test by the kernel's TCP")?;
    }
    plan::ask(args, &plan)?;
    if let Some(every) = args.every {
        return monitor::run(args, &plan, every.0);
    }
    // The lab comes first: it may have to change this process before there are other threads.
    let ends = [args.from.as_deref(), args.to.as_deref()];
    let network = args.towards.lab.as_deref();
    let network = network.map(|name| between(name, ends, args.asked.seed));
    let network = network.transpose()?;
    let interrupt = process::interrupt_flag()?;
    let out = args.output.out.as_deref();
    let (run, outcome, dir) = measured(args, &plan, network.as_ref(), &interrupt, out)?;
    report(args, &run, &outcome, &dir)
}

/// One run, and its record.
fn measured(
    args: &Measure,
    plan: &Plan,
    network: Option<&Network>,
    interrupt: &AtomicBool,
    out: Option<&Path>,
) -> anyhow::Result<(Run, Outcome, PathBuf)> {
    let mut far = network
        .map(|network| Far::start_all(network, args.towards.reach.is_v6()))
        .transpose()?
        .unwrap_or_default();
    let mut client = args.towards.connect(far.first())?;
    let mut run = new_run(args, plan, &client, network)?;
    let mut opened = Opened::create(out, args.towards.name(), &run)?;
    let agreement = run::agree(&mut client, plan).inspect_err(|_| opened.undo())?;
    let display = progress::display(args);
    let context = Context {
        plan,
        lab: network,
        interrupt,
        display: &|live| display.show(live),
    };
    let outcome = run::run(&context, agreement, &mut client, &mut opened.writer)?;
    display.finish();
    conclude(&mut run, plan, &outcome, network)?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    far.iter_mut().for_each(Far::stop);
    Ok((run, outcome, dir))
}

/// What is known before the run.
fn new_run(
    args: &Measure,
    plan: &Plan,
    client: &Client,
    network: Option<&Network>,
) -> anyhow::Result<Run> {
    let mut run = args.output.begun("mbm", plan)?;
    let family = if client.peer.is_ipv6() { 6 } else { 4 };
    let lab = args.towards.lab.as_deref().zip(network);
    run.path = begin::path_info(&[client.peer], vec![family], lab);
    run.hosts = begin::hosts([client]);
    Ok(run)
}

/// Turns what was found into the run's conclusion.
pub(crate) fn conclude(
    run: &mut Run,
    plan: &Plan,
    outcome: &Outcome,
    network: Option<&Network>,
) -> anyhow::Result<()> {
    let summary = summary::summarise(
        plan,
        &outcome.tests,
        outcome.path_rtt,
        outcome.truth.clone(),
    )
    .map_err(anyhow::Error::msg)?;
    run.verdict = summary::verdict(plan, &summary.tests);
    run.summary = serde_json::to_value(summary)?;
    run.instrument = quality::instrument(outcome, network.map(Network::cpu));
    run.warnings = quality::warnings(plan, outcome, &run.instrument);
    run.status = quality::status(plan, outcome, &run.warnings);
    if run.status == Status::Invalid {
        run.verdict = Some(Verdict::Error);
    }
    Ok(())
}

fn report(args: &Measure, run: &Run, outcome: &Outcome, dir: &Path) -> anyhow::Result<u8> {
    args.output.tell(run, dir, || {
        let summary = Deserialize::deserialize(&run.summary)?;
        Ok(scorecard::scorecard(run, &summary))
    })?;
    Ok(options::exit_status(run, &outcome.ending))
}
