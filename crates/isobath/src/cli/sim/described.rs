//! The path of a simulation, as it is described on the command line.

use ::path::Probability;
use kit::virtual_path::{Aqm, Figures, Path, Size, percent};
use lab::profiles;
use units::{Rate, Span};

/// The bottleneck of a path of figures, but for its rate.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Bottleneck {
    /// Packet loss rate behind the bottleneck, such as 1%.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    loss: Probability,
    /// Size of the bottleneck queue: 1bdp (rate x RTT), 100packets or 64KiB.
    #[arg(long, value_name = "SIZE", default_value = "1bdp")]
    queue: Size,
    /// Queue management at the bottleneck; marks instead of dropping if ECN is used.
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Aqm::Fifo)]
    aqm: Aqm,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("path").required(true).args(["rate", "lab"])))]
pub(super) struct Described {
    /// Rate of the bottleneck, IP headers included.
    #[arg(long, requires = "rtt")]
    rate: Option<Rate>,
    /// RTT without queueing; the return path has no rate limit and no loss.
    #[arg(long, value_name = "TIME", requires = "rate")]
    rtt: Option<Span>,
    #[command(flatten)]
    bottleneck: Bottleneck,
    /// Simulate the path from a lab's client to its server: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["rtt", "loss", "queue", "aqm"])]
    lab: Option<String>,
    /// Simulate the path from the lab's server to its client.
    #[arg(long, requires = "lab")]
    pub(super) reverse: bool,
}

impl Described {
    /// The lab's name; nothing for a path of figures.
    pub(super) fn name(&self) -> &str {
        self.lab.as_deref().unwrap_or_default()
    }

    /// The path, whose chance comes from `seed`, and whose queue marks if that is asked for.
    ///
    /// # Errors
    /// When there is no such lab, or what was described contradicts itself.
    pub(super) fn path(&self, seed: u64, ecn: bool) -> anyhow::Result<Path> {
        let path = match (&self.lab, self.rate, self.rtt) {
            (None, Some(rate), Some(rtt)) => Figures {
                rate,
                rtt,
                loss: self.bottleneck.loss,
                queue: self.bottleneck.queue,
                aqm: self.bottleneck.aqm,
                ecn,
            }
            .path(seed),
            _ => Path::of_lab(self.name(), seed, self.reverse)?,
        };
        // What contradicts itself is found before the record is made.
        path.build()?;
        Ok(path)
    }
}

/// The same for a measurement whose own `--rate` and `--rtt` say something else, between any two nodes of a lab.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("path").required(true).args(["path_rate", "lab"])))]
pub(super) struct Through {
    /// Rate of the path's bottleneck, IP headers included.
    #[arg(long, value_name = "RATE", requires = "path_rtt")]
    path_rate: Option<Rate>,
    /// RTT of the path without queueing; its return has no rate limit and no loss.
    #[arg(long, value_name = "TIME", requires = "path_rate")]
    path_rtt: Option<Span>,
    #[command(flatten)]
    bottleneck: Bottleneck,
    /// Simulate the path from a lab's client to its server: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["path_rtt", "loss", "queue", "aqm"])]
    lab: Option<String>,
    /// Lab node at which the path begins [default: the lab's client].
    #[arg(long, value_name = "NODE", requires = "lab")]
    from: Option<String>,
    /// Lab node at which it ends [default: the lab's server].
    #[arg(long, value_name = "NODE", requires = "lab")]
    to: Option<String>,
    /// Simulate the lab's path the other way.
    #[arg(long, requires = "lab")]
    pub(super) reverse: bool,
}

impl Through {
    /// The lab's name; nothing for a path of figures.
    pub(super) fn name(&self) -> &str {
        self.lab.as_deref().unwrap_or_default()
    }

    /// The path, whose chance comes from `seed`, and whose queue marks if that is asked for.
    ///
    /// # Errors
    /// When there is no such lab or node, or what was described contradicts itself.
    pub(super) fn path(&self, seed: u64, ecn: bool) -> anyhow::Result<Path> {
        let ends = [self.from.as_deref(), self.to.as_deref()];
        if let Some(name) = &self.lab
            && ends.iter().any(Option::is_some)
        {
            let topology = profiles::find(name)?.between(ends)?;
            return Path::of_topology(&topology, name, seed, self.reverse);
        }
        let described = Described {
            rate: self.path_rate,
            rtt: self.path_rtt,
            bottleneck: self.bottleneck,
            lab: self.lab.clone(),
            reverse: self.reverse,
        };
        described.path(seed, ecn)
    }
}
