//! `isobath fleet export`.

use super::{OPERATOR, of_kept};
use crate::archive::{self, Exported, Place};
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
        help = "Folder for the dataset, or s3://BUCKET/PREFIX; outcomes that only an earlier export has are kept",
        value_name = "PLACE"
    )]
    out: Place,
    /// Print what was written as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let outcomes = bus.outcomes(args.fleet.as_ref(), Moment::default()).await?;
    let mut fleets = BTreeMap::new();
    for (name, kept) in bus.fleets().await? {
        fleets.insert(name, of_kept(kept)?);
    }
    let is_forged = |told: &HandedOver| {
        let revisions = fleets.get(&told.outcome.run.fleet);
        revisions.is_some_and(|revisions| revisions.is_forged(told))
    };
    let (forged, outcomes): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(is_forged);
    let exported = Exported {
        outcomes: &outcomes,
        forged: &forged,
    };
    let written = archive::write(&args.out, &exported).await?;
    let (runs, files, dir) = (written.runs, written.files.len(), args.out.to_string());
    let (only_archived, forged) = (written.only_archived, forged.len());
    if args.json {
        print(
            &json!({ "runs": runs, "files": files, "folder": dir, "forged": forged, "only_archived": only_archived })
                .to_string(),
        )?;
        return Ok(0);
    }
    print(&format!("{runs} runs in {files} files, in {dir}"))?;
    if only_archived > 0 {
        print(&format!(
            "kept: {only_archived} beside them that only the archive has"
        ))?;
    }
    if forged > 0 {
        print(&format!(
            "left out: {forged} without the signature of their host"
        ))?;
    }
    Ok(0)
}
