//! `isobath lab calibrate`.

use calibrate::machine::{self, Machine};
use calibrate::scorecard::scorecard;
use calibrate::{Bench, STEPS, Summary, TEST, WIRE};
use indicatif::ProgressBar;
use jiff::Timestamp;
use kit::begin;
use kit::options::INTERRUPTED;
use kit::usage::print;
use kit::{bar, host};
use record::{Run, Status};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::process;

/// How often the spinner turns: seldom enough not to disturb.
const TURN: Duration = Duration::from_millis(250);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for the record [default: isobath-runs/TIME-calibrate].
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Print the record's run.json instead of the scorecard.
    #[arg(long)]
    json: bool,
    /// Hide the spinner.
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    // The labs come first: they may have to change this process before there are other threads.
    let bench = Bench::up()?;
    let interrupt = process::interrupt_flag()?;
    let mut run = new_run();
    let record = begin::create(&folder(args, run.started)?, &run)?;
    let bar = spinner(args.quiet);
    let measured = measure(&bench, &bar, &interrupt, &mut run);
    bar.finish_and_clear();
    let dir = record.dir().to_owned();
    if measured.is_err() {
        run.status = Status::Failed;
    }
    record.finish(&run)?;
    let summary = measured?;
    if args.json {
        print(&serde_json::to_string_pretty(&run)?)?;
    } else {
        print(&format!(
            "{}record        {}",
            scorecard(&run, &summary),
            dir.display()
        ))?;
    }
    Ok(if run.status == Status::Complete {
        0
    } else {
        INTERRUPTED
    })
}

fn new_run() -> Run {
    let steps: Vec<_> = STEPS
        .iter()
        .map(|(step, time)| json!({ "step": step.name(), "seconds": time.as_secs_f64() }))
        .collect();
    let plan = json!({ "lab": WIRE, "steps": steps });
    let mut run = Run::new(TEST, Timestamp::now(), plan);
    run.hosts = vec![host::facts("client")];
    run
}

/// Takes every figure, and enters into `run` what came out.
fn measure(
    bench: &Bench,
    bar: &ProgressBar,
    interrupt: &AtomicBool,
    run: &mut Run,
) -> anyhow::Result<Summary> {
    let abort = || interrupt.load(Ordering::Relaxed);
    let mut summary = Summary::default();
    let machine = Machine::look()?;
    for (number, (step, time)) in (1..).zip(STEPS) {
        if abort() {
            break;
        }
        bar.set_message(format!(
            "{} ({number} of {}, {} s)",
            step.name(),
            STEPS.len(),
            time.as_secs()
        ));
        bench.measure(step, time, &mut summary, &abort)?;
    }
    run.status = if abort() {
        Status::Incomplete
    } else {
        Status::Complete
    };
    run.instrument = machine.instrument()?;
    run.warnings = machine::warnings(&run.instrument);
    run.summary = serde_json::to_value(&summary)?;
    Ok(summary)
}

fn folder(args: &Args, started: Timestamp) -> anyhow::Result<PathBuf> {
    if let Some(out) = &args.out {
        return Ok(out.clone());
    }
    let name = record::folder_name(started, "calibrate", "");
    Ok(record::new_folder(Path::new("isobath-runs"), &name)?)
}

/// A spinner on stderr, if somebody looks at it.
fn spinner(quiet: bool) -> ProgressBar {
    let bar = bar::bar("{spinner} calibrating: {msg}  {elapsed}", None, quiet);
    if !bar.is_hidden() {
        bar.enable_steady_tick(TURN);
    }
    bar
}
