//! `isobath fleet pause FLEET`.

use super::{OPERATOR, from_now, revisions};
use crate::Name;
use crate::bus::{Access, Bus};
use crate::revisions::Document;
use kit::usage::print;

/// Which fleet.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the fleet.
    fleet: Name,
    #[command(flatten)]
    access: Access,
    /// Resume the fleet instead.
    #[arg(long)]
    resume: bool,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let fleet = &args.fleet;
    let (revisions, last) = revisions(&bus, fleet).await?;
    let paused = !args.resume;
    let word = if paused { "paused" } else { "running" };
    let document = revisions
        .latest()
        .filter(|document| document.paused != paused);
    let Some(document) = document else {
        print(&format!("fleet '{fleet}' is {word} already"))?;
        return Ok(0);
    };
    let document = Document {
        since: from_now(Some(document.since)),
        paused,
        ..document.clone()
    };
    bus.revise(fleet, &document, last).await?;
    print(&format!(
        "fleet '{fleet}' is {word} as of {}",
        document.since
    ))?;
    Ok(0)
}
