//! What estimators of the capacity found.

use super::mbps;
use probe::pathrate::{Estimate, Mode, Outcome};
use schema::estimate::Finding;
use serde_json::json;

/// By pathrate: the rate of the slowest link.
pub(in super::super) fn of_pathrate(estimate: &Estimate) -> Finding {
    let says = match estimate.outcome {
        Outcome::Conclusive => {
            "pairs of packets come through the slowest link at this rate more often than at any other above what long trains tell"
        }
        Outcome::Quick => "trains of all lengths tell nearly the same: the path is lightly loaded",
        Outcome::Weak => {
            "few pairs tell this rate, as on a path that is loaded throughout: it may be another one"
        }
        Outcome::AtLeast => {
            "a lower bound: nothing tells the slowest link from a loaded one, or from the hosts"
        }
        Outcome::TooFewArrivals => "too many probes were lost to tell more than a lower bound",
    };
    let mode = |mode: &Mode| json!({ "mbps": [mbps(mode.low_bps), mbps(mode.high_bps)], "share": mode.strength });
    let capacity = estimate.capacity;
    let bounded = !matches!(estimate.outcome, Outcome::AtLeast | Outcome::TooFewArrivals);
    Finding {
        value: capacity.map(|found| mbps(found.value_bps)),
        low: capacity.map(|found| mbps(found.low_bps)),
        high: capacity
            .filter(|_| bounded)
            .map(|found| mbps(found.high_bps)),
        conclusive: matches!(estimate.outcome, Outcome::Conclusive | Outcome::Quick),
        says: says.to_owned(),
        details: json!({
            "modes": estimate.modes.iter().map(mode).collect::<Vec<_>>(),
            "asymptotic_mbps": estimate.asymptotic_bps.map(mbps),
            "longest_train": estimate.length,
        }),
    }
}
