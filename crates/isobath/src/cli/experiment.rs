//! `isobath experiment`: what the papers did, run again.

use super::FAILED;
use clap::ValueEnum;
use kit::options::INTERRUPTED;
use kit::pool::child::OWNER;
use kit::pool::words;
use kit::usage::{Usage, print};
use report::experiment::Experiment;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::Ordering;
use studies::experiment::bench;
use studies::experiment::claims::Claims;
use studies::experiment::display::Display;
use studies::experiment::folder::Plan;
use studies::experiment::{Bench, Description, Scale, World, page};
use sys::process;

/// Exit status when a case does not hold.
const DOES_NOT_HOLD: u8 = 1;
/// Exit status when no case could be told.
const INCONCLUSIVE: u8 = 5;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// List the built-in experiments.
    List,
    /// Print an experiment as TOML: a starting point for your own.
    Show {
        /// Experiment: a name from 'isobath experiment list', or a TOML file.
        name: String,
    },
    /// Run or resume an experiment.
    Run(Args),
    /// List all claims of the papers, with the findings in virtual time and in the lab.
    Claims(ClaimsArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClaimsArgs {
    /// Experiment folders, or folders that contain some.
    #[arg(default_value = "isobath-runs")]
    folders: Vec<PathBuf>,
    /// Also write the claims as a self-contained HTML page.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the claims as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 every decided case holds; 1 some case does not; 3 could not be run; 5 no case could be decided; 130 interrupted, resume with the same command and --out."
)]
pub(crate) struct Args {
    /// Experiment: a name from 'isobath experiment list', or a TOML file.
    name: String,
    /// Folder for the records and the results page; a folder of the same experiment is resumed [default:
    /// isobath-runs/TIME-experiment-NAME].
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Share of the cells, repeats and transfers to run, such as 0.1.
    #[arg(long, default_value = "1")]
    scale: Scale,
    /// World to run the experiment in, if it supports both [default: lab].
    #[arg(long, value_name = "WORLD", value_enum)]
    world: Option<World>,
    /// Maximum parallel measurements; those that need the whole machine run alone [default: two per processor, one in virtual time].
    #[arg(long)]
    jobs: Option<usize>,
    /// Show what was found in the other world beside this one: the folder of the same experiment there.
    #[arg(long, value_name = "FOLDER")]
    beside: Option<PathBuf>,
    /// Include invalid measurements, for which this machine was too busy.
    #[arg(long)]
    with_invalid: bool,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// Hide progress.
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
        Verb::Claims(args) => claims(args),
    }
}

fn claims(args: &ClaimsArgs) -> anyhow::Result<u8> {
    let claims = Claims::gather(&args.folders)?;
    let index = claims.index();
    if let Some(out) = &args.out {
        bench::write(out, &report::experiment::page(&index)?)?;
    }
    if args.json {
        print(&index.to_json()?)?;
        return Ok(0);
    }
    print(&page::index(&index))?;
    if let Some(out) = &args.out {
        print(&format!("page  {}", out.display()))?;
    }
    Ok(0)
}

fn list() -> anyhow::Result<u8> {
    let width = Description::names().map(str::len).max().unwrap_or(0) + 2;
    let lines = Description::names().map(|name| {
        let (found, _) = Description::find(name)?;
        let study = found.study;
        let time = words(study.expected(Scale::FULL, study.side_by_side()));
        Ok(format!("{name:width$}{} (about {time})", found.title))
    });
    print(&lines.collect::<anyhow::Result<Vec<_>>>()?.join("\n"))?;
    Ok(0)
}

fn carry_out(args: &Args) -> anyhow::Result<u8> {
    let (mut description, mut toml) = Description::find(&args.name).map_err(Usage::of)?;
    if let Some(world) = args.world {
        (description, toml) = description.in_world(world).map_err(Usage::of)?;
    }
    let beside = args.beside.as_deref();
    let other = beside.map(|folder| Claims::other(folder, &description));
    let other = other.transpose().map_err(Usage::of)?;
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
        jobs: args
            .jobs
            .map_or_else(|| description.study.side_by_side(), |jobs| jobs.max(1)),
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
    let found = match other {
        Some(other) => Claims::beside(found, other),
        None => found,
    };
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
        let world = args.world.and_then(|world| world.to_possible_value());
        let world = world.map_or_else(String::new, |world| {
            format!(" --world {}", world.get_name())
        });
        let beside = args.beside.as_deref();
        let beside = beside.map_or_else(String::new, |folder| {
            format!(" --beside {}", folder.display())
        });
        // With stderr closed there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "experiment: interrupted - go on with 'isobath experiment run {}{world}{beside} --scale {} --seed {} --out {}'",
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
