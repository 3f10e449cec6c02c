//! What can be asked of `isobath estimate`.

use crate::cli::keys::KeyArgs;
use crate::cli::trust::TrustArgs;
use kit::options::{Output, Towards};
use kit::usage::Usage;
use schema::Direction;
use schema::estimate::Plan;
use schema::estimate::plan::{Method, What};
use std::path::PathBuf;
use units::{Dscp, Rate, Span};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "HOST may also be a third-party server: SCHEME://HOST[:PORT], see 'isobath far-ends'."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) asked: Asked,
    #[command(flatten)]
    pub(super) towards: Towards,
    /// Measure to an overlay address via the manager with this socket; application packets ride on the probes.
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["lab", "reverse", "key", "ipv4", "ipv6"])]
    pub(super) by: Option<PathBuf>,
    /// Lab node that measures [default: the lab's client].
    #[arg(long, value_name = "NODE", requires = "lab")]
    pub(super) from: Option<String>,
    /// Lab node at the far end [default: the lab's server].
    #[arg(long, value_name = "NODE", requires = "lab")]
    pub(super) to: Option<String>,
    /// Measure the path from the far end to this host.
    #[arg(long)]
    pub(super) reverse: bool,
    #[command(flatten)]
    pub(super) keys: KeyArgs,
    #[command(flatten)]
    pub(super) trust: TrustArgs,
    #[command(flatten)]
    pub(super) output: Output,
    /// Show the run full-screen with live plots; q closes the view, not the run.
    #[arg(long, conflicts_with = "quiet")]
    pub(super) live: bool,
}

/// What is to be found, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    /// Property to estimate.
    #[arg(value_enum)]
    what: What,
    /// Estimator [default: isochronous; for loss badabing, capacity pathrate, available pathload, bottleneck hops].
    #[arg(long, value_enum, value_name = "NAME")]
    estimator: Option<Method>,
    /// Measurement time, unless the estimator ends by itself [default: 10s; elastic and opportunistic 30s; badabing, yaz
    /// and pathchirp 60s].
    #[arg(short, long, value_name = "TIME", value_parser = crate::cli::seconds)]
    duration: Option<Span>,
    /// Maximum rate of streams; back-to-back trains (capacity, and the first train of others) leave as fast as the host
    /// can send.
    #[arg(long, value_name = "RATE", default_value = "1Gbit")]
    most: Rate,
    /// DSCP of the probes, such as EF or CS1.
    #[arg(long, default_value = "CS0")]
    dscp: Dscp,
    /// Random seed of probing and emulated links.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Asked {
    /// What the options come to.
    ///
    /// # Errors
    /// When the estimator does not find that.
    pub(crate) fn plan(&self, reverse: bool) -> anyhow::Result<Plan> {
        self.plan_by(self.what.usual(), reverse)
    }

    /// The same where `usual` is the estimator if it finds that, unless another was named.
    ///
    /// # Errors
    /// As [`Asked::plan`].
    pub(super) fn plan_by(&self, usual: Method, reverse: bool) -> anyhow::Result<Plan> {
        let finds = self.what.methods().contains(&usual);
        let usual = if finds { usual } else { self.what.usual() };
        let method = self.estimator.unwrap_or(usual);
        let plan = Plan {
            what: self.what,
            method,
            direction: if reverse {
                Direction::Down
            } else {
                Direction::Up
            },
            duration: self
                .duration
                .unwrap_or_else(|| Span(method.usual_duration())),
            most: self.most,
            class: self.dscp,
            seed: self.seed,
        };
        plan.check()
            .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }
}
