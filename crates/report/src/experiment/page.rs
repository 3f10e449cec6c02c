//! The page of an experiment: the same page as a record's, with another value in it.

use super::Experiment;
use crate::{Error, page::embed};
use serde::Serialize;

/// What the page is given; its schema tells it from a record's.
#[derive(Serialize)]
struct Value<'a> {
    schema: &'static str,
    /// Version of the program that made the page.
    isobath: &'static str,
    experiment: &'a Experiment,
}

/// The page that shows `experiment`: one HTML file that asks no network for anything.
///
/// # Errors
/// [`Error::Experiment`] when a part of it cannot be drawn, or [`Error::Json`].
pub fn page(experiment: &Experiment) -> Result<String, Error> {
    experiment.check()?;
    let value = Value {
        schema: "isobath.report.experiment/1",
        isobath: env!("CARGO_PKG_VERSION"),
        experiment,
    };
    embed(&serde_json::to_string(&value).map_err(Error::Json)?)
}
