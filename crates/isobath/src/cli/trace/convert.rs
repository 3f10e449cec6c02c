//! `isobath trace convert`.

use super::format_of;
use crate::cli::{Usage, print};
use crate::trace::{Format, Input, Output};
use anyhow::anyhow;
use std::fs;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Vectors, in any format.
    file: PathBuf,
    /// File to write.
    #[arg(short, long)]
    out: PathBuf,
    /// Its format [default: by its name].
    #[arg(long, value_enum)]
    format: Option<Format>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let format = format_of(&args.out, args.format)?;
    if let (Ok(file), Ok(out)) = (fs::canonicalize(&args.file), fs::canonicalize(&args.out))
        && file == out
    {
        return Err(Usage::of(anyhow!(
            "{} is read and cannot be written - name another with --out",
            args.out.display()
        )));
    }
    let input = Input::open(&args.file)?;
    // A text has an order and numbers already; a table is in the order in which connections ended.
    let mut output = Output::create(&args.out, format, !input.is_text())?;
    output.comment(input.preamble())?;
    let mut count = 0_u64;
    for vector in input {
        let vector = vector.map_err(|error| error.context(args.file.display().to_string()))?;
        output.vector(vector)?;
        count += 1;
    }
    let left_out = output.left_out();
    output.finish()?;
    print(&format!(
        "{} vectors as {} in {}",
        count - left_out,
        format.name(),
        args.out.display()
    ))?;
    if left_out > 0 {
        print(&format!(
            "{left_out} flows of UDP left out: cvec knows TCP only"
        ))?;
    }
    Ok(0)
}
