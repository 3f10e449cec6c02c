//! What an estimator found, in the words and units of whoever asked.

use super::plan::What;
use probe::pathload;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A figure of a path, or why there is none.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub(crate) struct Finding {
    /// The best guess; null when there is none.
    pub(crate) value: Option<f64>,
    /// The truth is at least this, as far as the method can tell; null when it cannot.
    pub(crate) low: Option<f64>,
    /// And at most this.
    pub(crate) high: Option<f64>,
    /// Whether the method came to an end at which it can be believed.
    pub(crate) conclusive: bool,
    /// What was found, or why nothing was, in a sentence.
    pub(crate) says: String,
    /// What else the method knows; see docs/estimate.md.
    pub(crate) details: Value,
}

impl Finding {
    /// Nothing can be said, because of this.
    pub(crate) fn none(says: impl Into<String>) -> Self {
        Self {
            says: says.into(),
            ..Self::default()
        }
    }

    /// The same figures, which are not to be believed because of this.
    #[must_use]
    pub(crate) fn doubted(self, why: &str) -> Self {
        Self {
            conclusive: false,
            says: format!("{why}; {}", self.says),
            ..self
        }
    }
}

/// Megabits a second.
fn mbps(bps: f64) -> f64 {
    bps / 1e6
}

/// What pathload found: the available bandwidth beside the riders that would have competed with its last stream.
pub(crate) fn of_pathload(estimate: &pathload::Estimate) -> Finding {
    use pathload::Outcome;
    let [last, fleet] = estimate.competing_bps;
    let beside = |bps: f64| mbps((bps - last).max(0.0));
    let (low, high) = (beside(estimate.low_bps), beside(estimate.high_bps));
    let range = format!("{low:.2} to {high:.2} Mbit/s");
    let (conclusive, says) = match estimate.outcome {
        Outcome::Conclusive => (true, format!("{range} are available")),
        Outcome::Grey => (
            true,
            format!("what is available varied while it was measured: {range}"),
        ),
        Outcome::AtLeast => (
            false,
            format!("at least {low:.2} Mbit/s, the fastest that was sent; allow more with --most"),
        ),
        Outcome::Unfinished => (
            false,
            format!("streams contradicted each other; {range} were not excluded"),
        ),
        Outcome::Untimed => (
            false,
            "the sender could not keep its gaps: use a host that does less".to_owned(),
        ),
    };
    let known = estimate.outcome != Outcome::Untimed;
    let at_least = estimate.outcome == Outcome::AtLeast;
    Finding {
        value: known.then(|| f64::midpoint(low, high)),
        low: known.then_some(low),
        high: (known && !at_least).then_some(high),
        conclusive,
        says,
        details: json!({
            "streams": estimate.streams,
            "grey_mbps": estimate.grey_bps.map(|grey| grey.map(mbps)),
            "competing_last_stream_mbps": mbps(last),
            "competing_fleet_mbps": mbps(fleet),
        }),
    }
}

/// A figure with its unit, for people.
pub(crate) fn words(what: What, finding: &Finding) -> String {
    let unit = what.unit();
    let Some(value) = finding.value else {
        return "unknown".to_owned();
    };
    let digits = if value.abs() >= 100.0 { 1 } else { 2 };
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
