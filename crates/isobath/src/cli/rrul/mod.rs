//! `isobath rrul`: finds the far ends or makes them in a lab, runs the plan, and tells what came of it.

mod args;
mod beside;
mod conclude;
mod far_ends;
mod foreign;
mod pages;
mod progress;
mod record;

pub(crate) use args::{Args, Asked};
pub(super) use conclude::report;

use ::far_ends::address::FarEnd;
use far_ends::FarEnds;
use kit::lab_packets;
use kit::lab_server::Far;
use kit::options;
use kit::usage::{Usage, print};
use lab::{Network, profiles};
use rrul::ndjson::Ndjson;
use rrul::run::{self, Context};
use rrul::streams::{Common, StreamPlan};
use schema::rrul::plan::{Plan, Switch};
use std::path::PathBuf;
use std::time::Duration;
use sys::process;

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.list_plans {
        return list_plans();
    }
    let measured = measure(args)?;
    report(args, &measured)?;
    Ok(measured.status)
}

/// A run that has ended.
pub(super) struct Measured {
    pub(super) run: ::record::Run,
    /// Where its record is.
    pub(super) dir: PathBuf,
    /// The exit status that it stands for.
    pub(super) status: u8,
}

/// Runs the plan and keeps its record.
pub(super) fn measure(args: &Args) -> anyhow::Result<Measured> {
    let asked = args.plan()?;
    args.check(&asked)?;
    if let Some(far_end) = args.host.first().and_then(|host| FarEnd::parse(host)) {
        let far_end = far_end.map_err(|reason| Usage::of(anyhow::anyhow!(reason)))?;
        return foreign::measure(args, asked, &far_end);
    }
    // The lab comes first: it may have to change this process before there are other threads.
    let network = args
        .lab
        .as_deref()
        .map(|name| network(name, &asked, args))
        .transpose()?;
    let interrupt = process::interrupt_flag()?;
    let mut far = network
        .as_ref()
        .map(|network| Far::start_all(network, args.ipv6))
        .transpose()?
        .unwrap_or_default();
    let beside = beside::find(args, &asked, network.as_ref())?;
    let mut ends = FarEnds::connect(args, &asked, &far)?;
    let in_lab = network.as_ref().map(Network::congestion);
    let in_lab = in_lab.map(|congestion| congestion.stated.clone());
    let cc = args.cc.clone().or(in_lab);
    let families = ends.families.clone();
    let common = Common {
        families: &families,
        cc: cc.as_deref(),
    };
    check(&asked, &StreamPlan::all(&asked, &common), &ends)?;
    let (pages, mut notes) = pages::find(args, &asked, &ends)?;
    notes.append(&mut ends.notes);
    let plan = pages::lengthen(&asked, pages.as_ref(), &mut ends, &interrupt)?;
    let mut streams = StreamPlan::all(&plan, &common);
    beside::enter_families(&mut streams, &beside);
    let mut run = record::new_run(args, &plan, cc.as_deref(), &ends, network.as_ref())?;
    let ndjson = args.ndjson.as_deref().map(Ndjson::create).transpose()?;
    let mut opened = record::open(args, &run)?;
    let display = progress::display(args, &plan);
    let context = Context {
        plan: &plan,
        streams: &streams,
        peers: &ends.peers,
        beside: &beside,
        pages,
        lab: network.as_ref(),
        ndjson,
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let agreement = run::agree(&context, &mut ends.clients).inspect_err(|_| opened.undo())?;
    let outcome = run::run(&context, &agreement, &mut ends.clients, &mut opened.writer)?;
    display.finish();
    let emulator = network.as_ref().map(Network::cpu).unwrap_or_default();
    conclude::conclude(&mut run, &plan, &outcome, emulator, notes)?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    far.iter_mut().for_each(Far::stop);
    let status = options::exit_status(&run, &outcome.ending);
    Ok(Measured { run, dir, status })
}

fn list_plans() -> anyhow::Result<u8> {
    let plans = rrul::catalogue::names().map(|name| {
        let summary = rrul::catalogue::find(name).map(|plan| plan.summary);
        format!("{name:22}{}", summary.unwrap_or_default())
    });
    print(&plans.collect::<Vec<_>>().join("\n"))?;
    Ok(0)
}

fn network(name: &str, plan: &Plan, args: &Args) -> anyhow::Result<Network> {
    let topology = profiles::find(name).map_err(Usage::of)?;
    let options = lab::Options {
        ecn: plan.tcp_ecn.map(Switch::is_on),
        watch: args.packet_log.then(lab_packets::watch),
        ..lab::Options::default()
    };
    Ok(Network::up_with(topology, args.seed, &options)?)
}

/// What can be found wrong before the run. The far ends check their own congestion controls.
fn check(plan: &Plan, streams: &[StreamPlan], ends: &FarEnds) -> anyhow::Result<()> {
    for client in &ends.clients {
        let limits = client.welcome.limits;
        if plan.total() > Duration::from_secs(limits.duration_s) {
            anyhow::bail!(
                "the run takes {:.0} s and the server allows {} s - use a shorter --duration",
                plan.total().as_secs_f64(),
                limits.duration_s
            );
        }
    }
    for cc in streams.iter().filter_map(StreamPlan::cc) {
        sys::tcp::try_congestion(cc).map_err(Usage::of)?;
    }
    check_ecn(plan)
}

/// Whether this host's TCP asks for ECN is a setting of the host's, not of a connection: what was asked for must be so.
fn check_ecn(plan: &Plan) -> anyhow::Result<()> {
    let (Some(wanted), Some(is_on)) = (plan.tcp_ecn, sys::tcp::requests_ecn()) else {
        return Ok(());
    };
    if wanted.is_on() == is_on {
        return Ok(());
    }
    let (asks, set) = if is_on {
        ("asks", "2")
    } else {
        ("does not ask", "1")
    };
    Err(Usage::of(anyhow::anyhow!(
        "this host's TCP {asks} for ECN, which cannot be changed per connection - as root, run 'sysctl -w net.ipv4.tcp_ecn={set}'"
    )))
}
