//! `isobath import`.

use anyhow::Context;
use jiff::Timestamp;
use kit::usage::print;
use std::fs::File;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Flent data files (NAME.flent.gz), or records saved from a test page (NAME.tar).
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Folder for the record, with a single file only [default: isobath-runs/TIME-flent-NAME, or isobath-runs/NAME].
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
            .context(
                "cannot be opened - give the path of a Flent data file or of a record in one file",
            )
            .with_context(|| file.display().to_string())?;
        let folder = if file.extension().is_some_and(|extension| extension == "tar") {
            let folder = folder(args, || stem(file, &[".tar"]))?;
            let read = record::unpack(input, file, &folder);
            if read.is_err() && args.out.is_none() {
                // It was made for this, and is empty.
                let _ = std::fs::remove_dir(&folder);
            }
            read?;
            folder
        } else {
            let read = flent::import(input, &flent::Limits::default());
            let read = read.with_context(|| file.display().to_string())?;
            let name = || {
                let stem = stem(file, &[".gz", ".flent"]);
                record::folder_name(Timestamp::now(), "flent", &stem)
            };
            let folder = folder(args, name)?;
            read.write(&folder)?;
            folder
        };
        print(&folder.display().to_string())?;
    }
    Ok(0)
}

fn folder(args: &Args, name: impl FnOnce() -> String) -> anyhow::Result<PathBuf> {
    if let Some(out) = &args.out {
        return Ok(out.clone());
    }
    Ok(record::new_folder(Path::new("isobath-runs"), &name())?)
}

/// A file's name without these endings, the last first.
fn stem(file: &Path, endings: &[&str]) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = endings
        .iter()
        .fold(&*name, |name, ending| name.trim_end_matches(ending));
    stem.to_owned()
}
