//! `isobath rrul`: finds the far end or makes one in a lab, runs the plan, and tells what came of it.

use super::{INTERRUPTED, Usage, print};
use crate::cli::lab::Far;
use crate::host;
use crate::rrul::Live;
use crate::rrul::plan::Plan;
use crate::rrul::quality;
use crate::rrul::run::{self, Context, Ending, Outcome};
use crate::rrul::scorecard::scorecard;
use crate::rrul::stream::try_congestion;
use crate::rrul::streams::StreamPlan;
use crate::rrul::summary::summarise;
use crate::rrul::warnings::warnings;
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;
use lab::{Network, profiles};
use record::{Endpoint, LabInfo, LabLink, PathInfo, RecordWriter, Run};
use serde_json::json;
use session::{AccessKey, Client, Family};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::process;
use units::{Dscp, Span};

/// How long the far end may take to welcome us.
const CONNECT: Duration = Duration::from_secs(10);
/// The congestion control in a lab, so that a lab shows the same on every machine.
const LAB_CC: &str = "cubic";

#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    clippy::doc_markdown,
    reason = "switches of a command line, and their help as people read it"
)]
#[command(group(clap::ArgGroup::new("far-end").required(true).args(["host", "lab"])))]
pub(crate) struct Args {
    /// The far end, where 'isobath serve' runs: HOST or HOST:PORT, an IPv6 address in brackets.
    host: Option<String>,
    /// Measure in an emulated network instead: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
    /// The access key that 'isobath serve' printed.
    #[arg(long, env = "ISOBATH_KEY", hide_env_values = true)]
    key: Option<AccessKey>,
    /// What to do: rrul, rrul_be, tcp_upload, tcp_download, tcp_bidirectional, simple, ping, or a TOML file.
    #[arg(long, default_value = "rrul")]
    plan: String,
    /// How long the load lasts, such as 60s; a bare number is seconds [default: the plan's, 60s].
    #[arg(long, value_parser = seconds)]
    duration: Option<Span>,
    /// Congestion control of the load [default: the sender's own; cubic in a lab].
    #[arg(long, value_name = "NAME")]
    cc: Option<String>,
    /// One class for all streams instead of the plan's, such as EF or CS1.
    #[arg(long)]
    dscp: Option<Dscp>,
    /// Over IPv4 only.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Over IPv6 only.
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Seed of what is random on emulated links.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the record [default: isobath-runs/TIME-rrul-NAME].
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Print the record's run.json instead of the scorecard.
    #[arg(long)]
    json: bool,
    /// No progress bar.
    #[arg(short, long)]
    quiet: bool,
    /// A remark to keep with the record.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// A duration; alone among quantities it may be a bare number, of seconds, as every peer of ours takes it.
fn seconds(text: &str) -> Result<Span, units::QuantityError> {
    let number: Result<u32, _> = text.parse();
    number.map_or_else(
        |_| text.parse(),
        |s| Ok(Span(Duration::from_secs(s.into()))),
    )
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = plan(args)?;
    // The lab comes first: it may have to change this process before there are other threads.
    let network = args
        .lab
        .as_deref()
        .map(|name| network(name, args.seed))
        .transpose()?;
    let interrupt = process::interrupt_flag()?;
    let mut far = network
        .as_ref()
        .map(|network| Far::start(network, args.ipv6))
        .transpose()?;
    let mut client = connect(args, far.as_ref())?;
    let cc = args
        .cc
        .clone()
        .or_else(|| network.is_some().then(|| LAB_CC.to_owned()));
    let family = if client.peer.is_ipv4() { 4 } else { 6 };
    let streams = StreamPlan::all(&plan, family, cc.as_deref());
    check(&plan, &streams, &client)?;
    let mut run = new_run(args, &plan, cc.as_deref(), &client, network.as_ref())?;
    let folder = folder(args, run.started)?;
    let is_ours = args.out.as_ref().is_none_or(|out| !out.exists());
    let mut record = create(&folder, &run)?;
    let bar = progress(args, &plan);
    let context = Context {
        plan: &plan,
        streams: &streams,
        peer: client.peer,
        lab: network.as_ref(),
        interrupt: &interrupt,
        display: &|live| show(&bar, live),
    };
    let agreement = run::agree(&context, &mut client).inspect_err(|_| {
        // Nothing has been measured; only what was just made is removed.
        let _ = std::fs::remove_file(folder.join("run.json"));
        if is_ours {
            let _ = std::fs::remove_dir(&folder);
        }
    })?;
    let outcome = run::run(&context, &agreement, &mut client, &mut record)?;
    bar.finish_and_clear();
    let emulator = network.as_ref().map(Network::cpu).unwrap_or_default();
    conclude(&mut run, &plan, &outcome, emulator)?;
    let dir = record.dir().to_owned();
    record.finish(&run)?;
    if let Some(far) = &mut far {
        far.stop();
    }
    report(args, &run, &outcome, &dir)
}

fn plan(args: &Args) -> anyhow::Result<Plan> {
    let mut plan = Plan::find(&args.plan).map_err(Usage::of)?;
    if let Some(duration) = args.duration {
        plan.duration = duration;
    }
    if let Some(class) = args.dscp {
        plan.load.iter_mut().for_each(|load| load.class = class);
        plan.probe.iter_mut().for_each(|probe| probe.class = class);
    }
    plan.check()
        .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
    Ok(plan)
}

fn network(name: &str, seed: u64) -> anyhow::Result<Network> {
    let topology = profiles::find(name).map_err(Usage::of)?;
    Ok(Network::up(topology, seed)?)
}

fn connect(args: &Args, far: Option<&Far>) -> anyhow::Result<Client> {
    let family = match (args.ipv4, args.ipv6) {
        (true, _) => Some(Family::V4),
        (_, true) => Some(Family::V6),
        _ => None,
    };
    let (host, key) = match (far, &args.host) {
        (Some(far), _) => (far.host(), Some(far.key())),
        (None, Some(host)) => (host.clone(), args.key.as_ref()),
        (None, None) => anyhow::bail!("neither a host nor a lab was given"),
    };
    Ok(session::connect(&host, family, key, CONNECT)?)
}

/// What can be found wrong before the run. The far end checks its own congestion controls.
fn check(plan: &Plan, streams: &[StreamPlan], client: &Client) -> anyhow::Result<()> {
    let limits = client.welcome.limits;
    if plan.total() > Duration::from_secs(limits.duration_s) {
        anyhow::bail!(
            "the run takes {:.0} s and the server allows {} s - use a shorter --duration",
            plan.total().as_secs_f64(),
            limits.duration_s
        );
    }
    for cc in streams.iter().filter_map(StreamPlan::cc) {
        try_congestion(cc).map_err(Usage::of)?;
    }
    Ok(())
}

fn new_run(
    args: &Args,
    plan: &Plan,
    cc: Option<&str>,
    client: &Client,
    network: Option<&Network>,
) -> anyhow::Result<Run> {
    let mut described = serde_json::to_value(plan)?;
    described["cc"] = json!(cc);
    described["seed"] = json!(args.seed);
    described["note"] = json!(args.note);
    let mut run = Run::new("rrul", Timestamp::now(), described);
    run.path = PathInfo {
        client: Endpoint {
            addresses: own_address(client.peer).into_iter().collect(),
            seen_as: Vec::new(),
        },
        server: Endpoint {
            addresses: vec![client.peer.ip()],
            seen_as: Vec::new(),
        },
        families: vec![if client.peer.is_ipv4() { 4 } else { 6 }],
        lab: network.map(|network| lab_info(args, network)),
    };
    run.hosts = vec![host::facts("client")];
    // A server of another version may say less of itself.
    run.hosts
        .extend(serde_json::from_value(client.welcome.host.clone()));
    Ok(run)
}

/// The address from which this host reaches `peer`. Connecting a datagram socket sends nothing.
fn own_address(peer: SocketAddr) -> Option<IpAddr> {
    let any: SocketAddr = match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(peer).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

fn lab_info(args: &Args, network: &Network) -> LabInfo {
    let links = network.topology().links.iter().map(|link| LabLink {
        name: link.between.join("-"),
        up: json!(link.up),
        down: json!(link.down),
    });
    LabInfo {
        name: args.lab.clone().unwrap_or_default(),
        links: links.collect(),
    }
}

fn folder(args: &Args, started: Timestamp) -> anyhow::Result<PathBuf> {
    if let Some(out) = &args.out {
        return Ok(out.clone());
    }
    let towards = args
        .lab
        .as_ref()
        .or(args.host.as_ref())
        .map_or("", String::as_str);
    let name = record::folder_name(started, "rrul", towards);
    Ok(record::new_folder(Path::new("isobath-runs"), &name)?)
}

/// Begins the record; naming a folder that holds something else is a mistake of the command line.
pub(super) fn create(folder: &Path, run: &Run) -> anyhow::Result<RecordWriter> {
    RecordWriter::create(folder, run).map_err(|error| match error {
        record::Error::NotEmpty { .. } => Usage::of(error),
        _ => error.into(),
    })
}

/// A bar on stderr, if somebody looks at it.
fn progress(args: &Args, plan: &Plan) -> ProgressBar {
    let target = if args.quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let total = u64::try_from(plan.total().as_millis()).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let style = ProgressStyle::with_template("{prefix:10} {wide_bar} {eta_precise} left  {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show(bar: &ProgressBar, live: &Live) {
    bar.set_prefix(live.phase);
    bar.set_position(u64::try_from(live.elapsed.as_millis()).unwrap_or(u64::MAX));
    let rtt = live
        .rtt_ms
        .map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"));
    bar.set_message(format!(
        "down {:.1} up {:.1} Mbit/s, rtt {rtt}",
        live.down_mbps, live.up_mbps
    ));
}

/// Turns what was found into the run's conclusion.
fn conclude(
    run: &mut Run,
    plan: &Plan,
    outcome: &Outcome,
    emulator: Duration,
) -> anyhow::Result<()> {
    let summary = summarise(plan, &outcome.tables);
    run.instrument = quality::instrument(plan, outcome, emulator);
    run.warnings = warnings(outcome, &run.instrument, &summary);
    run.status = quality::status(&outcome.ending, &run.warnings);
    run.summary = serde_json::to_value(summary)?;
    Ok(())
}

fn report(args: &Args, run: &Run, outcome: &Outcome, dir: &Path) -> anyhow::Result<u8> {
    if args.json {
        print(&serde_json::to_string_pretty(run)?)?;
    } else {
        let summary = serde_json::from_value(run.summary.clone()).context("summary")?;
        print(&format!(
            "{}record        {}",
            scorecard(run, &summary),
            dir.display()
        ))?;
    }
    Ok(match outcome.ending {
        Ending::Interrupted => INTERRUPTED,
        _ => run.exit_status(),
    })
}
