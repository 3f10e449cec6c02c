//! `isobath btc`: finds the far end or makes one in a lab, carries the transfers out, and tells what came of them.

mod args;
mod icmp;
mod progress;

pub(crate) use args::Args;

use super::begin::{self, Opened};
use super::lab::Far;
use super::{INTERRUPTED, Usage, print};
use crate::btc::plan::{Direction, Mode, Plan, Tool};
use crate::btc::run::{self, Context, Outcome};
use crate::btc::{quality, scorecard, summary, warnings};
use crate::rrul::run::Ending;
use crate::rrul::stream::try_congestion;
use jiff::Timestamp;
use lab::{Network, profiles};
use progress::Display;
use record::{Run, Verdict};
use serde_json::json;
use session::{Client, Family};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use sys::process;

/// How long the far end may take to welcome us.
const CONNECT: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut plan = args.plan()?;
    let is_kernels = plan.compare || plan.tools.contains(&Tool::Kernel);
    if is_kernels && plan.direction == Direction::Up {
        try_congestion(crate::btc::law_name(&plan.options)).map_err(Usage::of)?;
    }
    if plan.mode == Mode::Icmp {
        return icmp::run(args, plan);
    }
    // The lab comes first: it may have to change this process before there are other threads.
    let network = args.lab.as_deref().map(|name| network(name, args.seed));
    let network = network.transpose()?;
    let interrupt = process::interrupt_flag()?;
    let mut far = network
        .as_ref()
        .map(|network| Far::start_all(network, args.ipv6))
        .transpose()?
        .unwrap_or_default();
    let mut client = connect(args, far.first())?;
    plan.fit(client.peer);
    check(&plan, &client)?;
    let mut run = new_run(args, &plan, client.peer, Some(&client), network.as_ref())?;
    let towards = args.lab.as_ref().or(args.host.as_ref());
    let towards = towards.map_or("", String::as_str);
    let mut opened = Opened::create(args.out.as_deref(), towards, &run)?;
    let agreement = run::agree(&mut client).inspect_err(|_| opened.undo())?;
    let display = Display::start(args.quiet);
    let context = Context {
        plan: &plan,
        lab: network.as_ref(),
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let outcome = run::run(&context, agreement, &mut client, &mut opened.writer)?;
    display.finish();
    conclude(&mut run, &plan, &outcome, network.as_ref())?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    far.iter_mut().for_each(Far::stop);
    report(args, &run, &outcome, &dir)
}

fn network(name: &str, seed: u64) -> anyhow::Result<Network> {
    let topology = profiles::find(name).map_err(Usage::of)?;
    Ok(Network::up(topology, seed)?)
}

fn connect(args: &Args, far: Option<&Far>) -> anyhow::Result<Client> {
    let family = match (args.ipv4, args.ipv6) {
        (true, _) => Some(Family::V4),
        (_, true) => Some(Family::V6),
        _ => None,
    };
    let host = far.map(Far::host).or_else(|| args.host.clone());
    let key = far.map(Far::key).or(args.key.as_ref());
    Ok(session::connect(
        &host.unwrap_or_default(),
        family,
        key,
        CONNECT,
    )?)
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
    let mut described = serde_json::to_value(plan)?;
    described["note"] = json!(args.note);
    let rounds = plan.rounds();
    described["order"] = json!(
        rounds
            .iter()
            .map(|r| plan.label(r.tool))
            .collect::<Vec<_>>()
    );
    let mut run = Run::new("btc", Timestamp::now(), described);
    let family = if peer.is_ipv6() { 6 } else { 4 };
    let lab = args.lab.as_deref().zip(network);
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
    let limited = |transfer: &crate::btc::tables::Transfer| transfer.outcome == "limited";
    if outcome.findings.transfers.iter().any(limited) {
        run.verdict = Some(Verdict::Inconclusive);
    }
    run.status = quality::status(outcome, planned, &run.warnings);
    Ok(())
}

fn report(args: &Args, run: &Run, outcome: &Outcome, dir: &Path) -> anyhow::Result<u8> {
    if args.json {
        print(&serde_json::to_string_pretty(run)?)?;
    } else {
        let summary = serde_json::from_value(run.summary.clone())?;
        print(&format!(
            "{}record        {}",
            scorecard::scorecard(run, &summary),
            dir.display()
        ))?;
    }
    Ok(match outcome.ending {
        Ending::Interrupted => INTERRUPTED,
        _ => run.exit_status(),
    })
}
