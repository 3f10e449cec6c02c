//! `isobath show`.

use super::print;
use crate::rrul::plan::Plan;
use crate::rrul::scorecard::scorecard;
use crate::rrul::streams::StreamPlan;
use crate::rrul::summary::{Summary, summarise};
use crate::rrul::tables::Tables;
use anyhow::Context;
use record::{Record, Run, Status};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record's folder.
    run: PathBuf,
    /// Print run.json instead of the scorecard.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let record = Record::open(&args.run)?;
    let mut run = record.run().clone();
    anyhow::ensure!(
        run.test == "rrul",
        "cannot show a record of test '{}'",
        run.test
    );
    if run
        .summary
        .as_object()
        .is_none_or(serde_json::Map::is_empty)
    {
        run.summary = serde_json::to_value(summary_of(&record, &run)?)?;
    }
    if args.json {
        print(&serde_json::to_string_pretty(&run)?)?;
    } else {
        let summary: Summary = serde_json::from_value(run.summary.clone())
            .with_context(|| format!("{}: run.json has another summary", args.run.display()))?;
        print(&format!(
            "{}record        {}",
            scorecard(&run, &summary),
            args.run.display()
        ))?;
    }
    // Looking at a record has succeeded, whatever is in it.
    Ok(0)
}

/// The summary of a record whose run was killed before it could write one: from its tables.
fn summary_of(record: &Record, run: &Run) -> anyhow::Result<Summary> {
    debug_assert_eq!(run.status, Status::Incomplete);
    let mut plan = run.plan.clone();
    if let Some(plan) = plan.as_object_mut() {
        // Options of the command line, kept beside the plan's own fields.
        plan.retain(|field, _| !["cc", "note", "seed"].contains(&field.as_str()));
    }
    let plan: Plan = serde_json::from_value(plan).context("run.json has another plan")?;
    let family = run.path.families.first().copied().unwrap_or(4);
    let streams = StreamPlan::all(&plan, family, None);
    Ok(summarise(&plan, &Tables::read(record, &streams)?))
}
