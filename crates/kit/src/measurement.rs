//! One way to be a measurement.
//!
//! A measurement implements [`Measurement`]: what its records are called, how a summary is made of a record, its scorecard,
//! which figures compare. What a server does for it is a [`FarEnd`], found by the first line that a client says. Both are
//! typed; the [register](crate::register) lists them as [`Stored`] and [`Served`], which every one of them is by the two
//! blanket implementations here. So `show` (of whole and of killed runs), `report`, `compare`, `batch`, `export` and `serve`
//! know no measurement by name, and JSON becomes types in one place.

use crate::far::Equipment;
use record::{Record, Run};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use session::{Control, Error, Session};
use std::sync::Arc;

/// A kind of record, and what can be done with it.
pub trait Measurement: Sync {
    /// What `test` in `run.json` may be: the measurement's own name first.
    const TESTS: &'static [&'static str];
    /// The figures by which runs are compared, in the order in which a reader wants them.
    const FIGURES: &'static [Figure];
    /// What `summary` in `run.json` is.
    type Summary: DeserializeOwned + Serialize;

    /// The summary of a run that was killed before it could write one, from its plan and its tables.
    ///
    /// # Errors
    /// When the plan is of another version, or a table cannot be read.
    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary>;

    /// What a person reads of `run` on a terminal.
    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String;

    /// How the score and the penalties of `run` came about, for those that have any.
    fn explanation(&self, _: &Run, _: &Self::Summary) -> Option<String> {
        None
    }

    /// The round trips of the record's probes, which histograms over many runs are made of; none where it has none.
    ///
    /// # Errors
    /// As [`Measurement::summary`].
    fn round_trips(&self, _: &Record) -> anyhow::Result<RoundTrips> {
        Ok(RoundTrips::default())
    }

    /// The page of a record where it is not the common one.
    fn page(&self, _: &Record, _: &Run) -> Option<anyhow::Result<String>> {
        None
    }
}

/// How long probes took there and back, each in seconds.
#[derive(Debug, Default)]
pub struct RoundTrips {
    /// While the measurement itself did not load the path.
    pub idle: Vec<f64>,
    /// While it did.
    pub loaded: Vec<f64>,
}

/// What a server does for the clients of one measurement.
pub trait FarEnd: Sync {
    /// The key of the client's first line, whose value is the set-up.
    const OPENING: &'static str;
    /// What the server's log calls it.
    const NAME: &'static str = Self::OPENING;
    /// What the client says of its run.
    type Setup: DeserializeOwned;

    /// Serves the run that the client of `session` set up. Returns when it is over or the client is gone.
    ///
    /// # Errors
    /// Those of the control connection.
    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Self::Setup,
        equipment: &Equipment,
    ) -> Result<(), Error>;
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

/// A [`Measurement`] as the register has it.
pub trait Stored: Sync {
    /// See [`Measurement::TESTS`].
    fn tests(&self) -> &'static [&'static str];
    /// See [`Measurement::FIGURES`].
    fn figures(&self) -> &'static [Figure];
    /// The summary of a run that was killed, as JSON.
    ///
    /// # Errors
    /// As [`Measurement::summary`].
    fn summary_of(&self, record: &Record) -> anyhow::Result<Value>;
    /// The scorecard of `run`.
    ///
    /// # Errors
    /// When its summary is of another version.
    fn scorecard_of(&self, run: &Run) -> anyhow::Result<String>;
    /// How its score came about.
    ///
    /// # Errors
    /// When it has none, or its summary is of another version.
    fn explanation_of(&self, run: &Run) -> anyhow::Result<String>;
    /// See [`Measurement::round_trips`].
    ///
    /// # Errors
    /// As [`Measurement::summary`].
    fn round_trips_of(&self, record: &Record) -> anyhow::Result<RoundTrips>;
    /// See [`Measurement::page`].
    fn page_of(&self, record: &Record, run: &Run) -> Option<anyhow::Result<String>>;
}

impl<M: Measurement> Stored for M {
    fn tests(&self) -> &'static [&'static str] {
        M::TESTS
    }

    fn figures(&self) -> &'static [Figure] {
        M::FIGURES
    }

    fn summary_of(&self, record: &Record) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(self.summary(record)?)?)
    }

    fn scorecard_of(&self, run: &Run) -> anyhow::Result<String> {
        Ok(self.scorecard(run, &read(&run.summary, "summary")?))
    }

    fn explanation_of(&self, run: &Run) -> anyhow::Result<String> {
        let explanation = self.explanation(run, &read(&run.summary, "summary")?);
        explanation.ok_or_else(|| {
            anyhow::anyhow!("a record of test '{}' has no score to explain", run.test)
        })
    }

    fn round_trips_of(&self, record: &Record) -> anyhow::Result<RoundTrips> {
        self.round_trips(record)
    }

    fn page_of(&self, record: &Record, run: &Run) -> Option<anyhow::Result<String>> {
        self.page(record, run)
    }
}

/// A [`FarEnd`] as the register has it.
pub trait Served: Sync {
    /// See [`FarEnd::OPENING`].
    fn opening(&self) -> &'static str;
    /// See [`FarEnd::NAME`].
    fn name(&self) -> &'static str;
    /// Serves the run of which a client said this.
    ///
    /// # Errors
    /// Those of [`FarEnd::serve`]; [`Error::Malformed`] for a set-up that is none.
    fn serve_json(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Value,
        equipment: &Equipment,
    ) -> Result<(), Error>;
}

impl<F: FarEnd> Served for F {
    fn opening(&self) -> &'static str {
        F::OPENING
    }

    fn name(&self) -> &'static str {
        F::NAME
    }

    fn serve_json(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Value,
        equipment: &Equipment,
    ) -> Result<(), Error> {
        let setup = Deserialize::deserialize(&setup).map_err(|error| control.malformed(&error))?;
        self.serve(control, session, setup, equipment)
    }
}

/// The plan or the summary of a record as `T`.
///
/// # Errors
/// When it is of another version.
pub fn read<T: DeserializeOwned>(value: &Value, what: &str) -> anyhow::Result<T> {
    T::deserialize(value).map_err(|error| anyhow::anyhow!("run.json has another {what}: {error}"))
}
