//! `isobath compare`.

use crate::register::REGISTER;
use crate::{batch, sweep};
use kit::compare::{Comparison, groups, table};
use kit::usage::print;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Repetitions form one group: those of a batch cell, the runs in a folder, or runs with the same settings. Every group is compared with the first.\n\nExample: isobath compare before/ after/"
)]
pub(crate) struct Args {
    /// Folders: a batch, a sweep, a run, or a folder of runs.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Include invalid and incomplete runs that have figures.
    #[arg(long)]
    all: bool,
    /// Print the comparison as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let groups = groups::load(&args.runs, &|dir| {
        let batch = batch::groups::of_folder(dir);
        batch.or_else(|| sweep::groups::of_folder(dir))
    })?;
    let comparison = Comparison::of(&REGISTER, &groups, args.all);
    if !comparison.has_runs() {
        let count = comparison.left_out.len();
        anyhow::bail!(
            "no run among {count} is complete - look at them with 'isobath show', or take those with figures by --all"
        );
    }
    if args.json {
        print(&serde_json::to_string_pretty(&comparison)?)?;
    } else {
        print(&table::page(&comparison))?;
    }
    Ok(0)
}
