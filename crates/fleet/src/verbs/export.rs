//! `isobath fleet export`.

use super::{OPERATOR, kept_since, of_kept};
use crate::agent::wall;
use crate::archive::{self, Place};
use crate::bus::{Access, Bus};
use crate::outcome::HandedOver;
use crate::{Moment, Name};
use kit::usage::print;
use serde_json::json;
use std::collections::BTreeMap;

/// What to export, and where.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the fleet [default: all].
    fleet: Option<Name>,
    #[command(flatten)]
    access: Access,
    /// Where the dataset goes.
    #[arg(
        short,
        long,
        help = "Folder for the dataset, or s3://BUCKET/PREFIX; existing data of the same fleets, days, measurements and sites is replaced",
        value_name = "PLACE"
    )]
    out: Place,
    /// Print what was written as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let mut outcomes = bus.outcomes(args.fleet.as_ref(), Moment::default()).await?;
    // Of a day that is partly gone the archive may know more.
    let since = kept_since(&bus, wall()).await?;
    let all = outcomes.len();
    outcomes.retain(|told| told.outcome.planned.day().begins() >= since);
    let partly_gone = all - outcomes.len();
    let mut fleets = BTreeMap::new();
    for (name, kept) in bus.fleets().await? {
        fleets.insert(name, of_kept(kept)?);
    }
    let is_forged = |told: &HandedOver| {
        let revisions = fleets.get(&told.outcome.run.fleet);
        revisions.is_some_and(|revisions| revisions.is_forged(told))
    };
    let (forged, outcomes): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(is_forged);
    let forged = forged.len();
    let written = archive::write(&args.out, &outcomes).await?;
    let (runs, files, dir) = (written.runs, written.files.len(), args.out.to_string());
    if args.json {
        print(
            &json!({ "runs": runs, "files": files, "folder": dir, "forged": forged, "partly_gone": partly_gone })
                .to_string(),
        )?;
    } else {
        print(&format!("{runs} runs in {files} files, in {dir}"))?;
        if partly_gone > 0 {
            print(&format!(
                "left out: {partly_gone} of days that are partly gone (fleet retention)"
            ))?;
        }
        if forged > 0 {
            print(&format!(
                "left out: {forged} without the signature of their host"
            ))?;
        }
    }
    Ok(0)
}
