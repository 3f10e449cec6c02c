//! Connection vectors out of packet captures.

use super::Failure;
use crate::cli::trace::extract::{Args, carry_out};
use clap::Parser as _;
use kit::usage::Usage;
use record::Run;
use std::sync::atomic::AtomicBool;

/// The words after `isobath trace extract`.
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(flatten)]
    args: Args,
}

/// Carries out `isobath trace extract` with these arguments: the vectors go into the file that `--out` names.
///
/// # Errors
/// What the program would say; and that it was interrupted.
pub fn extract(arguments: &[String], interrupt: &AtomicBool) -> Result<Run, Failure> {
    let words = Words::try_parse_from(arguments);
    let words = words.map_err(|error| Usage::of(crate::cli::one_line(&error)))?;
    Ok(carry_out(&words.args, interrupt)?.0)
}
