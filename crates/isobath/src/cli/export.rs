//! `isobath export`.

use anyhow::Context;
use kit::usage::{plain, print};
use record::{Record, export_csv_folder};
use std::path::PathBuf;

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
    // In memory first: what cannot be exported overwrites nothing.
    let mut octets = Vec::new();
    let exported = flent::export(record, &mut octets)?;
    let out = if let Some(out) = &args.out {
        std::fs::write(out, octets)
            .with_context(|| format!("cannot write {} - choose another --out", out.display()))?;
        out.clone()
    } else {
        // The record may be somebody else's, with links in it.
        let out = args.run.join(flent::file_name(record)?);
        super::report::write(&out, &octets)?;
        out
    };
    if let Some(note) = exported.note {
        eprintln!("export: {}", plain(&note));
    }
    print(&out.display().to_string())?;
    Ok(0)
}
