//! Records as one page of figures that explain themselves.
//!
//! [`render`] reads the tables of one run or of several, makes **one JSON value** of them, and puts it into a page that
//! was built beforehand from `ui/` (TypeScript). The result is one HTML file: it asks no network for anything, so it
//! can be mailed, archived and opened years later.
//!
//! The tables of a long run do not fit into a page, so they are thinned out, and each way of thinning keeps what a
//! user of the path would have felt:
//!
//! - a line over time becomes **pairs of minimum and maximum** per bin, at the instants at which they occurred
//!   (`envelope`): drawn, it covers the same pixels as all rows would;
//! - a distribution becomes at most 400 of its quantiles and its exact tail (`distribution`);
//! - counts and octets become sums per bin (`grid`).
//!
//! The folder of a monitor, which asks the same again and again, has a page of its own ([`history_page`]).
//! What an experiment found is shown by the same page, as its own [`experiment::Experiment`] says; of replays of traffic its
//! figures come from [`mod@replay`]. Sets of values that are told by their distributions are shown as a
//! [`description::Description`] says.
//!
//! What was not measured has no figure. The schema of the value is in `docs/report.md`.
#![forbid(unsafe_code)]

mod compare;
mod composition;
pub mod description;
mod distribution;
mod envelope;
mod error;
pub mod experiment;
mod grid;
mod history;
#[cfg(test)]
mod made;
mod number;
mod page;
mod page_data;
mod phases;
pub mod replay;
mod sentence;
mod told;
mod view;

pub use composition::{Composed, Composition, Part};
pub use description::page as description_page;
pub use error::Error;
pub use experiment::page as experiment_page;
pub use history::{data as history_data, page as history_page};
pub use page::{page_sources, sources_hash};

use record::{Record, Run};

/// A run to report.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Where its tables are.
    pub record: Record,
    /// Its `run.json`, completed by the caller where the record's own is not: the summary of a run that was killed.
    pub run: Run,
}

impl From<Record> for Subject {
    fn from(record: Record) -> Self {
        let run = record.run().clone();
        Self { record, run }
    }
}

/// The most runs in one page: more cannot be told apart, and the page would outgrow its readers.
pub const MOST_RUNS: usize = 12;

/// The page for `subjects`, of which the first is what the others are compared with. Where they can be parts of one path, in
/// their order, `composed` is what is known of the whole.
///
/// # Errors
/// [`Error::NoRuns`], [`Error::TooManyRuns`], [`Error::Record`] for a table that cannot be read, or [`Error::Json`].
pub fn render(subjects: &[Subject], composed: Option<&Composed>) -> Result<String, Error> {
    page::embed(&data(subjects, composed)?)
}

/// The value that the page of [`render`] shows, as JSON.
///
/// # Errors
/// As [`render`].
pub fn data(subjects: &[Subject], composed: Option<&Composed>) -> Result<String, Error> {
    match subjects.len() {
        0 => return Err(Error::NoRuns),
        n if n > MOST_RUNS => return Err(Error::TooManyRuns { runs: n }),
        _ => {}
    }
    let report = page_data::Report::of(subjects, composed)?;
    serde_json::to_string(&report).map_err(Error::Json)
}
