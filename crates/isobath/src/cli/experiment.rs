//! `isobath experiment`: what the papers did, run again.

use super::{FAILED, INTERRUPTED};
use kit::pool::child::OWNER;
use kit::pool::words;
use kit::usage::{Usage, print};
use report::experiment::Experiment;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::Ordering;
use std::thread;
use studies::experiment::display::Display;
use studies::experiment::folder::Plan;
use studies::experiment::{Bench, Description, Scale, page};
use sys::process;

/// Exit status when a case does not hold.
const DOES_NOT_HOLD: u8 = 1;
/// Exit status when no case could be told.
const INCONCLUSIVE: u8 = 5;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// The experiments that come with the program.
    List,
    /// What an experiment does, as TOML: a start for one of your own.
    Show {
        /// A name from 'isobath experiment list', or a TOML file.
        name: String,
    },
    /// Run an experiment, or go on with one that was interrupted.
    Run(Args),
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 every case holds; 1 some case does not; 3 could not be run; 5 no case could be told; 130 interrupted, to go on run it again with the same --out."
)]
pub(crate) struct Args {
    /// A name from 'isobath experiment list', or a TOML file.
    name: String,
    /// Folder for the records and the page [default: isobath-runs/TIME-experiment-NAME]; one that holds the same experiment
    /// goes on.
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// How much of it to do: a share of its cells, repeats and transfers, such as 0.1.
    #[arg(long, default_value = "1")]
    scale: Scale,
    /// Most measurements at a time; those that need the machine for themselves get it [default: two for each processor].
    #[arg(long)]
    jobs: Option<usize>,
    /// Count measurements, too, for which this machine was too busy to be trusted.
    #[arg(long)]
    with_invalid: bool,
    /// Seed of all that is random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,
    /// No progress.
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::List => list(),
        Verb::Show { name } => {
            let (_, text) = Description::find(name).map_err(Usage::of)?;
            print(&text)?;
            Ok(0)
        }
        Verb::Run(args) => carry_out(args),
    }
}

fn list() -> anyhow::Result<u8> {
    let lines = Description::names().map(|name| {
        let (found, _) = Description::find(name)?;
        let time = words(found.study.expected(Scale::FULL, jobs(None)));
        Ok(format!("{name:18}{} (about {time})", found.title))
    });
    print(&lines.collect::<anyhow::Result<Vec<_>>>()?.join("\n"))?;
    Ok(0)
}

/// Most measurements at a time.
fn jobs(asked: Option<usize>) -> usize {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(|| 2 * processors()).max(1)
}

fn carry_out(args: &Args) -> anyhow::Result<u8> {
    let (description, toml) = Description::find(&args.name).map_err(Usage::of)?;
    let plan = Plan::new(description.name.clone(), toml, args.scale, args.seed);
    let dir = folder(args, &plan)?;
    let (plan, _lock) = plan.begin(&dir).map_err(Usage::of)?;
    process::sweep_orphans(OWNER);
    let interrupt = process::interrupt_flag()?;
    let display = Display::new(args.quiet);
    let bench = Bench {
        dir: &dir,
        scale: args.scale,
        seed: args.seed,
        with_invalid: args.with_invalid,
        jobs: jobs(args.jobs),
        mark: &process::owner_mark()?,
        interrupt: &interrupt,
        display: &display,
    };
    let time = words(description.study.expected(args.scale, bench.jobs));
    display.say(&format!(
        "{}: {} in about {time}",
        relative(&dir).display(),
        description.name
    ));
    let ran = description.study.run(&bench);
    display.finish();
    ran?;
    let begun = begun(&description, &plan, &bench);
    let found = description.study.conclude(&bench, begun)?;
    page::save(&dir, &found)?;
    conclude(
        args,
        &found,
        &relative(&dir),
        interrupt.load(Ordering::Relaxed),
    )
}

/// The experiment with nothing found yet.
fn begun(description: &Description, plan: &Plan, bench: &Bench<'_>) -> Experiment {
    let begun = Experiment::new(&description.name, &description.title)
        .started(plan.started.to_string())
        .plan(json!({
            "about": description.about,
            "study": description.study,
            "scale": plan.scale,
            "seed": plan.seed,
            "jobs": bench.jobs,
            "with_invalid": bench.with_invalid,
            "isobath": env!("CARGO_PKG_VERSION"),
            "host": kit::host::facts("experiment"),
        }));
    let papers = description.papers.iter();
    papers.fold(begun, Experiment::paper)
}

/// The experiment's folder, absolute.
fn folder(args: &Args, plan: &Plan) -> anyhow::Result<PathBuf> {
    let out = if let Some(out) = &args.out {
        out.clone()
    } else {
        let name = plan.name.replace('/', "-");
        let name = record::folder_name(plan.started, "experiment", &name);
        record::new_folder(Path::new("isobath-runs"), &name)?
    };
    Ok(absolute(out)?)
}

/// Prints what was found; returns the exit status.
fn conclude(
    args: &Args,
    found: &Experiment,
    shown: &Path,
    is_interrupted: bool,
) -> anyhow::Result<u8> {
    if args.json {
        print(&found.to_json()?)?;
    }
    if is_interrupted {
        // With stderr closed there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "experiment: interrupted - go on with 'isobath experiment run {} --scale {} --seed {} --out {}'",
            args.name,
            args.scale.get(),
            args.seed,
            shown.display()
        );
        return Ok(INTERRUPTED);
    }
    if !args.json {
        print(&page::scorecard(found, shown))?;
    }
    let verdicts = || found.cases.iter().filter_map(|case| case.holds);
    Ok(if found.cases.iter().all(|case| case.found.is_none()) {
        FAILED
    } else if verdicts().any(|holds| !holds) {
        DOES_NOT_HOLD
    } else if verdicts().next().is_none() {
        INCONCLUSIVE
    } else {
        0
    })
}

/// As somebody would type it from here.
fn relative(dir: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| dir.strip_prefix(here).ok().map(Path::to_owned));
    below.unwrap_or_else(|| dir.to_owned())
}
