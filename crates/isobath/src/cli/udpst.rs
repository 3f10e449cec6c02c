//! `isobath udpst HOST`: IP-layer capacity, against a server of anybody's.

use far_ends::udpst::{PORT, SharedKey};
use indicatif::ProgressBar;
use kit::begin::path_info;
use kit::options::{IpVersion, Output};
use kit::usage::Usage;
use schema::Ways;
use schema::udpst::{Plan, plan::Algorithm};
use std::net::SocketAddr;
use sys::process;
use udpst::Live;
use udpst::run::{self, Context, Granted};
use udpst::scorecard::scorecard;
use units::{Dscp, Span};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: isobath udpst capacity.example --udpst-key KEY\nServers: Broadband Forum's 'udpst -a KEY', 'isobath serve --also udpst --udpst-key KEY'."
)]
pub(crate) struct Args {
    /// Server: HOST or HOST:PORT, an IPv6 address in brackets.
    host: String,
    /// Key shared with the server: KEY or NUMBER:KEY [default: none].
    #[arg(
        long,
        value_name = "KEY",
        env = "ISOBATH_UDPST_KEY",
        hide_env_values = true
    )]
    udpst_key: Option<SharedKey>,
    /// Directions of the load, one after the other.
    #[arg(long, value_enum, value_name = "WAYS", default_value = "both")]
    ways: Ways,
    /// Time per direction, in whole seconds; the server may shorten it.
    #[arg(long, value_name = "TIME", value_parser = crate::cli::seconds, default_value = "10s")]
    duration: Span,
    /// Search algorithm of the rate (RFC 9097 and RFC 9946).
    #[arg(long, value_enum, value_name = "TYPE", default_value = "b")]
    algorithm: Algorithm,
    /// Sub-interval: the capacity is the highest rate in any of them.
    #[arg(long, value_name = "TIME", value_parser = crate::cli::seconds, default_value = "1s")]
    sub_interval: Span,
    /// Interval of the receiver's feedback.
    #[arg(long, value_name = "TIME", default_value = "50ms")]
    trial: Span,
    /// Delay variation below which the rate is raised.
    #[arg(long, value_name = "TIME", default_value = "30ms")]
    low: Span,
    /// Delay variation above which the rate is lowered.
    #[arg(long, value_name = "TIME", default_value = "90ms")]
    upper: Span,
    /// Judge by one-way delay variation instead of the round trips'.
    #[arg(long)]
    one_way: bool,
    /// DSCP of the load: a name or a number; the server may refuse it.
    #[arg(long, value_name = "CLASS")]
    dscp: Option<Dscp>,
    #[command(flatten)]
    version: IpVersion,
    #[command(flatten)]
    output: Output,
}

impl Args {
    fn plan(&self) -> anyhow::Result<Plan> {
        let plan = Plan {
            server: self.host.clone(),
            ways: self.ways,
            duration: self.duration,
            algorithm: self.algorithm,
            sub_interval: self.sub_interval,
            trial: self.trial,
            low: self.low,
            upper: self.upper,
            one_way: self.one_way,
            dscp: self.dscp,
        };
        let checked = plan.check();
        checked.map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }

    /// The server's addresses, the one to take first.
    fn server(&self) -> anyhow::Result<Vec<SocketAddr>> {
        let host = self.host.strip_prefix("udpst://").unwrap_or(&self.host);
        let host = host.strip_suffix('/').unwrap_or(host);
        Ok(session::resolve(host, PORT, self.version.family())?)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = args.plan()?;
    let interrupt = process::interrupt_flag()?;
    let addresses = args.server()?;
    let server = addresses[0];
    let mut run = args.output.begun("udpst", &plan)?;
    let family = if server.ip().to_canonical().is_ipv6() {
        6
    } else {
        4
    };
    run.path = path_info(&[server], vec![family], None);
    run.hosts = vec![kit::host::facts("client")];
    let granted = Granted::ask(&plan, server, args.udpst_key.as_ref(), &interrupt);
    let other = session::other_version(&addresses);
    let granted = granted.map_err(|error| {
        let line = session::or_other(&error.to_string(), other);
        line.map_or(error, |line| anyhow::anyhow!(line))
    })?;
    let mut opened = args.output.open(&plan.server, &run)?;
    let bar = kit::bar::bar("{prefix:5} {spinner} {msg}", None, args.output.quiet);
    let context = Context {
        plan: &plan,
        lab: None,
        interrupt: &interrupt,
        display: &|live| show(&bar, &plan, live),
    };
    let outcome = run::run(&context, granted, &mut opened.writer)?;
    bar.finish_and_clear();
    let summary = udpst::conclude(&mut run, &plan, &outcome);
    run.summary = serde_json::to_value(&summary)?;
    args.output.close(&run, &outcome.ending, opened, scorecard)
}

fn show(bar: &ProgressBar, plan: &Plan, live: &Live) {
    bar.set_prefix(live.load);
    let capacity = live
        .capacity_mbps
        .map_or_else(|| "-".to_owned(), |mbps| format!("{mbps:.1}"));
    bar.set_message(format!(
        "{:.0} of {:.0} s: {:.1} Mbit/s, capacity {capacity} Mbit/s",
        live.elapsed_s,
        plan.duration.0.as_secs_f64(),
        live.ip_mbps
    ));
    bar.tick();
}
