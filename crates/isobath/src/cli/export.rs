//! `isobath export`.

use super::print;
use record::{Record, export_csv_folder};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record's folder.
    run: PathBuf,
    /// Write every table as CSV, one file each.
    #[arg(long, required = true)]
    csv: bool,
    /// Folder for the files [default: `csv` in the record's folder].
    #[arg(short, long)]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let record = Record::open(&args.run)?;
    let out = args.out.clone().unwrap_or_else(|| args.run.join("csv"));
    export_csv_folder(&record, &out)?;
    print(&format!(
        "wrote {} tables to {}",
        record.table_names().count(),
        out.display()
    ))?;
    Ok(0)
}
