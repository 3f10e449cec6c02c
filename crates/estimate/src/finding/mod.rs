//! What an estimator found, in the words and units of whoever asked.

pub(super) mod available;
pub(super) mod bottleneck;
pub(super) mod capacity;
pub(super) mod loss;
pub(super) mod steady;

use super::plan::What;
use schema::estimate::Finding;

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
