//! `isobath fleet users FILE`.

use super::fleet_file;
use crate::PublicKey;
use crate::bus::rights;
use anyhow::anyhow;
use kit::usage::{Usage, print};
use std::path::PathBuf;

/// Whose users.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fleet file in which each host has a key.
    file: PathBuf,
    /// Public key of an operator, who gets all permissions; may be repeated.
    #[arg(long = "operator", value_name = "KEY", required = true)]
    operators: Vec<PublicKey>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let (_, file) = fleet_file(&args.file)?;
    let users = rights::users(&file, &args.operators).map_err(|host| {
        Usage::of(anyhow!(
            "{}: host '{host}' has no key - its agent prints it when it starts",
            args.file.display()
        ))
    })?;
    print(users.trim_end())?;
    Ok(0)
}
