//! `isobath manager`.

mod ask;
mod client;
pub(super) mod medianet;
mod paths;
mod run;
mod status;
pub(super) mod trial;
mod up;

use manager::snapshot::Question;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Run a manager: an overlay interface whose packets ride on probes, until Ctrl-C or SIGTERM.
    Up(up::Args),
    /// Run a program, routing its packets to the peers' marked networks over the overlay (docs/manager.md).
    Run(run::Args),
    /// Show the link state of each peer, and why a link is down.
    Status(status::Args),
    /// Show all non-zero counters.
    Stats(status::Args),
    /// Show packets being reassembled, and recent ones.
    Buckets(status::Args),
    /// Ask the estimation service for a property of the path to a peer, once or repeatedly.
    Ask(ask::Args),
    /// List the nodes and paths that the estimation service knows, with the latest estimates.
    Paths(paths::Args),
    /// Run a trial in a lab: an application and a measurement tool share a bottleneck with cross traffic.
    Trial(Box<trial::Args>),
    /// Run adaptive video streams in a lab, steered by sender reports alone or also by bandwidth estimates.
    Medianet(Box<medianet::Args>),
}

/// On or off.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Switch {
    On,
    Off,
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Up(args) => up::run(args),
        Verb::Run(args) => run::run(args),
        Verb::Status(args) => status::run(args, Question::Status),
        Verb::Stats(args) => status::run(args, Question::Stats),
        Verb::Buckets(args) => status::run(args, Question::Buckets),
        Verb::Ask(args) => ask::run(args),
        Verb::Paths(args) => paths::run(args),
        Verb::Trial(args) => trial::run(args),
        Verb::Medianet(args) => medianet::run(args),
    }
}
