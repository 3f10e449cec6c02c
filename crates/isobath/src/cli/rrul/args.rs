//! What can be asked of `isobath rrul`.

use super::super::common::Output;
use super::Usage;
use rrul::plan::{Families, Plan, Web};
use session::AccessKey;
use std::path::PathBuf;
use std::time::Duration;
use units::{Dscp, Span};

/// What loads pages beside the native loader.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum BrowserName {
    /// Chromium, headless.
    Chromium,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(group(clap::ArgGroup::new("far-end").required(true).args(["host", "lab", "list_plans"])))]
pub(crate) struct Args {
    /// The far end, where 'isobath serve' runs: HOST or HOST:PORT, an IPv6 address in brackets. Some plans take several.
    pub(super) host: Vec<String>,
    /// Measure in an emulated network instead: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME")]
    pub(super) lab: Option<String>,
    /// The access key that 'isobath serve' printed; with several hosts, one for each in their order.
    #[arg(
        long,
        env = "ISOBATH_KEY",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub(super) key: Vec<AccessKey>,
    /// What to do: a plan's name (see --list-plans), or a TOML file.
    #[arg(long, default_value = "rrul")]
    plan: String,
    /// List the plans, and do nothing else.
    #[arg(long)]
    pub(super) list_plans: bool,
    /// How long the load lasts, such as 60s; a bare number is seconds [default: the plan's, 60s].
    #[arg(long, value_parser = seconds)]
    duration: Option<Span>,
    /// Streams of every load group, each way [default: the plan's].
    #[arg(long, value_name = "N")]
    streams: Option<u16>,
    /// Congestion control of the load [default: the sender's own; cubic in a lab].
    #[arg(long, value_name = "NAME")]
    pub(super) cc: Option<String>,
    /// One class for all streams instead of the plan's, such as EF or CS1.
    #[arg(long)]
    dscp: Option<Dscp>,
    /// The page to load instead of the plan's: rrul2013, today, or a TOML file.
    #[arg(long, value_name = "NAME")]
    page: Option<String>,
    /// Load the page in a real browser as well.
    #[arg(long, value_name = "NAME")]
    pub(super) browser: Option<BrowserName>,
    /// A page of your own for the browser to load instead.
    #[arg(long, requires = "browser")]
    pub(super) url: Option<String>,
    /// Over IPv4 only.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub(super) ipv4: bool,
    /// Over IPv6 only.
    #[arg(short = '6', long)]
    pub(super) ipv6: bool,
    /// Seed of what is random on emulated links.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Write down when each of our datagrams entered and left each emulated link (table 'packets').
    #[arg(long, conflicts_with = "host")]
    pub(super) packet_log: bool,
    #[command(flatten)]
    pub(super) output: Output,
    /// Write every row of the record there as a line of JSON while the run goes on; '-' is stdout.
    #[arg(long, value_name = "FILE")]
    pub(super) ndjson: Option<PathBuf>,
    /// Watch the run on the full screen, with moving plots; q leaves the view and not the run.
    #[arg(long, conflicts_with = "quiet")]
    pub(super) live: bool,
}

/// A duration; alone among quantities it may be a bare number, of seconds, as every peer of ours takes it.
fn seconds(text: &str) -> Result<Span, units::QuantityError> {
    let number: Result<u32, _> = text.parse();
    number.map_or_else(
        |_| text.parse(),
        |s| Ok(Span(Duration::from_secs(s.into()))),
    )
}

impl Args {
    /// The plan, with what the options change of it.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = Plan::find(&self.plan).map_err(Usage::of)?;
        if let Some(duration) = self.duration {
            // Where pages are all that is loaded, they are what lasts.
            match &mut plan.web {
                Some(web) if plan.load.is_empty() => web.before = duration,
                _ => plan.duration = duration,
            }
        }
        if self.ipv4 || self.ipv6 {
            plan.families = Families::One;
        }
        if let Some(streams) = self.streams {
            plan.load.iter_mut().for_each(|load| load.streams = streams);
        }
        if let Some(class) = self.dscp {
            plan.load.iter_mut().for_each(|load| load.class = class);
            plan.probe.iter_mut().for_each(|probe| probe.class = class);
            plan.call.iter_mut().for_each(|call| call.class = class);
        }
        if self.page.is_some() || self.browser.is_some() {
            let web = plan.web.get_or_insert_with(Web::default);
            web.page = self.page.clone().unwrap_or_else(|| web.page.clone());
        }
        plan.check()
            .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }

    /// Checks what belongs together, and whether there is such a page.
    pub(super) fn check(&self, plan: &Plan) -> anyhow::Result<()> {
        if let Some(web) = &plan.web {
            web::PageModel::find(&web.page).map_err(Usage::of)?;
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
