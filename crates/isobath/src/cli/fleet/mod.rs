//! `isobath agent` and `isobath fleet`.

mod demo;

use super::{Cli, one_line};
use crate::register::REGISTER;
use clap::Parser as _;
use fleet::verbs::Program;

/// Measurements between two hosts that agents run.
const VERBS: [&str; 4] = ["rrul", "btc", "mbm", "estimate"];

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    #[command(flatten)]
    Said(fleet::verbs::Verb),
    /// Show a fleet at work: NATS and agents in an emulated network, for a minute.
    Demo(demo::Args),
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Said(verb) => fleet::verbs::run(verb, PROGRAM),
        Verb::Demo(args) => demo::run(args),
    }
}

pub(super) fn agent(args: &fleet::agent::Args) -> anyhow::Result<u8> {
    fleet::agent::run(args, &REGISTER, &VERBS)
}

/// What the fleet asks of this program.
const PROGRAM: Program = Program {
    register: &REGISTER,
    takes,
};

/// Whether the command line takes a run's arguments, and if not, why.
fn takes(arguments: &[String]) -> anyhow::Result<()> {
    let program = ["isobath".to_owned()];
    let parsed = Cli::try_parse_from(program.iter().chain(arguments));
    parsed.map(drop).map_err(|error| one_line(&error))
}
