//! The path of a simulation, as it is described on the command line.

use crate::virtual_time::path::{Aqm, Figures, Path, Size, percent};
use ::path::Probability;
use units::{Rate, Span};

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("path").required(true).args(["rate", "lab"])))]
pub(super) struct Described {
    /// Rate of the bottleneck, IP headers included.
    #[arg(long, requires = "rtt")]
    rate: Option<Rate>,
    /// RTT without queueing; the return path has no rate limit and no loss.
    #[arg(long, value_name = "TIME", requires = "rate")]
    rtt: Option<Span>,
    /// Packet loss rate behind the bottleneck, such as 1%.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    loss: Probability,
    /// Size of the bottleneck queue: 1bdp (rate x RTT), 100packets or 64KiB.
    #[arg(long, value_name = "SIZE", default_value = "1bdp")]
    queue: Size,
    /// Queue management at the bottleneck; marks instead of dropping if the transfer uses ECN.
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Aqm::Fifo)]
    aqm: Aqm,
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
                loss: self.loss,
                queue: self.queue,
                aqm: self.aqm,
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
