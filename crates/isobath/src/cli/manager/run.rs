//! `isobath manager run`: one program's packets to marked networks by the manager's interface.

use super::status;
use anyhow::Context;
use kit::usage::Usage;
use manager::marked::MARK;
use manager::snapshot::{Question, StatusAnswer};
use std::ffi::OsString;
use std::process::Command;
use sys::cgroup::{self, Home};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: that of COMMAND (128 plus the signal number if killed by a signal); 2 no peer has marked networks; 3 could not be run."
)]
pub(crate) struct Args {
    #[command(flatten)]
    manager: status::Place,
    /// Program to run, with its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let answer = args.manager.ask(Question::Status)?;
    let answer: StatusAnswer = serde_json::from_str(&answer)?;
    if answer.peers.iter().all(|peer| peer.marked.is_empty()) {
        return Err(Usage::of(anyhow::anyhow!(
            "no peer has marked networks - add 'marked = [\"NETWORK\"]' to a [[peer]] in the manager's file, and start it again"
        )));
    }
    let (program, rest) = args.command.split_first().context("no command")?;
    cgroup::sweep();
    let group = Home::marked(&format!("run-{}", std::process::id()), MARK)?;
    let mut command = Command::new(program);
    command.args(rest);
    group.hold(&mut command);
    let mut child = command
        .spawn()
        .with_context(|| format!("run {}", program.to_string_lossy()))?;
    // Ctrl-C is the command's: this waits for what it makes of it.
    let _interrupt = sys::process::interrupt_flag()?;
    let status = child.wait()?;
    let code = status
        .code()
        .or_else(|| sys::process::signal(status).map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
