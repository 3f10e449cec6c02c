//! `isobath lab`, and the far end that `--lab` brings up.

pub(crate) mod books;

use self::books::Books;
use super::calibrate;
use anyhow::Context;
use kit::lab_server::end;
use kit::usage::{Usage, print};
use lab::{Network, Topology, profiles};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::{clock, process};

/// How often a child is looked after.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// List the built-in labs.
    List,
    /// Describe a lab: links, addresses, base RTT.
    Show {
        /// Lab: a name from 'isobath lab list', or a TOML file.
        name: String,
        /// Print the lab as TOML: a starting point for your own.
        #[arg(long)]
        toml: bool,
    },
    /// Open a shell on the client host of a lab; every node is reachable by name.
    Shell(Place),
    /// Run a command on the client host of a lab; every node is reachable by name.
    #[command(
        after_help = "Example: isobath lab run lossy -- ping -c 20 server\n         isobath lab run dsl --also 'server=iperf3 -s -1' -- iperf3 -c server"
    )]
    Run {
        #[command(flatten)]
        place: Place,
        /// Folder for a record of what the links carried, queued and dropped; its scorecard goes to stderr.
        #[arg(short, long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Command to run, with its arguments.
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Measure in 20 s what this machine can emulate and time: TCP rate, packet and connection rates, timing errors.
    Calibrate(calibrate::Args),
}

/// Where a command runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// Lab: a name from 'isobath lab list', or a TOML file.
    name: String,
    /// Node to run on [default: the lab's client].
    #[arg(long, value_name = "NODE")]
    on: Option<String>,
    /// Also run a shell command on another node, output on stderr; may be repeated.
    #[arg(long, value_name = "NODE=COMMAND")]
    also: Vec<String>,
    /// Random seed of the links.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(verb: Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::List => list(),
        Verb::Show { name, toml: true } => {
            print(&profiles::text(&name).map_err(Usage::of)?)?;
            Ok(0)
        }
        Verb::Show { name, toml: false } => {
            print(&describe(&name, &profiles::find(&name).map_err(Usage::of)?))?;
            Ok(0)
        }
        Verb::Shell(place) => {
            let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
            inside(&place, Command::new(shell), None)
        }
        Verb::Run {
            place,
            out,
            command,
        } => {
            let (program, arguments) = command.split_first().context("no command was given")?;
            let record = out.map(|out| (out, books::plan(&place, &command)));
            let mut command = Command::new(program);
            command.args(arguments);
            inside(&place, command, record)
        }
        Verb::Calibrate(args) => calibrate::run(&args),
    }
}

fn list() -> anyhow::Result<u8> {
    let lines = profiles::names().map(|name| {
        let topology = profiles::find(name)?;
        Ok(format!("{name:18}{}", topology.summary))
    });
    print(&lines.collect::<Result<Vec<_>, lab::Error>>()?.join("\n"))?;
    Ok(0)
}

/// A lab in words.
fn describe(name: &str, topology: &Topology) -> String {
    let mut lines = vec![format!("{name}: {}", topology.summary), String::new()];
    for link in &topology.links {
        let [a, b] = &link.between;
        lines.push(format!("{a} -> {b}: {}", link.up.describe()));
        lines.push(format!("{b} -> {a}: {}", link.down.describe()));
    }
    lines.push(String::new());
    for node in topology.nodes() {
        let role = match node {
            node if node == topology.client => " (client)",
            node if topology.servers().contains(&node) => " (server)",
            _ => "",
        };
        let addresses = topology.addresses(node).into_iter().flatten();
        let addresses: Vec<_> = addresses.map(|address| address.to_string()).collect();
        lines.push(format!("{node}{role}: {}", addresses.join(", ")));
    }
    for limit in &topology.limits {
        lines.push(format!(
            "{} has {} of a processor",
            limit.host,
            String::from(limit.cpu)
        ));
    }
    for server in topology.servers() {
        lines.push(format!(
            "round trip to {server} {:?} without queues and transmission",
            round_trip(topology, server)
        ));
    }
    lines.join("\n")
}

/// The delays from the client to `server` and back.
fn round_trip(topology: &Topology, server: &str) -> Duration {
    let way = topology.way_to(server);
    let hops = way
        .windows(2)
        .flat_map(|hop| [(hop[0], hop[1]), (hop[1], hop[0])]);
    hops.filter_map(|(from, to)| Some(topology.direction(from, to)?.1.base_delay()))
        .sum()
}

/// Runs `command` in a lab, with what the user wants beside it, and keeps a `record` of the links by its folder and plan, if one is wanted; returns
/// the command's exit status.
fn inside(place: &Place, command: Command, record: Option<(PathBuf, Value)>) -> anyhow::Result<u8> {
    let topology = profiles::find(&place.name).map_err(Usage::of)?;
    let also: Vec<(&str, &str)> = place
        .also
        .iter()
        .map(|also| {
            let form = || Usage::of(anyhow::anyhow!("'{also}' is not NODE=COMMAND"));
            also.split_once('=').ok_or_else(form)
        })
        .collect::<Result<_, _>>()?;
    let network = Network::up(topology, place.seed)?;
    // Ctrl-C is the command's to act on; when it ends, so do we, in order.
    let terminated = process::termination_flag()?;
    let mut others = Vec::new();
    for (node, text) in also {
        let mut shell = Command::new("/bin/sh");
        // Stdout is the command's alone: somebody may parse it.
        shell
            .args(["-c", text])
            .stdin(Stdio::null())
            .stdout(Stdio::from(std::io::stderr()));
        process::set_apart(&mut shell);
        others.push(network.spawn(node, shell).map_err(Usage::of)?);
    }
    if !others.is_empty() {
        // A server among them needs a moment until it listens.
        clock::sleep_until(clock::now() + Duration::from_millis(300));
    }
    let node = place
        .on
        .as_ref()
        .unwrap_or_else(|| &network.topology().client);
    let record = record.map(|(out, plan)| Books::open((&place.name, &network), plan, &out));
    let (mut record, mut broken) = (record.transpose()?, None);
    let child = network.spawn(node, command).inspect_err(|_| {
        if let Some(record) = &record {
            record.undo();
        }
    });
    let mut child = child.map_err(Usage::of)?;
    if let Some(notice) = network.congestion().notice() {
        eprintln!("lab: {notice}");
    }
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if terminated.load(Ordering::Relaxed) {
            end(&mut child);
        }
        clock::sleep_until(clock::now() + LOOK);
        if broken.is_none()
            && let Some(record) = &mut record
        {
            // The command goes on without a record.
            broken = record.look().err();
        }
    };
    let status = exit_status(status);
    // What the others do while they end is not the command's.
    let is_cut = terminated.load(Ordering::Relaxed);
    let told = match broken {
        Some(broken) => Err(broken),
        None => record
            .map(|record| record.close(status, is_cut))
            .transpose(),
    };
    for other in &mut others {
        process::terminate_group(other);
        end(other);
    }
    if let Some(told) = told? {
        eprintln!("\n{told}");
    }
    Ok(status)
}

/// The exit status of a child as a shell reports it.
fn exit_status(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| process::signal(status).map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}
