//! What a run of `isobath estimate` found.

use super::plan::{Method, What};
use crate::LinkTruth;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stats::interval::Interval;
use std::fmt::Display;

/// What a run of `isobath estimate` found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Summary {
    /// The property that was asked for.
    pub what: What,
    /// Of which way: `up` is from the client to the server.
    pub direction: String,
    /// How it was sought.
    pub estimator: Method,
    /// The unit of `value`, `low` and `high`.
    pub unit: String,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// How long it took.
    pub seconds: f64,
    /// Octets of the longest packet that the path was seen to take, at most 1,500; null where nobody has looked.
    #[serde(default)]
    pub path_mtu: Option<u32>,
    /// Trains that were sent.
    pub trains: u32,
    /// Their probes.
    pub probes: u64,
    /// Probes that did not arrive; of echoed trains, that did not come back.
    pub probes_lost: u64,
    /// Octets that probing put on the path, IP headers included; riders apart.
    pub overhead_bytes: u64,
    /// Octets of the packets of applications that travelled inside probes.
    pub rider_bytes: u64,
    /// In a lab: what its links carried, queued and dropped.
    pub links: Vec<LinkTruth>,
}

/// A figure of a path, or why there is none.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Finding {
    /// The best guess; null when there is none.
    pub value: Option<f64>,
    /// The truth is at least this, as far as the method can tell; null when it cannot.
    pub low: Option<f64>,
    /// And at most this.
    pub high: Option<f64>,
    /// Whether the method came to an end at which it can be believed.
    pub conclusive: bool,
    /// What was found, or why nothing was, in a sentence.
    pub says: String,
    /// What else the method knows; see docs/estimate.md.
    pub details: Value,
}

impl Finding {
    /// Nothing can be said, because of this.
    pub fn none(says: impl Into<String>) -> Self {
        Self {
            says: says.into(),
            ..Self::default()
        }
    }

    /// A figure with its interval, times `unit`.
    #[must_use]
    pub fn within(self, interval: Option<Interval>, unit: f64) -> Self {
        Self {
            value: interval.map(|interval| interval.estimate * unit),
            low: interval.map(|interval| interval.low * unit),
            high: interval.map(|interval| interval.high * unit),
            conclusive: self.conclusive && interval.is_some(),
            ..self
        }
    }

    /// The path or a host does something that the figures have to be told with.
    #[must_use]
    pub fn noted(mut self, suspicion: &impl Display) -> Self {
        self.details["suspicion"] = json!(suspicion.to_string());
        self
    }

    /// It makes the figures wrong, for this reason: there are none then.
    #[must_use]
    pub fn doubted(self, suspicion: &impl Display, why: &str) -> Self {
        let told = [self.value, self.low, self.high];
        let mut details = self.noted(suspicion).details;
        details["not_believed"] = json!(told);
        Self {
            says: format!("{suspicion} - {why}"),
            details,
            ..Self::default()
        }
    }

    /// One that there was no room to try.
    #[must_use]
    pub fn untried(mut self) -> Self {
        self.says += "; not tried on a long train: the budget has no room for one";
        self.details["untried"] = json!(true);
        self
    }
}
