//! `isobath show`.

use crate::calibrate;
use anyhow::{Context, anyhow};
use kit::usage::{Usage, print};
use record::{HISTORY, Record, Run};
use rrul::streams::{Common, StreamPlan};
use rrul::summary::{Summary, summarise};
use rrul::tables::Tables;
use rrul::{self, Plan};
use serde::Deserialize as _;
use std::path::PathBuf;
use studies::{medianet, trial};
use tmix::replay;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record's folder.
    run: PathBuf,
    /// Print run.json instead of the scorecard.
    #[arg(long)]
    json: bool,
    /// Say how the score and every penalty came about.
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
    let run = completed(&record)?;
    if args.json {
        print(&serde_json::to_string_pretty(&run)?)?;
    } else if args.explain {
        if run.test != "rrul" {
            anyhow::bail!("a record of test '{}' has no score to explain", run.test);
        }
        let summary: Summary = serde_json::from_value(run.summary.clone())?;
        print(&rrul::scorecard::explain(&run, &summary))?;
    } else {
        let page = page(&run).with_context(|| args.run.display().to_string())?;
        print(&format!("{page}record        {}", args.run.display()))?;
    }
    // Looking at a record has succeeded, whatever is in it.
    Ok(0)
}

/// The run of a record; one that was killed before it could write a summary gets it from its tables.
pub(super) fn completed(record: &Record) -> anyhow::Result<Run> {
    let mut run = record.run().clone();
    let is_empty = run
        .summary
        .as_object()
        .is_none_or(serde_json::Map::is_empty);
    match run.test.as_str() {
        "rrul" if is_empty => run.summary = serde_json::to_value(summary_of(record, &run)?)?,
        "btc" | "sim-btc" if is_empty => {
            let plan = btc::Plan::of_record(&run.plan).context("run.json has another plan")?;
            let findings = btc::findings::Findings::read(record)?;
            run.summary = serde_json::to_value(btc::summary::summarise(&plan, &findings))?;
        }
        "replay" if is_empty => {
            run.summary = serde_json::to_value(replay::summary::Figures::of_record(record)?)?;
        }
        trial::TEST if is_empty => {
            let plan = trial::Plan::deserialize(&run.plan).context("run.json has another plan")?;
            let tables = trial::summary::Tables::read(record)?;
            let rate = run.plan["bottleneck"]["rate"].clone();
            let rate = serde_json::from_value(rate).ok();
            let found = trial::summary::summarise(&plan, &tables, rate, Vec::new());
            run.summary = serde_json::to_value(found)?;
        }
        medianet::TEST if is_empty => {
            run.summary = serde_json::to_value(medianet::summary::of_record(record)?)?;
        }
        _ => {}
    }
    Ok(run)
}

/// The scorecard of the run's test.
fn page(run: &Run) -> anyhow::Result<String> {
    let summary = run.summary.clone();
    match run.test.as_str() {
        "rrul" => Ok(rrul::scorecard::scorecard(
            run,
            &serde_json::from_value(summary)?,
        )),
        // The same figures as far as there are any, and the means that Flent itself shows.
        "flent" => {
            let card = rrul::scorecard::scorecard(run, &serde_json::from_value(summary)?);
            Ok(format!("{card}{}", series(run)))
        }
        "btc" | "sim-btc" => Ok(btc::scorecard::scorecard(
            run,
            &serde_json::from_value(summary)?,
        )),
        "replay" => Ok(replay::scorecard::scorecard(
            run,
            &serde_json::from_value(summary)?,
        )),
        medianet::TEST => Ok(medianet::scorecard::scorecard(
            run,
            &serde_json::from_value(summary)?,
        )),
        "mbm" => Ok(mbm_run::scorecard::scorecard(
            run,
            &serde_json::from_value(summary)?,
        )),
        "estimate" | "sim-estimate" => Ok(estimate::scorecard::scorecard(
            run,
            &serde_json::from_value(summary)?,
        )),
        trial::TEST => Ok(trial::scorecard::scorecard(
            run,
            &serde_json::from_value(summary)?,
        )),
        calibrate::TEST => Ok(calibrate::scorecard::scorecard(
            run,
            &serde_json::from_value(summary)?,
        )),
        other => anyhow::bail!(
            "a record of test '{other}' has no scorecard here - look at it with --json"
        ),
    }
}

/// The mean and the median of each series of a file of Flent's, as Flent's own summary has them.
fn series(run: &Run) -> String {
    let Some(series) = run.summary["series"].as_object() else {
        return String::new();
    };
    let mut page = format!("\n{:32}{:>12}{:>12}\n", "series", "mean", "median");
    for (name, figures) in series {
        let unit = figures["unit"].as_str().unwrap_or_default();
        let number = |value: &serde_json::Value| {
            value
                .as_f64()
                .map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
        };
        let (mean, median) = (&figures["mean"], &figures["distribution"]["p50"]);
        let line = format!("{name:32}{:>12}{:>12} {unit}", number(mean), number(median));
        page.push_str(line.trim_end());
        page.push('\n');
    }
    page.push('\n');
    page
}

/// The summary of a record whose run was killed before it could write one: from its tables.
fn summary_of(record: &Record, run: &Run) -> anyhow::Result<Summary> {
    let mut plan = run.plan.clone();
    if let Some(plan) = plan.as_object_mut() {
        // Options of the command line, kept beside the plan's own fields.
        plan.retain(|field, _| !["cc", "note", "seed"].contains(&field.as_str()));
    }
    let plan: Plan = serde_json::from_value(plan).context("run.json has another plan")?;
    plan.check()
        .map_err(anyhow::Error::msg)
        .context("run.json has another plan")?;
    let streams = StreamPlan::all(
        &plan,
        &Common {
            families: &run.path.families,
            cc: None,
        },
    );
    Ok(summarise(&plan, &Tables::read(record, &streams)?))
}
