//! What can be asked of `isobath rrul`.

use super::Usage;
use crate::cli::keys::KeyArgs;
use crate::cli::trust::TrustArgs;
use clap::FromArgMatches;
use kit::options::Output;
use schema::rrul::plan::{Families, Plan, Switch, Web};
use session::{AccessKey, Family};
use std::path::PathBuf;
use units::{Dscp, Span};

/// What loads pages beside the native loader.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum BrowserName {
    /// Headless Chromium.
    Chromium,
}

/// Whether TCP asks for ECN.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum EcnName {
    /// TCP does not request ECN.
    Off,
    /// TCP requests ECN.
    On,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(group(clap::ArgGroup::new("far-end").required(true).args(["host", "lab", "list_plans"])))]
pub(crate) struct Args {
    // Not as a comment: it is no link.
    #[arg(
        help = "Far end that runs 'isobath serve': HOST or HOST:PORT, an IPv6 address in brackets; some plans take several. Or an iperf3 or ndt7 server: iperf3://HOST, ndt7://HOST"
    )]
    pub(super) host: Vec<String>,
    /// Measure in an emulated network instead: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME")]
    pub(super) lab: Option<String>,
    /// Access key printed by 'isobath serve'; with several hosts, one for each, comma-separated in the same order.
    #[arg(
        long,
        env = "ISOBATH_KEY",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub(super) key: Vec<AccessKey>,
    #[arg(
        long,
        value_name = "FAR_END",
        help = "Also measure round trips to this third-party far end, such as icmp://192.0.2.1; repeatable, see 'isobath far-ends'"
    )]
    beside: Vec<String>,
    #[command(flatten)]
    pub(super) keys: KeyArgs,
    #[command(flatten)]
    pub(super) trust: TrustArgs,
    #[command(flatten)]
    asked: Asked,
    /// List the plans and exit.
    #[arg(long)]
    pub(super) list_plans: bool,
    /// Congestion control of the load [default: the sending host's; cubic in a lab].
    #[arg(long, value_name = "NAME")]
    pub(super) cc: Option<String>,
    /// Also load the page in a real browser.
    #[arg(long, value_name = "NAME")]
    pub(super) browser: Option<BrowserName>,
    /// URL that the browser loads instead of the page model.
    #[arg(long, requires = "browser")]
    pub(super) url: Option<String>,
    /// Use IPv4 only.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub(super) ipv4: bool,
    /// Use IPv6 only.
    #[arg(short = '6', long)]
    pub(super) ipv6: bool,
    /// Random seed of emulated links.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Log when each of our datagrams enters and leaves each emulated link (table 'packets'); needs --lab.
    #[arg(long, conflicts_with = "host")]
    pub(super) packet_log: bool,
    #[command(flatten)]
    pub(super) output: Output,
    /// Also write each row of the record to FILE during the run, as a line of JSON; '-' is stdout.
    #[arg(long, value_name = "FILE")]
    pub(super) ndjson: Option<PathBuf>,
    /// Show the run full-screen with live plots; q closes the view, not the run.
    #[arg(long, conflicts_with = "quiet")]
    pub(super) live: bool,
}

/// A plan, and what is changed of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    /// Plan to run: a name from 'isobath rrul --list-plans', or a TOML file.
    #[arg(long, default_value = "rrul")]
    plan: String,
    /// Load duration, such as 60s; a bare number is seconds [default: the plan's, 60s].
    #[arg(long, value_parser = crate::cli::seconds)]
    duration: Option<Span>,
    /// Streams per load group and direction [default: the plan's].
    #[arg(long, value_name = "N")]
    streams: Option<u16>,
    /// Whether TCP requests ECN [default: the plan's, else the host's setting]; set in a lab, elsewhere the host's setting must match.
    #[arg(long, value_name = "ON|OFF")]
    ecn: Option<EcnName>,
    /// DSCP of all load streams, probes and calls, such as EF or CS1 [default: the plan's].
    #[arg(long)]
    dscp: Option<Dscp>,
    /// Page model to load: rrul2013, today, small, or a TOML file [default: the plan's].
    #[arg(long, value_name = "NAME")]
    page: Option<String>,
    /// How long it is idle before and after the load, if not as long as the plan says.
    #[arg(skip)]
    idle: Option<Span>,
}

impl From<EcnName> for Switch {
    fn from(name: EcnName) -> Self {
        match name {
            EcnName::Off => Self::Off,
            EcnName::On => Self::On,
        }
    }
}

impl Args {
    /// What a command line of `isobath rrul` asks for, with another idle time than its plan's.
    ///
    /// # Errors
    /// When the command line is none.
    pub(crate) fn of(words: &[String], idle: Option<Span>) -> Result<Self, clap::Error> {
        let command = <Self as clap::Args>::augment_args(clap::Command::new("rrul"));
        let mut args = Self::from_arg_matches(&command.try_get_matches_from(words)?)?;
        args.asked.idle = idle;
        Ok(args)
    }

    /// The plan, with what the options change of it.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = self.asked.changed()?;
        if self.ipv4 || self.ipv6 {
            plan.families = Families::One;
        }
        plan.beside.extend(self.beside.iter().cloned());
        if self.browser.is_some() {
            plan.web.get_or_insert_with(Web::default);
        }
        checked(plan)
    }

    /// The version of IP that was asked for.
    pub(super) const fn family(&self) -> Option<Family> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        }
    }

    /// Checks what belongs together, and whether there is such a page.
    pub(super) fn check(&self, plan: &Plan) -> anyhow::Result<()> {
        if let Some(web) = &plan.web {
            web::PageModel::find(&web.page).map_err(Usage::of)?;
        }
        let shows_certificate = |host: &String| {
            let schemes = ["ndt7://", "dot://", "doh://"];
            schemes.iter().any(|scheme| host.starts_with(scheme))
        };
        let mut hosts = self.host.first().into_iter().chain(&plan.beside);
        if self.trust.is_given() && !hosts.any(shows_certificate) {
            return Err(Usage::of(anyhow::anyhow!(
                "--ca and --insecure are for ndt7://HOST, and for dot:// and doh:// beside it - leave them out"
            )));
        }
        let (hosts, wanted) = (self.host.len(), usize::from(plan.servers));
        if self.lab.is_none() && hosts != wanted {
            return Err(Usage::of(anyhow::anyhow!(
                "plan {} needs {wanted} far ends and {hosts} are named - give one HOST for each",
                plan.name
            )));
        }
        if self.lab.is_none() && self.key.len() > 1 && self.key.len() != hosts {
            return Err(Usage::of(anyhow::anyhow!(
                "{} keys for {hosts} hosts - give one --key for each, in the order of the hosts",
                self.key.len()
            )));
        }
        Ok(())
    }
}

impl Asked {
    /// The plan, with what the options change of it.
    ///
    /// # Errors
    /// When there is no such plan, or it cannot be run so.
    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        checked(self.changed()?)
    }

    fn changed(&self) -> anyhow::Result<Plan> {
        let mut plan = rrul::catalogue::find(&self.plan).map_err(Usage::of)?;
        if let Some(duration) = self.duration {
            // Where pages are all that is loaded, they are what lasts.
            match &mut plan.web {
                Some(web) if plan.load.is_empty() => web.before = duration,
                _ => plan.duration = duration,
            }
        }
        if let Some(idle) = self.idle {
            (plan.idle_before, plan.idle_after) = (idle, idle);
        }
        if let Some(streams) = self.streams {
            plan.load.iter_mut().for_each(|load| load.streams = streams);
        }
        plan.tcp_ecn = self.ecn.map(Switch::from).or(plan.tcp_ecn);
        if let Some(class) = self.dscp {
            plan.load.iter_mut().for_each(|load| load.class = class);
            plan.probe.iter_mut().for_each(|probe| probe.class = class);
            plan.call.iter_mut().for_each(|call| call.class = class);
        }
        if let Some(page) = &self.page {
            plan.web
                .get_or_insert_with(Web::default)
                .page
                .clone_from(page);
        }
        Ok(plan)
    }
}

fn checked(plan: Plan) -> anyhow::Result<Plan> {
    plan.check()
        .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
    Ok(plan)
}
