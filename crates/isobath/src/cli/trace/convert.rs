//! `isobath trace convert`.

use super::{format_of, not_the_same};
use kit::usage::print;
use std::path::PathBuf;
use tmix::trace::{Format, Input, Output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Vectors in any format.
    file: PathBuf,
    /// File for the vectors.
    #[arg(short, long)]
    out: PathBuf,
    /// Format of the vectors [default: by the file name].
    #[arg(long, value_enum)]
    format: Option<Format>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let format = format_of(&args.out, args.format)?;
    not_the_same(&args.file, &args.out)?;
    let input = Input::open(&args.file)?;
    // A text, and a table that was made of one, has an order and identifiers already; a table of a capture is in the order in which
    // connections ended.
    let sorted = !Input::has_identifiers(&args.file)?;
    let mut output = Output::create(&args.out, format, sorted)?;
    output.comment(input.preamble())?;
    let mut count = 0_u64;
    for vector in input {
        output.vector(vector?)?;
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
