//! What an experiment leaves behind: cases that hold or do not, tables, and figures of any kind.
//!
//! A measurement's record has tables that its figures are known to. An experiment is freer: it runs many measurements,
//! and what it draws belongs to its own question. So it says **itself** what is on its axes, in a model that is small
//! enough to be written by hand and drawn by the same page as a record. The file is `experiment.json`:
//!
//! ```
//! use isobath_report::experiment::{Axis, Case, Experiment, Figure, Kind, Series, Source, Table};
//!
//! let experiment = Experiment::new("btc/agreement", "Ours and the kernel's TCP agree")
//!     .summary("Over 12 paths the median difference is 1.2 %.")
//!     .case(Case::new("median difference", "1.2 %", "at most 5 %").holds(true))
//!     .table(
//!         Table::new("Loss agreement")
//!             .column("within", "points")
//!             .column_of("paper", "%", Source::Paper)
//!             .column_of("ours", "%", Source::Ours)
//!             .row([1.0, 85.0, 91.0]),
//!     )
//!     .figure(
//!         Figure::new("stability", "Nine in ten pairs differ by less than 4 %")
//!             .caption("The difference between the two transfers of a pair.")
//!             .x(Axis::new("difference", "%"))
//!             .y(Axis::new("share of pairs", "%"))
//!             .series(Series::new("paper", Kind::Step, [(5.0, 60.0), (40.0, 90.0)]).source(Source::Paper))
//!             .series(Series::new("isobath", Kind::Step, [(0.5, 50.0), (4.0, 90.0)]).source(Source::Ours)),
//!     );
//! assert!(experiment.all_hold());
//! assert!(experiment.to_json()?.starts_with("{\n  \"schema\": \"isobath.experiment/1\""));
//! # Ok::<(), isobath_report::Error>(())
//! ```
//!
//! What a paper says stands beside what was found here: a series or a column says whose it is ([`Source`]).
//!
//! Every part is bounded by what a page can show; [`Experiment::check`] says which part is not.

pub(crate) mod check;
mod figure;
mod page;
mod table;

#[cfg(test)]
mod tests;

pub use figure::{Axis, Figure, Kind, Series};
pub use page::page;
pub use table::{Cell, Column, Table};

use crate::Error;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The schema that this version writes. The number is the major version.
pub const SCHEMA: &str = "isobath.experiment/1";

/// The name of the file that [`Experiment::to_json`] is written to.
pub const FILE: &str = "experiment.json";

/// Whose a number is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Read from the paper's text, table or figure.
    Paper,
    /// Measured, simulated or computed by this program.
    Ours,
}

/// An experiment and what came of it: the content of `experiment.json`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Experiment {
    /// Always [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// What it is run by: `mbm/vantage-point`.
    pub name: String,
    /// Its question, or what it is about, in one line.
    pub title: String,
    /// The answer in a few sentences of plain text.
    #[serde(default)]
    pub summary: String,
    /// When it was run (RFC 3339, UTC); null when nobody asked a clock.
    #[serde(default)]
    pub started: Option<String>,
    /// What was claimed, case by case, in the experiment's own order.
    #[serde(default)]
    pub cases: Vec<Case>,
    /// Figures, the most important first.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Tables, in the order to be shown in.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// What the reader should know before believing it: departures from the paper, cases left out.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Where the claims come from, as a reference in text: authors, title, year, section.
    #[serde(default)]
    pub papers: Vec<String>,
    /// Everything that would be needed to run it again: options, seed, versions. Any JSON object.
    #[serde(default)]
    pub plan: Value,
}

/// One claim, and whether it holds here.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Case {
    /// What it is about.
    pub name: String,
    /// What was found, in words or figures with their units: `PASS`, `1.2 % (n = 240)`; null when it could not be run.
    pub found: Option<String>,
    /// What the paper, a standard or theory says.
    pub expected: String,
    /// Whether what was found agrees; null when it cannot be told.
    pub holds: Option<bool>,
    /// The figures behind `found`, for programs. Names end in their unit. Any JSON value.
    #[serde(default)]
    pub figures: Value,
    /// Folder of its record, seen from that of `experiment.json`; null without one.
    #[serde(default)]
    pub record: Option<String>,
}

impl Experiment {
    /// An experiment of which nothing but its name and title is known.
    pub fn new(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            name: name.into(),
            title: title.into(),
            summary: String::new(),
            started: None,
            cases: Vec::new(),
            figures: Vec::new(),
            tables: Vec::new(),
            notes: Vec::new(),
            papers: Vec::new(),
            plan: Value::Null,
        }
    }

    /// With this answer.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Run at this time (RFC 3339).
    #[must_use]
    pub fn started(mut self, started: impl Into<String>) -> Self {
        self.started = Some(started.into());
        self
    }

    /// With this case behind the others.
    #[must_use]
    pub fn case(mut self, case: Case) -> Self {
        self.cases.push(case);
        self
    }

    /// With this figure behind the others.
    #[must_use]
    pub fn figure(mut self, figure: Figure) -> Self {
        self.figures.push(figure);
        self
    }

    /// With this table behind the others.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// With this note behind the others.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With this reference behind the others.
    #[must_use]
    pub fn paper(mut self, paper: impl Into<String>) -> Self {
        self.papers.push(paper.into());
        self
    }

    /// Run by this plan.
    #[must_use]
    pub fn plan(mut self, plan: Value) -> Self {
        self.plan = plan;
        self
    }

    /// Whether every case that could be told holds, and at least one could.
    pub fn all_hold(&self) -> bool {
        let mut told = self.cases.iter().filter_map(|case| case.holds).peekable();
        told.peek().is_some() && told.all(|holds| holds)
    }

    /// The content of `experiment.json`.
    ///
    /// # Errors
    /// [`Error::Experiment`] when a part of it cannot be drawn ([`Experiment::check`]), or [`Error::Json`].
    pub fn to_json(&self) -> Result<String, Error> {
        self.check()?;
        serde_json::to_string_pretty(self).map_err(Error::Json)
    }

    /// Reads what [`Experiment::to_json`] wrote, or what another program did.
    ///
    /// # Errors
    /// [`Error::NotAnExperiment`] when it is not JSON of this schema, [`Error::Experiment`] when a part of it cannot be
    /// drawn.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        let read: Self = serde_json::from_str(json).map_err(Error::NotAnExperiment)?;
        read.check()?;
        Ok(read)
    }
}

impl Case {
    /// A case of which `found` was found where `expected` was to be.
    pub fn new(
        name: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            found: Some(found.into()),
            ..Self::not_run(name, expected)
        }
    }

    /// A case that could not be run.
    pub fn not_run(name: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            found: None,
            expected: expected.into(),
            holds: None,
            figures: Value::Null,
            record: None,
        }
    }

    /// With this verdict.
    #[must_use]
    pub fn holds(mut self, holds: bool) -> Self {
        self.holds = Some(holds);
        self
    }

    /// With these figures behind it.
    #[must_use]
    pub fn figures(mut self, figures: Value) -> Self {
        self.figures = figures;
        self
    }

    /// With the folder of its record.
    #[must_use]
    pub fn record(mut self, folder: impl Into<String>) -> Self {
        self.record = Some(folder.into());
        self
    }
}

/// The JSON Schema (draft 2020-12) of `experiment.json`.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator();
    schema.into_root_schema_for::<Experiment>().to_value()
}
