//! `isobath export`.

use anyhow::Context;
use kit::usage::{plain, print};
use record::{Record, export_csv_folder};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("format").required(true).args(["csv", "flent"])))]
pub(crate) struct Args {
    /// Folder of the record.
    run: PathBuf,
    /// Write each table as a CSV file.
    #[arg(long)]
    csv: bool,
    /// Write a Flent data file.
    #[arg(long)]
    flent: bool,
    /// Folder for the CSV files, or name of the Flent file [default: in the record's folder].
    #[arg(short, long)]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let record = Record::open(&args.run)?;
    if args.flent {
        return to_flent(args, &record);
    }
    let out = args.out.clone().unwrap_or_else(|| args.run.join("csv"));
    export_csv_folder(&record, &out)?;
    print(&format!(
        "wrote {} tables to {}",
        record.table_names().count(),
        out.display()
    ))?;
    Ok(0)
}

fn to_flent(args: &Args, record: &Record) -> anyhow::Result<u8> {
    let out = match &args.out {
        Some(out) => out.clone(),
        None => args.run.join(flent::file_name(record)?),
    };
    let exported = write(record, &out)?;
    if let Some(note) = exported.note {
        eprintln!("export: {}", plain(&note));
    }
    print(&out.display().to_string())?;
    Ok(0)
}

fn write(record: &Record, out: &Path) -> anyhow::Result<flent::Exported> {
    // In memory first: what cannot be exported overwrites nothing.
    let mut octets = Vec::new();
    let exported = flent::export(record, &mut octets)?;
    std::fs::write(out, octets)
        .with_context(|| format!("cannot write {} - choose another --out", out.display()))?;
    Ok(exported)
}
