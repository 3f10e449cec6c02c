//! One way to be a measurement.
//!
//! A measurement is a value of [`Measurement`]: what its records are called, how a summary is made of a record, its
//! scorecard, which figures compare. From these follow `show` (of whole and of killed runs), `report`, `compare`, `batch` and
//! `export`, none of which knows any measurement by name. What a server does for it is a value of [`FarEnd`], found by the
//! first line that a client says.

use crate::far::Equipment;
use record::{Record, Run};
use serde::de::DeserializeOwned;
use serde_json::Value;
use session::{Control, Error, Session};
use std::sync::Arc;

/// A kind of record, and what can be done with it.
pub trait Measurement: Sync {
    /// What `test` in `run.json` may be: the measurement's own name first.
    fn tests(&self) -> &'static [&'static str];

    /// The summary of a run that was killed before it could write one, from its plan and its tables.
    ///
    /// # Errors
    /// When the plan is of another version, or a table cannot be read.
    fn summary(&self, record: &Record) -> anyhow::Result<Value>;

    /// What a person reads of `run` on a terminal.
    ///
    /// # Errors
    /// When its summary is of another version.
    fn scorecard(&self, run: &Run) -> anyhow::Result<String>;

    /// How the score and the penalties of `run` came about.
    ///
    /// # Errors
    /// When it has none.
    fn explanation(&self, run: &Run) -> anyhow::Result<String> {
        anyhow::bail!("a record of test '{}' has no score to explain", run.test)
    }

    /// The figures by which runs are compared, in the order in which a reader wants them.
    fn figures(&self) -> &'static [Figure];

    /// The page of a record where it is not the common one.
    fn page(&self, record: &Record, run: &Run) -> Option<anyhow::Result<String>> {
        let _ = (record, run);
        None
    }
}

/// A figure of a summary by which runs are compared.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// For people, without the unit.
    pub name: &'static str,
    /// Empty for a pure number; a JSON pointer where the summary itself says it.
    pub unit: &'static str,
    /// A JSON pointer (RFC 6901) into the summary, or two with ` - ` between them. `*` stands for every key of an object, or
    /// every element of an array by its `test`, and replaces `*` in the name.
    pub path: &'static str,
}

/// The same, shorter to write in a table.
pub const fn figure(name: &'static str, unit: &'static str, path: &'static str) -> Figure {
    Figure { name, unit, path }
}

/// What a server does for the clients of one measurement.
pub trait FarEnd: Sync {
    /// The key of the client's first line, whose value is the set-up.
    fn opening(&self) -> &'static str;

    /// Serves the run that the client of `session` set up. Returns when it is over or the client is gone.
    ///
    /// # Errors
    /// Those of the control connection; [`Error::Malformed`] for a set-up that is none.
    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Value,
        equipment: &Equipment,
    ) -> Result<(), Error>;
}

/// A set-up as its far end takes it.
///
/// # Errors
/// [`Error::Malformed`] when it is of another form.
pub fn read_setup<T: DeserializeOwned>(control: &Control, setup: Value) -> Result<T, Error> {
    serde_json::from_value(setup).map_err(|error| control.malformed(&error))
}

/// The plan or the summary of a record as `T`.
///
/// # Errors
/// When it is of another version.
pub fn read<T: DeserializeOwned>(value: &Value, what: &str) -> anyhow::Result<T> {
    T::deserialize(value).map_err(|error| anyhow::anyhow!("run.json has another {what}: {error}"))
}
