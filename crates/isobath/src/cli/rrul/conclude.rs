//! The end of a run: what it came to, on the record and on the terminal.

use super::{Args, Measured};
use anyhow::Context as _;
use record::{Run, Warning};
use rrul::quality;
use rrul::run::Outcome;
use rrul::scorecard::scorecard;
use rrul::summary::summarise;
use rrul::warnings::warnings;
use schema::rrul::plan::Plan;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

/// Turns what was found into the run's conclusion; `notes` are from before the run.
pub(super) fn conclude(
    run: &mut Run,
    plan: &Plan,
    outcome: &Outcome,
    emulator: Duration,
    notes: Vec<Warning>,
) -> anyhow::Result<()> {
    let summary = summarise(plan, &outcome.tables);
    run.instrument = quality::instrument(plan, outcome, &summary, emulator);
    run.warnings = warnings(plan, outcome, &run.instrument, &summary);
    run.warnings.extend(notes);
    run.status = quality::status(&outcome.ending, &run.warnings);
    run.summary = serde_json::to_value(summary)?;
    Ok(())
}

/// Tells what came of the run.
pub(crate) fn report(args: &Args, measured: &Measured) -> anyhow::Result<()> {
    let Measured { run, dir, .. } = measured;
    let rows_on_stdout = args.ndjson.as_deref() == Some(Path::new("-"));
    if rows_on_stdout && !args.output.json {
        return Ok(());
    }
    args.output.tell(run, dir, || {
        let summary = Deserialize::deserialize(&run.summary).context("summary")?;
        let card = scorecard(run, &summary);
        Ok(format!(
            "{card}report        isobath report {}\n",
            dir.display()
        ))
    })
}
