//! `isobath trace`: captures and vectors.

mod convert;
mod extract;

use super::Usage;
use crate::trace::Format;
use anyhow::anyhow;
use std::path::Path;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Find the connections in packet captures and write what their applications said as vectors.
    Extract(extract::Args),
    /// Write a file of vectors in another format.
    Convert(convert::Args),
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Extract(args) => extract::run(args),
        Verb::Convert(args) => convert::run(args),
    }
}

/// The format of the file `out`: the one that was asked for, or what its name says.
fn format_of(out: &Path, asked: Option<Format>) -> anyhow::Result<Format> {
    asked.or_else(|| Format::of(out)).ok_or_else(|| {
        Usage::of(anyhow!(
            "the name {} says no format - end it in .parquet, .cvec or .alt.cvec, or give --format",
            out.display()
        ))
    })
}
