//! `isobath sim sweep`: one measurement over all combinations of its options.

use super::Measurement;
use crate::batch::inputs;
use crate::cli::FAILED;
use crate::register::REGISTER;
use crate::sweep::cells::Cell;
use crate::sweep::file::SweepFile;
use crate::sweep::journal::{Journal, Line};
use crate::sweep::runner::Runner;
use crate::sweep::state::State;
use crate::sweep::{dataset, groups, journal};
use anyhow::Context as _;
use kit::bar;
use kit::compare::{Comparison, table};
use kit::options::INTERRUPTED;
use kit::pool::error::Error;
use kit::pool::lock::{self, Lock};
use kit::usage::{Usage, print};
use record::Status;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;
use sys::process;

/// Most combinations that are compared on a terminal.
const MOST_COMPARED: usize = 12;
/// Failures that are told one by one.
const MOST_TOLD: usize = 5;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 all runs made; 3 some could not be made; 130 interrupted, finished runs kept.\n\nExample: isobath sim sweep examples/sweep/buffers.toml"
)]
pub(crate) struct Args {
    /// Sweep file in TOML: measurements, labs, parameters and repetitions.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    file: Option<PathBuf>,
    /// Resume the sweep in this folder; finished runs are not made again.
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Folder for the sweep [default: isobath-runs/TIME-sweep-NAME].
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Runs at a time [default: one per processor]; changes no result.
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// List the runs, and exit.
    #[arg(long)]
    dry_run: bool,
    /// Print what came of the runs as JSON.
    #[arg(long)]
    json: bool,
    /// Hide progress.
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let held = args.resume.as_deref().map(lock::lock).transpose();
    let held = held.map_err(Usage::of)?;
    let (state, sweep) = find(args).map_err(Usage::of)?;
    let runs = sweep.runs().unwrap_or_default();
    let dir = args.resume.clone().or_else(|| args.out.clone());
    let dir = dir.map(absolute).transpose()?;
    // Relative names in the file are those of its folder.
    let here = std::env::current_dir()?;
    std::env::set_current_dir(state.home()).with_context(|| state.home().display().to_string())?;
    check(&sweep).map_err(Usage::of)?;
    std::env::set_current_dir(&here)?;
    if args.dry_run {
        return list(&sweep);
    }
    let (dir, _lock) = match (dir, held) {
        (Some(dir), Some(lock)) => (dir, lock),
        (dir, _) => begin(dir, &state)?,
    };
    let (journal, mut lines) = Journal::open(&dir).with_context(|| dir.display().to_string())?;
    // Whatever kept a run from being made may be gone.
    lines.retain(|number, line| (1..=runs).contains(number) && line.status != Status::Failed);
    let due: Vec<_> = (1..=runs)
        .filter(|number| !lines.contains_key(number))
        .collect();
    let interrupt = process::interrupt_flag()?;
    let bar = bar::bar(
        "{pos} of {len} runs {wide_bar} {eta} left",
        Some(runs),
        args.quiet,
    );
    bar.set_position(lines.len() as u64);
    bar.reset_eta();
    let runner = Runner {
        dir: &dir,
        sweep: &sweep,
        jobs: args
            .jobs
            .or_else(|| available_parallelism().ok())
            .map_or(1, NonZeroUsize::get),
        interrupt: &interrupt,
        watch: &|_| bar.inc(1),
    };
    std::env::set_current_dir(state.home())?;
    let made = runner.run(&due, journal);
    std::env::set_current_dir(&here)?;
    bar.finish_and_clear();
    made?;
    let lines = journal::lines(&dir)?;
    let shown = dir.strip_prefix(&here).unwrap_or(&dir);
    if interrupt.load(Ordering::Relaxed) {
        // With stderr closed there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "sweep: interrupted with {} of {runs} runs made - go on with 'isobath sim sweep --resume {}'",
            lines.len(),
            shown.display()
        );
        return Ok(INTERRUPTED);
    }
    dataset::write(&dir, &sweep, &lines)?;
    conclude(args, &sweep, &lines, (&dir, shown))
}

/// The sweep that is asked for.
fn find(args: &Args) -> anyhow::Result<(State, SweepFile)> {
    if let Some(dir) = &args.resume {
        let (state, sweep) = State::load(dir)?;
        state.check()?;
        return Ok((state, sweep));
    }
    let file = args
        .file
        .as_deref()
        .context("neither a file nor --resume was given")?;
    let path = absolute(file).with_context(|| file.display().to_string())?;
    let text = inputs::read(&path)?;
    let sweep = SweepFile::parse(&text, &file.display().to_string())?;
    Ok((State::new(path, text, &sweep)?, sweep))
}

/// Whether every combination could be run.
fn check(sweep: &SweepFile) -> anyhow::Result<()> {
    for lab in &sweep.labs {
        lab::profiles::find(lab)?;
    }
    let firsts = (1..=sweep.runs().unwrap_or_default()).step_by(sweep.repetitions as usize);
    for cell in firsts.filter_map(|number| Cell::of(sweep, number)) {
        Measurement::parse(&cell.arguments()).with_context(|| cell.title())?;
    }
    Ok(())
}

fn list(sweep: &SweepFile) -> anyhow::Result<u8> {
    let cells = (1..).map_while(|number| Cell::of(sweep, number));
    let lines: Vec<_> = cells
        .map(|cell| format!("{:6}  {}", cell.number, cell.title()))
        .collect();
    print(&lines.join("\n"))?;
    Ok(0)
}

/// Makes the folder of a new sweep, and locks it.
fn begin(out: Option<PathBuf>, state: &State) -> anyhow::Result<(PathBuf, Lock)> {
    let dir = if let Some(out) = out {
        out
    } else {
        let name = record::folder_name(state.started, "sweep", &state.name);
        absolute(record::new_folder(Path::new("isobath-runs"), &name)?)?
    };
    let lock = lock::create(&dir).map_err(|error| match error {
        Error::NotEmpty { .. } | Error::Busy { .. } => Usage::of(error),
        error => error.into(),
    })?;
    state.save(&dir)?;
    Ok((dir, lock))
}

/// Tells what came of the sweep in `dir`; returns the exit status.
fn conclude(
    args: &Args,
    sweep: &SweepFile,
    lines: &BTreeMap<u64, Line>,
    (dir, shown): (&Path, &Path),
) -> anyhow::Result<u8> {
    let failed: Vec<_> = lines
        .values()
        .filter(|line| line.status == Status::Failed)
        .collect();
    let complete = lines
        .values()
        .filter(|line| line.status == Status::Complete);
    let complete = complete.count();
    if args.json {
        print(&serde_json::to_string_pretty(&json!({
            "folder": shown, "table": shown.join(dataset::FILE),
            "runs": lines.len(), "complete": complete, "failed": failed.len(),
        }))?)?;
    } else {
        let groups = groups::of_sweep(dir)?;
        if groups.len() <= MOST_COMPARED {
            let comparison = Comparison::of(&REGISTER, &groups, false);
            if comparison.has_runs() {
                print(&table::page(&comparison))?;
            }
        }
        for line in failed.iter().take(MOST_TOLD) {
            let title = Cell::of(sweep, line.run).map_or_else(String::new, |cell| cell.title());
            let reason = line.reason.as_deref().unwrap_or_default();
            print(&format!("run {}  {title}: {reason}", line.run))?;
        }
        print(&format!(
            "runs          {complete} of {} complete, of {} combinations\ntable         {}",
            lines.len(),
            groups.len(),
            shown.join(dataset::FILE).display()
        ))?;
    }
    Ok(if failed.is_empty() { 0 } else { FAILED })
}
