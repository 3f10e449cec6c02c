//! `isobath fleet key FILE`.

use crate::Identity;
use kit::usage::{Usage, print};
use std::path::PathBuf;

/// Which key.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File with the secret seed; if missing, it is created, readable by its owner only.
    file: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let identity = Identity::read_or_make(&args.file).map_err(Usage::of)?;
    print(identity.public().as_str())?;
    Ok(0)
}
