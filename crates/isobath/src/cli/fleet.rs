//! `isobath agent` and `isobath fleet`.

use super::{Cli, one_line};
use crate::register::REGISTER;
use ::fleet::agent;
use ::fleet::verbs::{self, Program, Verb};
use clap::Parser as _;

/// Measurements between two hosts that agents run.
const VERBS: [&str; 4] = ["rrul", "btc", "mbm", "estimate"];

/// What the fleet asks of this program.
const PROGRAM: Program = Program {
    register: &REGISTER,
    takes,
};

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    verbs::run(verb, PROGRAM)
}

pub(super) fn agent(args: &agent::Args) -> anyhow::Result<u8> {
    agent::run(args, &REGISTER, &VERBS)
}

/// Whether the command line takes a run's arguments, and if not, why.
fn takes(arguments: &[String]) -> anyhow::Result<()> {
    let program = ["isobath".to_owned()];
    let parsed = Cli::try_parse_from(program.iter().chain(arguments));
    parsed.map(drop).map_err(|error| one_line(&error))
}
