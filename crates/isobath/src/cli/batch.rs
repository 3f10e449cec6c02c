//! `isobath batch`: checks every cell before the first is run, carries them out, and compares what came of them.

use super::{Cli, FAILED, one_line};
use crate::batch::display::{Display, shuffled};
use crate::batch::groups;
use crate::batch::inputs;
use crate::batch::preflight::{durations, keys};
use crate::batch::runner::{OVERHEAD, Runner};
use crate::batch::state::Progress;
use crate::batch::{BatchFile, State};
use crate::register::REGISTER;
use anyhow::Context as _;
use clap::Parser as _;
use kit::compare::{Comparison, table};
use kit::options::INTERRUPTED;
use kit::pool::child::OWNER;
use kit::pool::error::Error;
use kit::pool::lock::Lock;
use kit::pool::{lock, words};
use kit::usage::{Usage, print};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::io::Write as _;
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::process;

/// Exit status when all cells were measured, but for some the instrument was the bottleneck.
const INVALID: u8 = 4;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(
    after_help = "Exit status: 0 all cells measured; 3 some could not be measured; 4 all measured, some invalid; 130 interrupted."
)]
pub(crate) struct Args {
    /// Batch file in TOML: plans, labs, hosts and parameters.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    file: Option<PathBuf>,
    /// Resume the batch in this folder; every cell that is not complete is run again.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["out", "seed", "no_shuffle"])]
    resume: Option<PathBuf>,
    /// Folder for the batch [default: isobath-runs/TIME-batch-NAME].
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Seed of the cell order [default: random, printed].
    #[arg(long)]
    seed: Option<u64>,
    /// Run the cells in file order.
    #[arg(long, conflicts_with = "seed")]
    no_shuffle: bool,
    /// List the cells and their durations, and exit.
    #[arg(long)]
    dry_run: bool,
    /// Print the batch and its comparison as JSON.
    #[arg(long)]
    json: bool,
    /// Hide progress.
    #[arg(short, long)]
    quiet: bool,
}

/// A batch that can be carried out.
struct Job {
    state: State,
    batch: BatchFile,
    /// How long each cell's plan takes.
    plans: Vec<Duration>,
    keys: BTreeMap<String, String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let held = args.resume.as_deref().map(lock::lock).transpose();
    let held = held.map_err(Usage::of)?;
    let mut job = Job::find(args).map_err(Usage::of)?;
    if args.dry_run {
        print(&job.list())?;
        return Ok(0);
    }
    let (dir, _lock) = folder(args, held, &job.state)?;
    job.state.save(&dir)?;
    process::sweep_orphans(OWNER);
    let interrupt = process::interrupt_flag()?;
    let display = Display::new(&job.state, job.expected(), &relative(&dir), args.quiet);
    let runner = Runner {
        dir: &dir,
        batch: &job.batch,
        keys: &job.keys,
        plans: &job.plans,
        mark: &process::owner_mark()?,
        interrupt: &interrupt,
        watch: &|event| display.show(event),
    };
    runner.run(&mut job.state)?;
    display.bar.finish_and_clear();
    let is_interrupted = interrupt.load(Ordering::Relaxed);
    conclude(args, &job.state, &dir, is_interrupted)
}

impl Job {
    fn find(args: &Args) -> anyhow::Result<Self> {
        let (state, batch) = match (&args.resume, &args.file) {
            (Some(dir), _) => {
                let (state, batch) = State::load(dir)?;
                state.check_inputs()?;
                (state, batch)
            }
            (None, Some(file)) => read(file, args)?,
            (None, None) => anyhow::bail!("neither a file nor --resume was given"),
        };
        Ok(Self {
            plans: durations(&state, &batch, &takes)?,
            keys: keys(&batch)?,
            state,
            batch,
        })
    }

    /// Indices of the cells that are to be run, in order.
    fn due(&self) -> Vec<usize> {
        let indices = self.state.indices().into_iter();
        let is_due = |index: &usize| self.state.cells[*index].state != Progress::Complete;
        indices.filter(is_due).collect()
    }

    /// How long they take, pauses included.
    fn expected(&self) -> Duration {
        let due = self.due();
        let time = due.iter().map(|&index| self.plans[index] + OVERHEAD);
        let pauses = u32::try_from(due.len().saturating_sub(1)).unwrap_or(u32::MAX);
        time.sum::<Duration>() + self.batch.pause.0.saturating_mul(pauses)
    }

    /// The same as a page.
    fn list(&self) -> String {
        let due = self.due();
        let mut page = String::new();
        for &index in &due {
            let (cell, plan) = (&self.state.cells[index].cell, self.plans[index]);
            // Writing to a string does not fail.
            let _ = writeln!(
                page,
                "{:4}  {}  ({})",
                cell.number,
                cell.title(),
                words(plan)
            );
        }
        let _ = write!(
            page,
            "{} cells, about {}, {}",
            due.len(),
            words(self.expected()),
            shuffled(self.state.seed)
        );
        page
    }
}

/// A batch that has not begun.
fn read(file: &Path, args: &Args) -> anyhow::Result<(State, BatchFile)> {
    let path = absolute(file).with_context(|| file.display().to_string())?;
    let text = inputs::read(&path)?;
    let batch = BatchFile::parse(&text, &file.display().to_string())?;
    // The standard library seeds each `RandomState` from the system. 32 bits are enough, and can be typed.
    let random = || RandomState::new().hash_one("seed") >> 32;
    let seed = (!args.no_shuffle).then(|| args.seed.unwrap_or_else(random));
    Ok((State::new(path, text, &batch, seed)?, batch))
}

/// Whether the command line takes a run's arguments, and if not, why.
fn takes(arguments: &[String]) -> anyhow::Result<()> {
    let program = ["isobath".to_owned()];
    let parsed = Cli::try_parse_from(program.iter().chain(arguments));
    parsed.map(drop).map_err(|error| one_line(&error))
}

/// The batch's folder, absolute, and the right to work in it.
fn folder(args: &Args, held: Option<Lock>, state: &State) -> anyhow::Result<(PathBuf, Lock)> {
    if let (Some(dir), Some(lock)) = (&args.resume, held) {
        return Ok((absolute(dir)?, lock));
    }
    let dir = if let Some(out) = &args.out {
        out.clone()
    } else {
        let name = record::folder_name(state.started, "batch", &state.name);
        record::new_folder(Path::new("isobath-runs"), &name)?
    };
    let lock = lock::create(&dir).map_err(|error| match error {
        Error::NotEmpty { .. } | Error::Busy { .. } => Usage::of(error),
        error => error.into(),
    })?;
    Ok((absolute(dir)?, lock))
}

/// Prints what came of the batch; returns the exit status.
fn conclude(args: &Args, state: &State, dir: &Path, is_interrupted: bool) -> anyhow::Result<u8> {
    let groups = groups::of_batch(dir)?;
    let comparison = Comparison::of(&REGISTER, &groups, false);
    let shown = relative(dir);
    if args.json {
        let comparison = comparison.has_runs().then_some(&comparison);
        let object = json!({ "folder": shown, "batch": state, "comparison": comparison });
        print(&serde_json::to_string_pretty(&object)?)?;
    }
    if is_interrupted {
        let (done, all) = (state.count(Progress::Complete), state.cells.len());
        // With stderr closed there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "batch: interrupted with {done} of {all} cells complete - go on with 'isobath batch --resume {}'",
            shown.display()
        );
        return Ok(INTERRUPTED);
    }
    if !args.json {
        let table = table::page(&comparison);
        let order = shuffled(state.seed);
        print(&format!("{table}\nbatch  {}, {order}", shown.display()))?;
    }
    let unmeasured = [Progress::Failed, Progress::Incomplete, Progress::Waiting];
    Ok(match unmeasured.map(|progress| state.count(progress)) {
        [0, 0, 0] if state.count(Progress::Invalid) == 0 => 0,
        [0, 0, 0] => INVALID,
        _ => FAILED,
    })
}

/// As somebody would type it from here.
fn relative(dir: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| dir.strip_prefix(here).ok().map(Path::to_owned));
    below.unwrap_or_else(|| dir.to_owned())
}
