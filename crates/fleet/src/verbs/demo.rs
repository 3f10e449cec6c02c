//! `isobath fleet demo`: the lab `fleet` with NATS on one host and an agent on each other, a fleet file applied, a minute of it, and what came
//! of that.

use super::{NOTICE, OPERATOR, Program, account, revisions, wait, web};
use crate::agent::wall;
use crate::bus::{Access, Bus};
use crate::file::{FleetFile, MeasureSpec};
use crate::schedule::Plan;
use crate::stage::{self, Stage};
use crate::{Moment, Name, RunId};
use clap::{Parser, ValueEnum as _};
use kit::options::INTERRUPTED;
use kit::usage::{Usage, print};
use lab::{Network, profiles};
use schema::estimate::plan::What;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::{clock, process};
use units::Span;

/// Where NATS runs.
const HUB: &str = "hub";
const LAB: &str = "fleet";
/// From one look to the next.
const LOOK: Duration = Duration::from_millis(100);
/// After the time is over, for the runs that are under way, at most.
const AFTER: Duration = Duration::from_secs(30);

const FILE: &str = include_str!("../../../../examples/fleet/demo.toml");

#[derive(Debug, clap::Args)]
pub struct Args {
    /// How long the fleet measures.
    #[arg(long, value_name = "TIME", default_value = "1min")]
    duration: Span,
    /// Fleet file for the hosts of the lab 'fleet' [default: the built-in one].
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Address and port of the fleet's web page; port 0 is any that is free.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Program of the NATS server.
    #[arg(
        long,
        help = "NATS server executable [default: that of ISOBATH_NATS_SERVER, or nats-server on the PATH]",
        value_name = "PROGRAM"
    )]
    nats_server: Option<PathBuf>,
    /// Folder for everything [default: a new one in isobath-runs].
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Hide progress.
    #[arg(short, long)]
    quiet: bool,
}

/// A verb of the fleet, as an operator would type it.
#[derive(Parser)]
struct Typed {
    #[command(subcommand)]
    verb: super::Verb,
}

pub(super) fn run(args: &Args, program: Program) -> anyhow::Result<u8> {
    let text = args
        .file
        .as_ref()
        .map(fs::read_to_string)
        .transpose()
        .map_err(Usage::of)?;
    let text = text.unwrap_or_else(|| FILE.to_owned());
    let file = FleetFile::parse(&text, "the fleet file").map_err(Usage::of)?;
    let server = stage::server(args.nats_server.as_deref())?;
    // In this network, for a browser here; the lab has others.
    let listener = web::listen(args.listen)?;
    let page = listener.local_addr()?;
    // The lab comes first: it may have to change this process before there are other threads.
    let network = Network::up(profiles::find(LAB)?, 1)?;
    let interrupt = process::interrupt_flag()?;
    let dir = folder(args.out.as_deref())?;
    fs::write(dir.join("fleet.toml"), &text)?;
    let stage = Stage::start(&network, HUB, &file.hosts, &server, &dir)?;
    let nats = stage.nats();
    network.node(HUB)?.enter()?;
    let tell = |line: &str| {
        if !args.quiet {
            // With stderr closed there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "demo: {line}");
        }
    };
    tell(&format!(
        "{} agents in the lab '{LAB}', NATS on {HUB}; everything is in {}",
        file.hosts.len(),
        dir.display()
    ));
    stage.until_there(&interrupt)?;
    let _page = web::Aside::serve(Access::at(nats), program, listener);
    tell(&format!(
        "the fleet's page is http://{page}/ until the demo ends"
    ));
    let said = |words: &[&str]| said(program, nats, words);
    let path = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let began = wall();
    said(&["apply", &path("fleet.toml")])?;
    let name = file.name.as_str();
    tell(&format!("the fleet measures for {}", args.duration));
    rest(args.duration.0, &interrupt);
    let asked = on_demand(&file).filter(|_| !interrupt.load(Ordering::Relaxed));
    if let Some([what, from, to]) = asked {
        let mut words = vec!["ask", what, from, to, "--measure", "--max-age", "1s"];
        words.extend(args.quiet.then_some("--quiet"));
        if let Err(error) = said(&words) {
            // A busy machine is no reason to end here.
            tell(&format!("{error:#}"));
        }
    }
    said(&["pause", name])?;
    rest(NOTICE, &interrupt);
    until_ended(nats, &file.name, began, &interrupt)?;
    said(&["status"])?;
    said(&["runs", name, "--matrix", "--last", "24h"])?;
    if file.measures.iter().any(MeasureSpec::is_traced) {
        said(&["links", name])?;
    }
    said(&["export", name, "--out", &path("archive")])?;
    drop(stage);
    Ok(if interrupt.load(Ordering::Relaxed) {
        INTERRUPTED
    } else {
        0
    })
}

/// What may be asked for now from the first host of the file to its last.
fn on_demand(file: &FleetFile) -> Option<[&str; 3]> {
    let plan = Plan::new(file.clone());
    let (from, to) = (&file.hosts.first()?.name, &file.hosts.last()?.name);
    file.measures.iter().find_map(|measure| {
        let run = RunId {
            fleet: file.name.clone(),
            measure: measure.name.clone(),
            from: from.clone(),
            to: to.clone(),
            instant: wall(),
        };
        plan.on_demand(&run).ok()?;
        let mut all = What::value_variants().iter().map(|what| what.name());
        let what = all.find(|what| measure.estimates(what))?;
        let [from, to] = measure.ends([from.as_str(), to.as_str()]);
        Some([what, from, to])
    })
}

fn folder(out: Option<&Path>) -> anyhow::Result<PathBuf> {
    let dir = match out {
        Some(out) => {
            fs::create_dir_all(out)?;
            out.to_owned()
        }
        None => record::new_folder(
            Path::new("isobath-runs"),
            &record::folder_name(jiff::Timestamp::now(), "fleet", "demo"),
        )?,
    };
    Ok(std::path::absolute(dir)?)
}

/// Waits for the runs that are under way.
fn until_ended(
    nats: &str,
    fleet: &Name,
    began: Moment,
    interrupt: &AtomicBool,
) -> anyhow::Result<()> {
    let access = Access::at(nats);
    let deadline = clock::now() + AFTER;
    while clock::now() < deadline && !interrupt.load(Ordering::Relaxed) {
        if !wait(is_open(&access, fleet, began))? {
            break;
        }
        rest(LOOK, interrupt);
    }
    Ok(())
}

/// Whether runs that were to begin since `began` have no outcome yet.
async fn is_open(access: &Access, fleet: &Name, began: Moment) -> anyhow::Result<bool> {
    let bus = Bus::open(access, OPERATOR).await?;
    let (mut revisions, _) = revisions(&bus, fleet).await?;
    let now = wall();
    let account = account(&bus, fleet, &mut revisions, [began, now], now).await?;
    Ok(account.counts().open > 0)
}

/// Says to the fleet what an operator would type.
fn said(program: Program, nats: &str, words: &[&str]) -> anyhow::Result<()> {
    print(&format!("\n$ isobath fleet {}", words.join(" ")))?;
    let place = ["--nats", nats];
    let typed = ["fleet"].iter().chain(words).chain(&place);
    let typed = Typed::try_parse_from(typed)?;
    super::run(&typed.verb, program)?;
    std::io::stdout().flush()?;
    Ok(())
}

fn rest(span: Duration, interrupt: &AtomicBool) {
    let end = clock::now() + span;
    while clock::now() < end && !interrupt.load(Ordering::Relaxed) {
        clock::sleep_until(end.min(clock::now() + LOOK));
    }
}
