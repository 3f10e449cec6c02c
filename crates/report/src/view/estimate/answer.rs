//! The answer: what was asked of the path, what was found, and what that cost.

use super::truth::Truth;
use crate::number::short;
use crate::told;
use record::Run;
use schema::Direction;
use schema::estimate::plan::{Method, What};
use schema::estimate::{Plan, Summary};
use serde::Serialize;

/// The answer of a run. Of a run that was killed only the question is known.
#[derive(Serialize)]
pub(super) struct Answer {
    /// The property: `rtt`, `owd`, `jitter`, `loss`, `capacity`, `available` or `bottleneck`.
    pub(super) what: Option<What>,
    /// `up` is from the client to the server.
    pub(super) direction: Option<Direction>,
    pub(super) estimator: Option<Method>,
    unit: Option<&'static str>,
    /// The best guess in `unit`; the truth is at least `low` and at most `high`, as far as the estimator can tell.
    pub(super) value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    /// Whether the estimator came to an end at which it can be believed; null when it did not come to one.
    pub(super) conclusive: Option<bool>,
    pub(super) says: Option<String>,
    seconds: Option<f64>,
    trains: Option<u32>,
    probes: Option<u64>,
    probes_lost: Option<u64>,
    /// Octets that probing put on the path, IP headers included, and those of applications inside probes.
    overhead_bytes: Option<u64>,
    rider_bytes: Option<u64>,
    /// Of a lab whose counters tell it.
    truth: Option<Truth>,
}

impl Answer {
    pub(super) fn of(run: &Run, summary: Option<&Summary>) -> Self {
        let plan = told::plan::<Plan>(run);
        let plan = plan.as_ref();
        let finding = summary.map(|summary| &summary.finding);
        let what = plan.map(|plan| plan.what);
        let direction = plan.map(|plan| plan.direction);
        let truth = summary.zip(direction);
        Self {
            what,
            direction,
            estimator: plan.map(|plan| plan.method),
            unit: what.filter(|_| summary.is_some()).map(What::unit),
            value: finding.and_then(|finding| finding.value).map(short),
            low: finding.and_then(|finding| finding.low).map(short),
            high: finding.and_then(|finding| finding.high).map(short),
            conclusive: finding.map(|finding| finding.conclusive),
            says: finding.map(|finding| finding.says.clone()),
            seconds: summary.map(|summary| short(summary.seconds)),
            trains: summary.map(|summary| summary.trains),
            probes: summary.map(|summary| summary.probes),
            probes_lost: summary.map(|summary| summary.probes_lost),
            overhead_bytes: summary.map(|summary| summary.overhead_bytes),
            rider_bytes: summary.map(|summary| summary.rider_bytes),
            truth: truth.and_then(|(summary, way)| Truth::of(run, summary, way.label())),
        }
    }
}
