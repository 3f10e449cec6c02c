//! A program with one measurement of its own: `handshake run --lab dsl` tells how long TCP connections take to open.
//!
//! It is the measurement of docs/adding-a-measurement.md, whole: what it shares with the five of Isobath is in `kit`.
#![forbid(unsafe_code)]

mod far;
mod measurement;
mod messages;
mod near;
mod plan;
mod summary;
mod tables;

use clap::Parser;
use kit::begin;
use kit::compare::{Comparison, groups, table};
use kit::instrument::{Measured, status};
use kit::options::{Output, Towards, exit_status};
use kit::place::Place;
use kit::register::Register;
use kit::usage::{Usage, print};
use kit::warnings::List;
use measurement::Handshake;
use plan::Plan;
use record::Record;
use std::path::PathBuf;
use std::process::ExitCode;
use units::Span;

/// To add a measurement is to add a line to each list.
static REGISTER: Register = Register {
    measurements: &[&Handshake],
    far_ends: &[&Handshake],
    page: None,
};

/// How long TCP connections take to open.
#[derive(Parser)]
#[command(name = "handshake", version, arg_required_else_help = true)]
enum Cli {
    /// Be the far end; prints the access key
    Serve(kit::serve::Args),
    /// Open connections and time their handshakes
    Run(Args),
    /// Print the scorecard of a record
    Show {
        /// Folder of the record.
        run: PathBuf,
    },
    /// Compare runs
    Compare {
        /// Folders of records.
        #[arg(required = true)]
        runs: Vec<PathBuf>,
    },
}

#[derive(clap::Args)]
struct Args {
    #[command(flatten)]
    towards: Towards,
    /// Connections to open.
    #[arg(short, long, default_value_t = 20)]
    connections: u32,
    /// Time from one connection to the next.
    #[arg(long, default_value = "100ms")]
    gap: Span,
    /// Seed of randomness on the links of a lab.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

fn main() -> ExitCode {
    let done = match Cli::parse() {
        Cli::Serve(args) => kit::serve::run(&args, &REGISTER),
        Cli::Run(args) => run(&args),
        Cli::Show { run } => show(&run),
        Cli::Compare { runs } => compare(&runs),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("handshake: {error:#}");
            ExitCode::from(if error.is::<Usage>() { 2 } else { 3 })
        }
    }
}

fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = Plan {
        connections: args.connections,
        gap: args.gap,
    };
    plan.check()
        .map_err(|reason| Usage::of(anyhow::anyhow!(reason)))?;
    let mut place = Place::reach(&args.towards, args.seed)?;
    let mut run = begin::new_run("handshake", &plan, &args.towards, &place, &args.output)?;
    let mut opened = args.output.open(args.towards.name(), &run)?;
    let outcome = near::run(
        &plan,
        &mut place.client,
        &mut opened.writer,
        &place.interrupt,
    )?;
    run.summary = serde_json::to_value(summary::summarise(&outcome.rows, outcome.accepted))?;
    let mut list = List::default();
    list.ending(&outcome.ending, "the figures are of the connections before");
    list.instrument(&run.instrument, &[], &[]);
    run.warnings = list.0;
    let measured = Measured::of(outcome.rows.len(), plan.connections as usize);
    run.status = status(&outcome.ending, measured, &run.warnings, &[]);
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    args.output.tell(&run, &dir, || {
        REGISTER.of_test(&run.test)?.scorecard_of(&run)
    })?;
    Ok(exit_status(&run, &outcome.ending))
}

fn show(folder: &std::path::Path) -> anyhow::Result<u8> {
    let run = REGISTER.completed(&Record::open(folder)?)?;
    print(&REGISTER.of_test(&run.test)?.scorecard_of(&run)?)?;
    Ok(0)
}

fn compare(runs: &[PathBuf]) -> anyhow::Result<u8> {
    let groups = groups::load(runs, &|_| None)?;
    print(&table::page(&Comparison::of(&REGISTER, &groups, false)))?;
    Ok(0)
}
