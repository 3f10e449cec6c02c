//! `isobath trace`: captures and vectors.

mod convert;
mod describe;
pub(crate) mod extract;
mod fit;
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
    /// Extract connection vectors from packet captures.
    Extract(extract::Args),
    /// Describe sets of vectors, and the distances between their distributions.
    Describe(describe::Args),
    /// Convert vectors to another format.
    Convert(convert::Args),
    /// Apply models of structure, RTT and window to vectors, and scale their load.
    Transform(Box<transform::Args>),
    /// Fit a mix to vectors: the distributions from which 'synth' draws similar ones.
    Fit(fit::Args),
    /// Synthesise vectors from published distributions, or from a mix of your own.
    Synth(synth::Args),
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Extract(args) => extract::run(args),
        Verb::Describe(args) => describe::run(args),
        Verb::Convert(args) => convert::run(args),
        Verb::Transform(args) => transform::run(args),
        Verb::Fit(args) => fit::run(args),
        Verb::Synth(args) => synth::run(args),
    }
}

/// Where vectors go, if anywhere.
#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// File for the vectors; omit to print statistics only.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Format of the vectors [default: by the file name].
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
            "cannot tell the format from the name {} - end it in .parquet, .cvec or .alt.cvec, or give --format",
            out.display()
        ))
    })
}
