//! The score of a run, and its penalties.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The score. A part that was not measured is null; without all five there is no total.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Score {
    /// The sum of the five parts, 0 to 100.
    pub total: Option<f64>,
    /// Pages: how much of their idle speed remains under load.
    pub web: Option<f64>,
    /// Small exchanges: how much of their idle quickness remains, and whether any is lost.
    pub realtime: Option<f64>,
    /// Calls: how much of their idle quality remains.
    pub voip: Option<f64>,
    /// Classes: whether marks survive, background stays in the background, and the urgent class does not take all.
    pub classification: Option<f64>,
    /// Like streams: whether they share alike, and IPv6 as IPv4.
    pub fairness: Option<f64>,
    /// How each part came about, by its name.
    pub why: BTreeMap<String, String>,
}

/// Bad behaviour that the run has shown.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Penalty {
    /// For programs.
    pub code: String,
    /// For people: what was seen.
    pub message: String,
    /// Where it is to be seen: figures of the summary, or a table.
    pub evidence: String,
}
