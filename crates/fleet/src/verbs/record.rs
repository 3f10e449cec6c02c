//! `isobath fleet record RUN`.

use super::{OPERATOR, revisions};
use crate::RunId;
use crate::bus::{Access, Bus};
use anyhow::{Context as _, anyhow};
use kit::usage::{Usage, print};
use std::path::PathBuf;

/// Which record, and where to put it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run as 'fleet runs' names it: FLEET.MEASUREMENT.FROM.TO.INSTANT.
    run: RunId,
    #[command(flatten)]
    access: Access,
    /// Folder for the record; it must not exist [default: the run's name].
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let run = &args.run;
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let (revisions, _) = revisions(&bus, &run.fleet).await?;
    let told = bus.outcome(run).await?.ok_or_else(|| {
        let fleet = &run.fleet;
        Usage::of(anyhow!(
            "no outcome of {run} has been reported - 'isobath fleet runs {fleet} --json' lists runs"
        ))
    })?;
    anyhow::ensure!(
        !revisions.is_forged(&told),
        "the outcome of {run} is not signed by its host '{}'",
        run.from
    );
    let outcome = told.outcome;
    if outcome.files.is_empty() {
        let reason = outcome.reason.unwrap_or_default();
        return Err(anyhow!(
            "{run} is {} and has no record: {reason}",
            outcome.status
        ));
    }
    let folder = args.out.clone().unwrap_or_else(|| run.to_string().into());
    let made = std::fs::create_dir(&folder);
    let name = folder.display();
    made.with_context(|| format!("folder {name} cannot be made"))
        .map_err(Usage::of)?;
    let fetched = bus.fetch_record(&outcome, &folder, u64::MAX).await;
    if fetched.is_err() {
        // Half a record is none, and the next attempt needs the name.
        let _ = std::fs::remove_dir_all(&folder);
    }
    fetched?;
    print(&format!("{name}"))?;
    Ok(0)
}
