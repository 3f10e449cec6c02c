//! `isobath manager`.

mod ask;
mod client;
mod medianet;
mod paths;
mod run;
mod status;
mod trial;
mod up;

use manager::snapshot::Question;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Run a manager: an interface to other hosts whose packets ride on probes. Ends with Ctrl-C or SIGTERM.
    Up(up::Args),
    /// Run a program whose packets to the peers' marked networks take the manager's interface (docs/manager.md).
    Run(run::Args),
    /// Its peers: which are linked, since when, and why the others are not.
    Status(status::Args),
    /// All that it counts.
    Stats(status::Args),
    /// Packets that are put together from pieces.
    Buckets(status::Args),
    /// Ask the estimation service what a path to a peer is like, once or again and again.
    Ask(ask::Args),
    /// Nodes and paths that the estimation service knows, and its latest answers.
    Paths(paths::Args),
    /// Try it in a lab: an application and a measurement tool share a bottleneck with others, with and without riding.
    Trial(Box<trial::Args>),
    /// Three streams of frames in a lab that adapt to what the path has for them, told by reports or by estimates too.
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
