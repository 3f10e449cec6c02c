//! The page of sets that are described by distributions: vectors of a trace, or what a replay of them took.
//!
//! A set of millions of values has no picture but its distribution, and two sets are alike when all of their
//! distributions are. So the page is a row of families ([`Family`]): one quantity, a curve for each set. Like an experiment's page it is told
//! what is on its axes, and it can have that page's figures and tables too.

mod check;
mod family;

#[cfg(test)]
mod tests;

pub use family::{Curve, Family, Mark, Point};

use crate::experiment::{Figure, Table};
use crate::{Error, page::embed};
use serde::Serialize;
use serde_json::Value;

/// What is described, and all that is shown of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// What it is called: a file, say.
    pub name: String,
    /// What made it: `isobath trace describe`.
    pub made_by: String,
    /// The answer, in one sentence.
    pub sentence: String,
    /// More of it, in paragraphs.
    pub summary: Vec<String>,
    /// Key figures: name, value with its unit, and what else to know.
    pub tiles: Vec<[String; 3]>,
    /// Quantities, the most important first.
    pub families: Vec<Family>,
    /// Other figures.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// What to know before believing it.
    pub notes: Vec<String>,
    /// What was asked for, by option.
    pub plan: Value,
}

/// What the page is given; its schema tells it from others'.
#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    /// Version of the program that made the page.
    isobath: &'static str,
    description: &'a Description,
}

/// The page that shows `description`: one HTML file that asks no network for anything.
///
/// # Errors
/// [`Error::Experiment`] when a part of it cannot be drawn, or [`Error::Json`].
pub fn page(description: &Description) -> Result<String, Error> {
    description.check()?;
    let value = Page {
        schema: "isobath.report.description/1",
        isobath: env!("CARGO_PKG_VERSION"),
        description,
    };
    embed(&serde_json::to_string(&value).map_err(Error::Json)?)
}
