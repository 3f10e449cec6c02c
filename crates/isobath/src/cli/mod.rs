//! The command line: a contract with whoever types it and with whoever scripts it.

mod batch;
mod btc;
mod calibrate;
mod compare;
mod estimate;
mod experiment;
mod export;
mod far_ends;
mod fleet;
mod flent_verb;
mod generate;
mod import;
mod keys;
pub(crate) mod lab;
mod manager;
mod mbm;
mod no_thread;
mod replay;
mod report;
mod rpm;
mod rrul;
mod rules;
mod show;
pub(crate) mod sim;
pub(crate) mod trace;
mod trust;
mod udpst;

use crate::register::REGISTER;
use clap::{Parser, Subcommand};
use kit::ending::Interrupted;
use kit::options::INTERRUPTED;
use kit::usage::{Usage, plain};
use std::io::Write;
use std::process::ExitCode;

/// Exit status when the command line asks for what cannot be.
const USAGE: u8 = 2;
/// Exit status when nothing could be measured.
const FAILED: u8 = 3;

/// What clap says of a mistake, in one line.
pub(crate) fn one_line(error: &clap::Error) -> anyhow::Error {
    let text = error.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line: Vec<_> = paragraph.split_whitespace().collect();
    anyhow::anyhow!("{}", line.join(" "))
}

/// The workbench for network paths: latency under load, bulk transfer capacity, available bandwidth, loss.
#[derive(Debug, Parser)]
#[command(
    name = "isobath",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run the far end and print its access key.
    Serve(kit::serve::Args),
    /// Measure latency under load (RRUL), to a host that runs 'isobath serve' or in an emulated network.
    Rrul(rrul::Args),
    /// Accept Flent's command line: run its tests, read its data files, draw its plots.
    Flent(Box<flent_verb::Args>),
    /// Measure bulk transfer capacity with standard congestion control; --compare adds the kernel's TCP.
    Btc(btc::Args),
    /// Test whether a path can carry an application that needs a given rate over a given RTT (RFC 8337).
    Mbm(Box<mbm::Args>),
    /// Estimate one path property: RTT, one-way delay, jitter, loss, capacity, available bandwidth, bottleneck hop.
    Estimate(estimate::Args),
    /// Measure responsiveness under load (RPM) over HTTP/2 or HTTP/3, against any server that supports it.
    Rpm(rpm::Args),
    /// Measure the IP-layer capacity over UDP (RFC 9097), against any server of the UDP Speed Test Protocol (RFC 9946).
    Udpst(udpst::Args),
    /// List the third-party servers that can be the far end, and what each can measure.
    FarEnds(far_ends::Args),
    /// Run and query an overlay interface whose packets ride on measurement probes.
    #[command(subcommand)]
    Manager(manager::Verb),
    /// Measure in virtual time over a simulated path, once or over thousands of combinations of options.
    #[command(subcommand)]
    Sim(sim::Verb),
    /// Run a matrix of measurements: plans x places x parameters; can be killed and resumed.
    Batch(batch::Args),
    /// Run a fleet agent: measure other hosts on a shared schedule, and answer their measurements.
    Agent(Box<::fleet::agent::Args>),
    /// Schedule measurements between many hosts: apply a fleet file, show the state of its runs, export results.
    #[command(subcommand)]
    Fleet(::fleet::verbs::Verb),
    /// Extract connection vectors from packet captures; describe, convert, transform and synthesise them.
    #[command(subcommand)]
    Trace(trace::Verb),
    /// Replay connection vectors over real sockets, each connection with its own RTT.
    Replay(Box<replay::Args>),
    /// Emulate networks on this machine, and run any command in them.
    #[command(subcommand)]
    Lab(lab::Verb),
    /// Reproduce the papers' experiments.
    #[command(subcommand)]
    Experiment(experiment::Verb),
    /// Print the scorecard of a record.
    Show(show::Args),
    /// Compare runs, or the groups of a batch: means, confidence intervals, differences.
    Compare(compare::Args),
    /// Write one or several records as a self-contained HTML page.
    Report(report::Args),
    /// Export a record as CSV or as a Flent data file.
    Export(export::Args),
    /// Import Flent data files, and records saved from a test page.
    Import(import::Args),
    /// Print shell completions, manual pages or the Wireshark dissector, or write all of them for a package.
    #[command(subcommand, hide = true)]
    Generate(generate::Verb),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return mistyped(&error),
        // Help or the version was asked for.
        Err(error) => error.exit(),
    };
    let name = cli.verb.name();
    no_thread::end_in_order(name);
    match cli.verb.run() {
        Ok(status) => ExitCode::from(status),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // With stderr closed there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{name}: {}", plain(&told(&error)));
            ExitCode::from(if error.is::<Interrupted>() {
                INTERRUPTED
            } else if error.is::<Usage>() || is_only_linux(&error) {
                USAGE
            } else {
                FAILED
            })
        }
    }
}

/// Tells in one line what is wrong with the command line: the library's first paragraph, without its usage and tips. Help
/// that was not asked for (no verb was given) stays whole.
fn mistyped(error: &clap::Error) -> ExitCode {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    let text = error.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    // With stderr closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{} (see --help)", plain(&line));
    ExitCode::from(USAGE)
}

impl Verb {
    /// What this is called, if only Linux can do it; labs are refused where they are brought up.
    const fn needs_linux(&self) -> Option<&'static str> {
        match self {
            Self::Serve(_) => Some("a far end ('isobath serve')"),
            Self::Manager(_) => Some("a manager"),
            Self::Replay(_) => Some("a replay over real sockets"),
            Self::Agent(_) => Some("an agent of a fleet"),
            _ => None,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Serve(_) => "serve",
            Self::Rrul(_) => "rrul",
            Self::Flent(_) => "flent",
            Self::Btc(_) => "btc",
            Self::Mbm(_) => "mbm",
            Self::Estimate(_) => "estimate",
            Self::Rpm(_) => "rpm",
            Self::Udpst(_) => "udpst",
            Self::FarEnds(_) => "far-ends",
            Self::Manager(_) => "manager",
            Self::Sim(_) => "sim",
            Self::Batch(_) => "batch",
            Self::Agent(_) => "agent",
            Self::Fleet(_) => "fleet",
            Self::Trace(_) => "trace",
            Self::Replay(_) => "replay",
            Self::Lab(_) => "lab",
            Self::Experiment(_) => "experiment",
            Self::Show(_) => "show",
            Self::Compare(_) => "compare",
            Self::Report(_) => "report",
            Self::Export(_) => "export",
            Self::Import(_) => "import",
            Self::Generate(_) => "generate",
        }
    }

    fn run(self) -> anyhow::Result<u8> {
        if let Some(what) = self.needs_linux() {
            sys::require_linux(what)?;
        }
        match self {
            Self::Serve(args) => kit::serve::run(&args, &REGISTER),
            Self::Rrul(args) => rrul::run(&args),
            Self::Flent(args) => flent_verb::run(&args),
            Self::Btc(args) => btc::run(&args),
            Self::Mbm(args) => mbm::run(&args),
            Self::Estimate(args) => estimate::run(&args),
            Self::Rpm(args) => rpm::run(&args),
            Self::Udpst(args) => udpst::run(&args),
            Self::FarEnds(args) => far_ends::run(&args),
            Self::Manager(verb) => manager::run(&verb),
            Self::Sim(verb) => sim::run(&verb),
            Self::Batch(args) => batch::run(&args),
            Self::Agent(args) => fleet::agent(&args),
            Self::Fleet(verb) => fleet::run(&verb),
            Self::Trace(verb) => trace::run(&verb),
            Self::Replay(args) => replay::run(&args),
            Self::Lab(verb) => lab::run(verb),
            Self::Experiment(verb) => experiment::run(&verb),
            Self::Show(args) => show::run(&args),
            Self::Compare(args) => compare::run(&args),
            Self::Report(args) => report::run(&args),
            Self::Export(args) => export::run(&args),
            Self::Import(args) => import::run(&args),
            Self::Generate(verb) => generate::run(&verb),
        }
    }
}

/// A duration; alone among quantities it may be a bare number, of seconds, as every peer of ours takes it.
pub(crate) fn seconds(text: &str) -> Result<units::Span, units::QuantityError> {
    let number: Result<u32, _> = text.parse();
    number.map_or_else(
        |_| text.parse(),
        |s| Ok(units::Span(std::time::Duration::from_secs(s.into()))),
    )
}

/// The error and what led to it, each once: most errors here name their cause themselves.
pub(crate) fn told(error: &anyhow::Error) -> String {
    let causes = error.chain().skip(1).map(ToString::to_string);
    causes.fold(error.to_string(), |told, cause| {
        if told.contains(&cause) {
            told
        } else {
            format!("{told}: {cause}")
        }
    })
}

/// What was asked for needs Linux, and this is another system.
fn is_only_linux(error: &anyhow::Error) -> bool {
    let of_lab = match error.downcast_ref() {
        Some(::lab::Error::System(error)) => Some(error),
        _ => None,
    };
    let of_system = error.downcast_ref::<sys::Error>().or(of_lab);
    matches!(of_system, Some(sys::Error::OnlyLinux { .. }))
}

/// Whoever read our output has seen enough (`isobath show RUN | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = error
        .downcast_ref::<std::io::Error>()
        .map(std::io::Error::kind);
    kind == Some(std::io::ErrorKind::BrokenPipe)
}
