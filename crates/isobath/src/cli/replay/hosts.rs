//! A replay between this host and another one.

use super::args::Play;
use super::{conclude, new_run, progress};
use anyhow::anyhow;
use kit::bar;
use kit::begin::{self, Opened};
use kit::control::ANSWER;
use kit::instrument::between_hosts;
use kit::usage::Usage;
use schema::replay::plan::Plan;
use session::{Client, ClockOffset};
use std::time::Duration;
use sys::process;
use tmix::replay::collector::Context;
use tmix::replay::forecast::Forecast;
use tmix::replay::messages::Setup;
use tmix::replay::workload::{Host, Workload};
use tmix::replay::{nanos, near, path_rtt, room, scorecard};

/// Exchanges by which the path's round trip is found.
const CLOCK_ROUNDS: u32 = 5;

/// Plays with `host`.
pub(super) fn play(
    args: &Play,
    host: &str,
    plan: &Plan,
    mut workload: Workload,
) -> anyhow::Result<u8> {
    check(plan, &workload)?;
    let mut client = args.reach.connect(host, None)?;
    let forecast = forecast(&mut client, plan, &mut workload)?;
    if plan.add_rtt {
        path_rtt::check(client.peer)?;
    }
    let interrupt = process::interrupt_flag()?;
    let mut run = new_run(args, plan, &forecast)?;
    let family = if client.peer.is_ipv6() { 6 } else { 4 };
    run.path = begin::path_info(&[client.peer], vec![family], None);
    run.hosts = begin::hosts([&client]);
    let setup = setup(plan, &workload, forecast.open);
    let clock = agree(args, &mut client, &workload, setup)?;
    let mut opened = Opened::create(args.output.out.as_deref(), host, &run)?;
    let display = progress::display(args, plan, host);
    let context = Context {
        plan,
        workload: &workload,
        lab: None,
        interrupt: &interrupt,
        display: &|live| display.show(live),
    };
    let (outcome, done) = near::run(&context, clock, &mut client, &mut opened.writer)
        .inspect_err(|_| opened.undo())?;
    display.finish();
    let ending = conclude(&mut run, plan, outcome, workload.udp, None)?;
    let server_s = done.map(|done| done.process_cpu_s);
    between_hosts(&mut run.instrument, clock, None, server_s);
    args.output
        .close(&run, &ending, opened, scorecard::scorecard)
}

/// What the replay asks of both hosts, over the path's own distance; afterwards the connections of `workload` have what is to be added
/// to it.
fn forecast(client: &mut Client, plan: &Plan, workload: &mut Workload) -> anyhow::Result<Forecast> {
    let clock = client.control.measure_clock(CLOCK_ROUNDS, ANSWER)?;
    let path = Duration::from_nanos(clock.rtt_ns);
    if !plan.add_rtt {
        workload.set_rtts(|_| Duration::ZERO);
    }
    workload.set_rtts(|added| added.saturating_add(path));
    let forecast = Forecast::of(workload, plan.duration.map(|duration| duration.0));
    workload.set_rtts(|whole| whole.saturating_sub(path));
    room::check_near(&forecast).map_err(Usage::of)?;
    Ok(forecast)
}

/// Whether this host can open all connections as they are wanted.
fn check(plan: &Plan, workload: &Workload) -> anyhow::Result<()> {
    if let Some(control) = &plan.congestion_control {
        sys::tcp::try_congestion(control).map_err(Usage::of)?;
    }
    let backwards = workload
        .parts
        .iter()
        .any(|part| part.initiator == Host::Server);
    if backwards {
        return Err(Usage::of(anyhow!(
            "harpoon needs both hosts to open connections, but only this one can - use another --structure, or replay in a lab"
        )));
    }
    Ok(())
}

fn setup(plan: &Plan, workload: &Workload, open: u64) -> Setup {
    let adus = workload
        .parts
        .iter()
        .map(|part| part.vector.body.turns().len());
    Setup {
        connections: workload.parts.len() as u64,
        adus: adus.sum::<usize>() as u64,
        open,
        duration_ns: plan.duration.map(|duration| nanos(duration.0)),
        congestion_control: plan.congestion_control.clone(),
    }
}

/// Tells the far end what is played.
fn agree(
    args: &Play,
    client: &mut Client,
    workload: &Workload,
    setup: Setup,
) -> anyhow::Result<ClockOffset> {
    let all = workload.parts.len();
    let bar = bar::bar("{bar:30} {msg}", Some(all as u64), args.output.quiet);
    bar.set_message(format!("telling the far end of {all} connections"));
    let clock = near::agree(client, workload, setup, &|number| bar.set_position(number));
    bar.finish_and_clear();
    clock
}
