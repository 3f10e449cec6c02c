//! `isobath sim sweep`: measurements over all combinations of their options.

use crate::cli::FAILED;
use crate::register::REGISTER;
use crate::sweep::cells::Cell;
use crate::sweep::file::SweepFile;
use crate::sweep::folder::{self, Folder};
use crate::sweep::journal::Index;
use crate::sweep::runner::Runner;
use crate::sweep::{dataset, groups};
use anyhow::Context as _;
use kit::bar;
use kit::compare::{Comparison, table};
use kit::options::INTERRUPTED;
use kit::usage::{Usage, print};
use record::Status;
use serde_json::json;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;
use sys::process;

/// Most combinations that are compared on a terminal.
const MOST_COMPARED: u64 = 12;
/// Failures that are told one by one.
const MOST_TOLD: usize = 5;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 all runs complete; 3 some failed; 130 interrupted, finished runs kept.\n\nExample: isobath sim sweep examples/sweep/buffers.toml"
)]
pub(crate) struct Args {
    /// Sweep file in TOML: measurements, labs, parameters and repetitions.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    file: Option<PathBuf>,
    /// Resume the sweep in this folder, skipping finished runs.
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Folder for the sweep [default: isobath-runs/TIME-sweep-NAME].
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Parallel runs [default: one per processor]; does not affect results.
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// List the runs, and exit.
    #[arg(long)]
    dry_run: bool,
    /// Print the outcome of the runs as JSON.
    #[arg(long)]
    json: bool,
    /// Hide progress.
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let folder = if let Some(dir) = &args.resume {
        let folder = Folder::resume(dir)?;
        if args.dry_run {
            return list(&folder.sweep);
        }
        folder
    } else {
        let file = args.file.as_deref();
        let file = file.context("neither a file nor --resume was given")?;
        let sweep = folder::of_file(file).map_err(Usage::of)?;
        if args.dry_run {
            return list(&sweep.1);
        }
        Folder::begin(args.out.as_deref(), sweep)?
    };
    let (journal, due) = folder.due()?;
    let runs = folder.runs();
    let interrupt = process::interrupt_flag()?;
    let bar = bar::bar(
        "{pos} of {len} runs {wide_bar} {eta} left",
        Some(runs),
        args.quiet,
    );
    bar.set_position(runs - due.len() as u64);
    bar.reset_eta();
    let runner = Runner {
        dir: &folder.dir,
        sweep: &folder.sweep,
        jobs: jobs(args.jobs),
        interrupt: &interrupt,
        watch: &|_| bar.inc(1),
    };
    let made = folder.carry_out(&runner, &due, journal);
    bar.finish_and_clear();
    made?;
    let here = std::env::current_dir()?;
    let shown = folder.dir.strip_prefix(&here).unwrap_or(&folder.dir);
    if interrupt.load(Ordering::Relaxed) {
        // With stderr closed there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "sweep: interrupted with {} of {runs} runs made - go on with 'isobath sim sweep --resume {}'",
            folder.index()?.len(),
            shown.display()
        );
        return Ok(INTERRUPTED);
    }
    let index = folder.finish()?;
    conclude(args, &folder.sweep, &index, (&folder.dir, shown))
}

/// Runs at a time: as many as were asked for, or one for each processor.
pub(crate) fn jobs(asked: Option<NonZeroUsize>) -> usize {
    let processors = || available_parallelism().ok();
    asked.or_else(processors).map_or(1, NonZeroUsize::get)
}

fn list(sweep: &SweepFile) -> anyhow::Result<u8> {
    let cells = (1..).map_while(|number| Cell::of(sweep, number));
    let lines: Vec<_> = cells
        .map(|cell| format!("{:6}  {}", cell.number, cell.title()))
        .collect();
    print(&lines.join("\n"))?;
    Ok(0)
}

/// Tells what came of the sweep in `dir`; returns the exit status.
fn conclude(
    args: &Args,
    sweep: &SweepFile,
    index: &Index,
    (dir, shown): (&Path, &Path),
) -> anyhow::Result<u8> {
    let [complete, failed] = [Status::Complete, Status::Failed].map(|status| index.count(status));
    if args.json {
        print(&serde_json::to_string_pretty(&json!({
            "folder": shown, "table": shown.join(dataset::FILE),
            "runs": index.len(), "complete": complete, "failed": failed,
        }))?)?;
    } else {
        let combinations = sweep.combinations();
        if combinations <= MOST_COMPARED {
            let comparison = Comparison::of(&REGISTER, &groups::of_sweep(dir)?, false);
            if comparison.has_runs() {
                print(&table::page(&comparison))?;
            }
        }
        for line in index.lines_of(Status::Failed).take(MOST_TOLD) {
            let line = line?;
            let title = Cell::of(sweep, line.run).map_or_else(String::new, |cell| cell.title());
            let reason = line.reason.as_deref().unwrap_or_default();
            print(&format!("run {}  {title}: {reason}", line.run))?;
        }
        print(&format!(
            "runs          {complete} of {} complete, of {} combinations\ntable         {}",
            index.len(),
            combinations,
            shown.join(dataset::FILE).display()
        ))?;
    }
    Ok(if failed == 0 { 0 } else { FAILED })
}
