//! `isobath manager`.

mod ask;
mod medianet;
mod up;

use crate::manager::snapshot::Question;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Run a manager: an interface to other hosts whose packets ride on probes. Ends with Ctrl-C or SIGTERM.
    Up(up::Args),
    /// Its peers: which are linked, since when, and why the others are not.
    Status(ask::Args),
    /// All that it counts.
    Stats(ask::Args),
    /// Packets that are put together from pieces.
    Buckets(ask::Args),
    /// Three streams of frames in a lab that adapt to what the path has for them, told by reports or by estimates too.
    Medianet(Box<medianet::Args>),
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Up(args) => up::run(args),
        Verb::Status(args) => ask::run(args, Question::Status),
        Verb::Stats(args) => ask::run(args, Question::Stats),
        Verb::Buckets(args) => ask::run(args, Question::Buckets),
        Verb::Medianet(args) => medianet::run(args),
    }
}
