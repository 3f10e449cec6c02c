//! What an estimator found, in the words and units of whoever asked.

pub(super) mod available;
pub(super) mod bottleneck;
pub(super) mod capacity;
pub(super) mod loss;
pub(super) mod steady;

use super::plan::What;
use probe::suspicion::Suspicion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stats::interval::Interval;

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
    pub(super) fn within(self, interval: Option<Interval>, unit: f64) -> Self {
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
    pub(super) fn noted(mut self, suspicion: &Suspicion) -> Self {
        self.details["suspicion"] = json!(suspicion.to_string());
        self
    }

    /// It makes the figures wrong, for this reason: there are none then.
    #[must_use]
    pub(super) fn doubted(self, suspicion: &Suspicion, why: &str) -> Self {
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

/// Megabits a second.
fn mbps(bps: f64) -> f64 {
    bps / 1e6
}

/// A figure with its unit, for people.
pub fn words(what: What, finding: &Finding) -> String {
    let unit = what.unit();
    let Some(value) = finding.value else {
        return "unknown".to_owned();
    };
    let digits = match what {
        What::Bottleneck => 0,
        _ if value.abs() >= 100.0 => 1,
        _ => 2,
    };
    let number = |figure: f64| format!("{figure:.digits$}");
    match (finding.low, finding.high) {
        (Some(low), Some(high)) if low < high => {
            format!(
                "{} {unit} ({} to {})",
                number(value),
                number(low),
                number(high)
            )
        }
        (Some(low), None) => format!("at least {} {unit}", number(low)),
        _ => format!("{} {unit}", number(value)),
    }
}
