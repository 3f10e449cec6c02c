//! `isobath show`.

use crate::register::REGISTER;
use anyhow::{Context, anyhow};
use kit::usage::{Usage, print};
use record::{HISTORY, Record};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the record.
    run: PathBuf,
    /// Print run.json instead of the scorecard.
    #[arg(long)]
    json: bool,
    /// Explain the score and every penalty.
    #[arg(long, conflicts_with = "json")]
    explain: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.run.join(HISTORY).exists() {
        let folder = args.run.display();
        return Err(Usage::of(anyhow!(
            "{folder} is the folder of 'isobath mbm --every' - look at its history with 'isobath report {folder}', or at a run in it"
        )));
    }
    let record = Record::open(&args.run)?;
    let run = REGISTER.completed(&record)?;
    let named = || args.run.display().to_string();
    if args.json {
        print(&serde_json::to_string_pretty(&run)?)?;
    } else if args.explain {
        print(&REGISTER.of_test(&run.test)?.explanation_of(&run)?)?;
    } else {
        let page = REGISTER
            .of_test(&run.test)
            .and_then(|test| test.scorecard_of(&run));
        let page = page.with_context(named)?;
        print(&format!("{page}record        {}", named()))?;
    }
    // Looking at a record has succeeded, whatever is in it.
    Ok(0)
}
