//! The figures of a run.

use super::finding::Finding;
use super::plan::{Method, Plan, What};
use super::run::Outcome;
use kit::lab_counters::LinkTruth;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests;
