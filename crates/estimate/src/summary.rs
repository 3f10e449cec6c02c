//! The figures of a run.

use super::plan::Plan;
use super::run::Outcome;
use schema::estimate::Summary;

/// The summary of a run.
pub fn summarise(plan: &Plan, outcome: &Outcome) -> Summary {
    let traffic = &outcome.traffic;
    Summary {
        what: plan.what,
        direction: plan.direction.label().to_owned(),
        estimator: plan.method,
        unit: plan.what.unit().to_owned(),
        finding: outcome.finding.clone(),
        seconds: outcome.seconds,
        path_mtu: outcome.path_mtu,
        trains: traffic.trains,
        probes: traffic.probes,
        probes_lost: traffic.probes.saturating_sub(traffic.arrived),
        overhead_bytes: traffic.octets.saturating_sub(traffic.riders.octets),
        rider_bytes: traffic.riders.octets,
        links: outcome.truth.clone(),
    }
}
