//! Runs of `isobath estimate`: one property of a path, the trains of probes that it was found by, and how well they were sent.
//!
//! The answer is in the summary, and what the estimator knows besides is in its `details`. Trains and probes are read from their
//! tables, so a run that was killed has them too.
//!
//! A train is at its place in time by its first probe that arrived. Delays of one way are of two clocks, so only what they are
//! **above the least of the run** is shown: that is right whatever the offset of the clocks is, and wrong by their drift over the
//! run, which is some microseconds in a second.

mod answer;
mod delays;
mod details;
mod rows;
mod sentence;
mod trains;
mod truth;

use super::each;
use crate::told;
use answer::Answer;
use delays::Delays;
use details::Details;
use record::{Record, Run};
use schema::estimate::Summary;
pub(crate) use sentence::sentence;
use serde::Serialize;
use trains::Trains;

/// The name of the measurement in `run.json`.
pub(crate) const TEST: &str = "estimate";

/// A property of a path.
#[derive(Serialize)]
pub(crate) struct Estimate {
    answer: Answer,
    trains: Trains,
    /// How long probes took; null where no figure of the estimator is about that.
    delays: Option<Delays>,
    details: Details,
}

/// Reads summary and tables; `None` when the record is of another test.
pub(crate) fn read(record: &Record, run: &Run) -> Result<Option<Estimate>, record::Error> {
    if run.test != TEST {
        return Ok(None);
    }
    let summary: Option<Summary> = told::summary(run);
    let answer = Answer::of(run, summary.as_ref());
    let details = summary.map(|summary| summary.finding.details);
    let mut sent = rows::trains(record)?;
    let mut trains = trains::Collector::of(&sent);
    let mut delays = delays::Collector::of(&answer, rows::least_way_ns(record)?);
    rows::each_passage(record, |passage| {
        trains.arrived(passage);
        delays.arrived(passage, &mut sent);
    })?;
    Ok(Some(Estimate {
        trains: trains.trains(),
        delays: delays.delays(&sent),
        details: Details::of(&details.unwrap_or_default()),
        answer,
    }))
}

#[cfg(test)]
mod tests;
