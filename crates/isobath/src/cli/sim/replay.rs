//! `isobath sim replay`: plays vectors over a simulated path.

use crate::cli::replay::{Played, bar, prepare, show};
use crate::virtual_time::path::Path;
use jiff::Timestamp;
use kit::host;
use kit::options::{self, Output};
use kit::usage::Usage;
use lab::profiles;
use record::Run;
use serde_json::json;
use std::time::Duration;
use sys::{clock, process};
use tmix::replay::forecast::Forecast;
use tmix::replay::quality::LeftOut;
use tmix::replay::{place, quality, scorecard};
use tmix::simulated::{self, Context};
use transport::CongestionControl;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 replayed; 3 could not be replayed; 130 interrupted, record kept."
)]
pub(crate) struct Args {
    #[command(flatten)]
    played: Played,
    /// Congestion control of all connections.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Control::Cubic)]
    cc: Control,
    #[command(flatten)]
    output: Output,
}

/// A congestion control that is simulated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Control {
    /// RFC 9438, as a lab's hosts have it.
    Cubic,
    /// RFC 5681.
    Reno,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let control = match args.cc {
        Control::Cubic => CongestionControl::Cubic,
        Control::Reno => CongestionControl::Reno,
    };
    let mut plan = args.played.plan()?;
    plan.congestion_control = Some(control.name().to_owned());
    let (plan, mut workload) = prepare(plan)?;
    workload.leave_out_udp();
    let mut topology = profiles::find(args.played.lab()).map_err(Usage::of)?;
    if let Some(rate) = plan.bottleneck {
        place::bottleneck(&mut topology, rate).map_err(Usage::of)?;
    }
    let path =
        Path::of_topology(&topology, args.played.lab(), plan.seed, false).map_err(Usage::of)?;
    let hops = path
        .hops(&simulated::delays(&plan, &workload))
        .map_err(Usage::of)?;
    let rate = place::rate(&topology, plan.forward);
    let interrupt = process::interrupt_flag()?;
    let mut described = serde_json::to_value(&plan)?;
    described["forecast"] =
        serde_json::to_value(Forecast::of(&workload, plan.duration.map(|d| d.0)))?;
    described["note"] = json!(args.output.note);
    let mut run = Run::new("sim-replay", Timestamp::now(), described);
    run.path = path.info();
    run.hosts = vec![host::facts("client")];
    let mut opened = args.output.open(args.played.lab(), &run)?;
    let bar = bar(args.output.quiet);
    let context = Context {
        plan: &plan,
        workload: &workload,
        congestion_control: control,
        interrupt: &interrupt,
        display: &|live| show(&bar, live),
    };
    let begun = clock::now();
    let played = simulated::run(&context, hops, &mut opened.writer);
    let (outcome, work) = played.inspect_err(|_| opened.undo())?;
    let took = clock::now().since(begun);
    bar.finish_and_clear();
    let ending = outcome.ending;
    let summary = outcome
        .figures
        .summary(&plan, outcome.length, rate, outcome.truth);
    let left_out = LeftOut {
        udp: workload.udp,
        packets: 0,
        rtts: !place::gives_rtts(&topology),
    };
    run.instrument = quality::instrument(&[], &summary, None);
    run.instrument.more.extend(work_done(work.events(), took));
    run.warnings = quality::warnings(&ending, &[], &summary, &run.instrument, left_out);
    run.status = quality::status(&ending, &run.warnings);
    run.summary = serde_json::to_value(&summary)?;
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    args.output
        .tell(&run, &dir, || Ok(scorecard::scorecard(&run, &summary)))?;
    Ok(options::exit_status(&run, &ending))
}

/// How much was simulated, and how long it took on this machine.
fn work_done(events: u64, took: Duration) -> [(String, serde_json::Value); 2] {
    [
        ("packet_events".to_owned(), json!(events)),
        ("wall_s".to_owned(), json!(took.as_secs_f64())),
    ]
}
