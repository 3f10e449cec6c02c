//! Every measurement that a program has, and every far end that a server is: to add one is to add a line.

use crate::also::MakePage;
use crate::measurement::{RoundTrips, Served, Stored};
use anyhow::anyhow;
use record::{Record, Run};
use serde_json::Value;

/// What a program knows of.
pub struct Register {
    /// What records there are.
    pub measurements: &'static [&'static dyn Stored],
    /// What a server does for its clients.
    pub far_ends: &'static [&'static dyn Served],
    /// The page for browsers, where there is one.
    pub page: Option<MakePage>,
}

impl Register {
    /// The measurement whose records say `test`.
    ///
    /// # Errors
    /// When this program has none.
    pub fn of_test(&self, test: &str) -> anyhow::Result<&'static dyn Stored> {
        let mut all = self.measurements.iter();
        let found = all.find(|measurement| measurement.tests().contains(&test));
        found.copied().ok_or_else(|| {
            anyhow!("a record of test '{test}' has no scorecard here - look at it with --json")
        })
    }

    /// The run of a record; one that was killed before it could write a summary gets it from its tables.
    ///
    /// # Errors
    /// When its plan or its tables are of another version.
    pub fn completed(&self, record: &Record) -> anyhow::Result<Run> {
        let mut run = record.run().clone();
        let summary = run.summary.as_object();
        if summary.is_none_or(serde_json::Map::is_empty)
            && let Ok(measurement) = self.of_test(&run.test)
        {
            run.summary = measurement.summary_of(record)?;
        }
        Ok(run)
    }

    /// The round trips of a record's probes.
    ///
    /// # Errors
    /// When this program has no such measurement; when its plan or its tables are of another version.
    pub fn round_trips(&self, record: &Record) -> anyhow::Result<RoundTrips> {
        self.of_test(&record.run().test)?.round_trips_of(record)
    }

    /// The far end that the first line of a client asks for, and its set-up.
    pub fn far_end(&self, line: Value) -> Option<(&'static dyn Served, Value)> {
        let Value::Object(line) = line else {
            return None;
        };
        let (opening, setup) = line.into_iter().next()?;
        let mut all = self.far_ends.iter();
        let found = all.find(|far_end| far_end.opening() == opening)?;
        Some((*found, setup))
    }
}
