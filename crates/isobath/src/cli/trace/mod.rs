//! `isobath trace`: captures and vectors.

mod convert;
mod describe;
mod extract;
mod synth;
mod transform;

use anyhow::anyhow;
use kit::usage::{Usage, print};
use record::Run;
use std::fs;
use std::path::{Path, PathBuf};
use tmix::trace::{Format, Output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Find the connections in packet captures and write what their applications said as vectors.
    Extract(extract::Args),
    /// Tell what files of vectors are like, and how far they are from each other.
    Describe(describe::Args),
    /// Write a file of vectors in another format.
    Convert(convert::Args),
    /// Rewrite vectors by models of structure, round trip and window, and scale how many there are.
    Transform(Box<transform::Args>),
    /// Make vectors that were never captured, of distributions that are published.
    Synth(synth::Args),
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Extract(args) => extract::run(args),
        Verb::Describe(args) => describe::run(args),
        Verb::Convert(args) => convert::run(args),
        Verb::Transform(args) => transform::run(args),
        Verb::Synth(args) => synth::run(args),
    }
}

/// Where vectors go, if anywhere.
#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// File for the vectors; without it only figures are told.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Its format [default: by its name].
    #[arg(long, value_enum, requires = "out")]
    format: Option<Format>,
}

impl Target {
    /// The format, when there is a file.
    fn named(&self) -> anyhow::Result<Option<Format>> {
        let format = self.out.as_deref().map(|out| format_of(out, self.format));
        format.transpose()
    }

    /// Begins the file, which is none of those that are `read`. A text is `sorted`, or in the order in which vectors come.
    fn open(&self, read: &[PathBuf], sorted: bool) -> anyhow::Result<Option<Output>> {
        let (Some(out), Some(format)) = (&self.out, self.named()?) else {
            return Ok(None);
        };
        for file in read {
            not_the_same(file, out)?;
        }
        Output::create(out, format, sorted).map(Some)
    }

    /// The last line of a scorecard.
    fn line(&self) -> String {
        let out = self.out.as_ref();
        out.map_or_else(String::new, |out| {
            format!("\nvectors       {}\n", out.display())
        })
    }
}

/// Refuses to write the file that is read.
fn not_the_same(file: &Path, out: &Path) -> anyhow::Result<()> {
    match (fs::canonicalize(file), fs::canonicalize(out)) {
        (Ok(one), Ok(other)) if one == other => Err(Usage::of(anyhow!(
            "{} is read and cannot be written - name another with --out",
            out.display()
        ))),
        _ => Ok(()),
    }
}

/// Tells what came of a run: as JSON, or by its scorecard.
fn tell(run: &Run, json: bool, card: impl FnOnce() -> String) -> anyhow::Result<u8> {
    if json {
        print(&serde_json::to_string_pretty(run)?)?;
    } else {
        print(&card())?;
    }
    Ok(run.exit_status())
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
