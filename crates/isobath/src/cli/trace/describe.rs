//! `isobath trace describe`.

use super::tell;
use crate::cli::report::write;
use anyhow::anyhow;
use kit::usage::Usage;
use record::{Run, Status};
use serde_json::json;
use std::path::PathBuf;
use tmix::trace::describe;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Vectors in any format; several files are compared with the first.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Also write an HTML page: all distributions, and starts and octets over time.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the run as JSON instead of the tables.
    #[arg(long)]
    json: bool,
    /// As for other verbs; there is no progress to show.
    #[arg(short, long, hide = true)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.files.len() > report::MOST_RUNS {
        return Err(Usage::of(anyhow!(
            "{} files are too many to be told apart - name at most {}",
            args.files.len(),
            report::MOST_RUNS
        )));
    }
    if let Some(out) = &args.out {
        for file in &args.files {
            super::not_the_same(file, out)?;
        }
    }
    let plan = json!({ "files": args.files, "out": args.out });
    let mut run = Run::new("trace-describe", jiff::Timestamp::now(), plan);
    run.hosts = vec![kit::host::facts("client")];
    let sets = describe::read(&args.files)?;
    if let Some(out) = &args.out {
        write(out, describe::page(&sets, &run.plan)?.as_bytes())?;
    }
    run.summary = describe::summary(&sets)?;
    run.status = Status::Complete;
    tell(&run, args.json, || {
        let page = args.out.as_ref();
        let page = page.map_or_else(String::new, |out| {
            format!("\npage          {}\n", out.display())
        });
        describe::card(&sets) + &page
    })
}
