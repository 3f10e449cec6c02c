//! `isobath import`.

use anyhow::Context;
use jiff::Timestamp;
use kit::usage::print;
use std::fs::File;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Flent data files: NAME.flent.gz.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Folder for the record, with a single file only [default: isobath-runs/TIME-flent-NAME].
    #[arg(short, long)]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.out.is_some() && args.files.len() > 1 {
        return Err(kit::usage::Usage::of(anyhow::anyhow!(
            "--out names one folder and there are {} files - import them one by one, or without --out",
            args.files.len()
        )));
    }
    for file in &args.files {
        let input = File::open(file)
            .context("cannot be opened - give the path of a Flent data file")
            .with_context(|| file.display().to_string())?;
        let read = flent::import(input, &flent::Limits::default());
        let read = read.with_context(|| file.display().to_string())?;
        let folder = folder(args, file)?;
        read.write(&folder)?;
        print(&folder.display().to_string())?;
    }
    Ok(0)
}

fn folder(args: &Args, file: &Path) -> anyhow::Result<PathBuf> {
    if let Some(out) = &args.out {
        return Ok(out.clone());
    }
    let stem = file
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let stem = stem.unwrap_or_default();
    let stem = stem.trim_end_matches(".gz").trim_end_matches(".flent");
    let name = record::folder_name(Timestamp::now(), "flent", stem);
    Ok(record::new_folder(Path::new("isobath-runs"), &name)?)
}
