//! `isobath fleet users FILE`.

use crate::PublicKey;
use crate::bus::rights;
use crate::file::FleetFile;
use anyhow::{Context as _, anyhow};
use kit::usage::{Usage, print};
use std::path::PathBuf;

/// Whose users.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fleet file in which each host has a key.
    file: PathBuf,
    /// Public key of somebody who may do everything; may be given several times.
    #[arg(long = "operator", value_name = "KEY", required = true)]
    operators: Vec<PublicKey>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let name = args.file.display().to_string();
    let text = std::fs::read_to_string(&args.file);
    let text = text
        .with_context(|| format!("{name} cannot be read"))
        .map_err(Usage::of)?;
    let file = FleetFile::parse(&text, &name).map_err(Usage::of)?;
    let users = rights::users(&file, &args.operators).map_err(|host| {
        Usage::of(anyhow!(
            "{name}: host '{host}' has no key - its agent prints it when it starts"
        ))
    })?;
    print(users.trim_end())?;
    Ok(0)
}
