//! What became of a run: one for each that was planned, whatever happened.

use crate::figures;
use crate::file::Threshold;
use crate::{Moment, Name, PublicKey, RunId};
use kit::register::Register;
use record::{Run, Status, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The schema that this version writes.
pub const SCHEMA: &str = "isobath.outcome/1";

/// What became of a run; a message of the stream of results.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Outcome {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Which run.
    pub run: RunId,
    /// Where the host that measures stands.
    pub site: Option<Name>,
    /// Whether an operator asked for it, and not the schedule.
    #[serde(default)]
    pub on_demand: bool,
    /// When it was to begin, by the schedule.
    pub planned: Moment,
    /// When it began; null for one that did not.
    pub began: Option<Moment>,
    /// When it was over, or left out.
    pub ended: Moment,
    /// What became of it.
    pub status: Became,
    /// What it found, where the measurement has a question to answer.
    pub verdict: Option<Verdict>,
    /// Why it is not complete, in one line.
    pub reason: Option<String>,
    /// The measurement, as its record calls it; null where there is no record.
    pub test: Option<String>,
    /// The id of its record; its files are in the object store under the run's name.
    pub record: Option<String>,
    /// The files of the record, as they are in the object store: their names, and the SHA-256 of each in hexadecimal digits.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Version of isobath at the host that measured.
    pub isobath: String,
    /// The figures of its record.
    pub summary: Value,
}

/// An outcome as it was handed over.
#[derive(Clone, Debug, PartialEq)]
pub struct HandedOver {
    /// What was said.
    pub outcome: Outcome,
    /// Whose signature is under it; none without one that holds.
    pub signer: Option<PublicKey>,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// All that was planned was measured.
    Complete,
    /// It was cut short; what was measured is in its record.
    Incomplete,
    /// The instrument was the bottleneck.
    Invalid,
    /// Nothing could be measured.
    Failed,
    /// It never began.
    Missed,
}

impl From<Status> for Became {
    fn from(status: Status) -> Self {
        match status {
            Status::Complete => Self::Complete,
            Status::Incomplete => Self::Incomplete,
            Status::Invalid => Self::Invalid,
            Status::Failed => Self::Failed,
        }
    }
}

impl fmt::Display for Became {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Missed => "missed",
        })
    }
}

/// When a run was to begin, when it did and when it was over.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// By the schedule.
    pub planned: Moment,
    /// None for one that did not.
    pub began: Option<Moment>,
    /// Or left out.
    pub ended: Moment,
}

impl Outcome {
    /// Which of `thresholds` its figures are beyond: for each threshold whose figure it has, its name, and what is wrong, if anything is.
    pub(crate) fn held_against(
        &self,
        thresholds: &[Threshold],
        register: &Register,
    ) -> Vec<(String, Option<String>)> {
        // What an invalid or incomplete run has is no measurement.
        let test = self
            .test
            .as_deref()
            .filter(|_| self.status == Became::Complete);
        let held = thresholds.iter().filter_map(|threshold| {
            let name = threshold.figure.as_deref();
            let found = figures::named(register, test?, &self.summary, name)?;
            let exceeded = threshold.exceeded_by(&found);
            Some((found.name, exceeded))
        });
        held.collect()
    }

    /// That of a run without a record.
    pub fn without_record(
        run: RunId,
        site: Option<Name>,
        times: Times,
        status: Became,
        reason: String,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            run,
            site,
            on_demand: false,
            planned: times.planned,
            began: times.began,
            ended: times.ended,
            status,
            verdict: None,
            reason: Some(reason),
            test: None,
            record: None,
            files: BTreeMap::new(),
            isobath: env!("CARGO_PKG_VERSION").to_owned(),
            summary: Value::Null,
        }
    }

    /// That of a run whose record says this; `said` is what it complained about.
    pub fn of_record(
        run: RunId,
        site: Option<Name>,
        times: Times,
        record: Run,
        said: Option<String>,
    ) -> Self {
        let warning = record.warnings.into_iter().next();
        let reason = said.or_else(|| warning.map(|warning| warning.message));
        let status = Became::from(record.status);
        let unsaid = || "the record does not say why".to_owned();
        let reason = (status != Became::Complete).then(|| reason.unwrap_or_else(unsaid));
        Self {
            verdict: record.verdict,
            reason,
            test: Some(record.test),
            record: Some(record.id),
            summary: record.summary,
            ..Self::without_record(run, site, times, status, String::new())
        }
    }
}
