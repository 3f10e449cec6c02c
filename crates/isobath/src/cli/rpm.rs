//! `isobath rpm URL`: responsiveness under working conditions, against a server of anybody's.

use super::trust::TrustArgs;
use indicatif::ProgressBar;
use kit::begin::path_info;
use kit::options::{IpVersion, Output};
use kit::usage::Usage;
use rpm::Live;
use rpm::run::{self, Context};
use rpm::scorecard::scorecard;
use rpm::target::Target;
use schema::Ways;
use schema::rpm::Plan;
use sys::process;
use units::{HttpVersion, Span};

/// Requests on an idle path before any load.
const IDLE_PROBES: u32 = 10;
/// Most connections that load, and most requests in a second (MNP and MPS of the draft).
const MOST_CONNECTIONS: u32 = 16;
const MOST_PROBES_PER_S: u32 = 100;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: isobath rpm https://rpm.example:4043\nFor a URL without a path, the configuration is fetched from /.well-known/nq."
)]
pub(crate) struct Args {
    /// Server, or the URL of its configuration (HTTPS).
    url: String,
    /// Version of HTTP, h2 or h3.
    #[arg(long, value_name = "VERSION", default_value = "h2")]
    http: HttpVersion,
    /// Directions of the load, one after the other.
    #[arg(long, value_enum, value_name = "WAYS", default_value = "both")]
    ways: Ways,
    /// Interval duration (ID); each adds one connection, and figures must be stable over four.
    #[arg(long, value_name = "TIME", value_parser = crate::cli::seconds, default_value = "5s")]
    interval: Span,
    /// Maximum time per direction; it ends early once its figures are stable.
    #[arg(long, value_name = "TIME", value_parser = crate::cli::seconds, default_value = "60s")]
    most: Span,
    #[command(flatten)]
    trust: TrustArgs,
    #[command(flatten)]
    version: IpVersion,
    #[command(flatten)]
    output: Output,
}

impl Args {
    fn plan(&self) -> anyhow::Result<Plan> {
        let plan = Plan {
            url: self.url.clone(),
            http: self.http,
            ways: self.ways,
            interval: self.interval,
            most: self.most,
            idle_probes: IDLE_PROBES,
            most_connections: MOST_CONNECTIONS,
            most_probes_per_s: MOST_PROBES_PER_S,
        };
        let checked = plan.check();
        checked.map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        far_ends::nq::Origin::of(&self.url).map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = args.plan()?;
    if plan.ways != Ways::Down {
        // Elsewhere all that waits in this host's socket would be taken for the path's queue.
        sys::require_linux("responsiveness under a load from this host (use --ways down)")?;
    }
    let interrupt = process::interrupt_flag()?;
    let runtime = rpm::runtime()?;
    let trust = args.trust.trust();
    let target = runtime.block_on(Target::find(
        &plan.url,
        &trust,
        args.version.family(),
        plan.http,
    ))?;
    let mut run = args.output.begun("rpm", &plan)?;
    let is_v6 = target.address.ip().to_canonical().is_ipv6();
    let family = if is_v6 { 6 } else { 4 };
    run.path = path_info(&[target.address], vec![family], None);
    run.hosts = vec![kit::host::facts("client")];
    let name = far_ends::nq::Origin::of(&plan.url).map_or_else(|_| String::new(), |(o, _)| o.host);
    let mut opened = args.output.open(&name, &run)?;
    let bar = kit::bar::bar("{prefix:10} {spinner} {msg}", None, args.output.quiet);
    let context = Context {
        plan: &plan,
        lab: None,
        interrupt: &interrupt,
        display: &|live| show(&bar, live),
    };
    let outcome = run::run(&context, &target, &runtime, &mut opened.writer)?;
    bar.finish_and_clear();
    let summary = rpm::conclude(&mut run, &plan, &outcome);
    run.summary = serde_json::to_value(&summary)?;
    args.output.close(&run, &outcome.ending, opened, scorecard)
}

fn show(bar: &ProgressBar, live: &Live) {
    bar.set_prefix(live.phase);
    let rpm = live
        .rpm
        .map_or_else(|| "-".to_owned(), |rpm| format!("{rpm:.0}"));
    bar.set_message(format!(
        "interval {}: {:.1} Mbit/s, {rpm} RPM",
        live.intervals, live.goodput_mbps
    ));
    bar.tick();
}
