//! The answer: what was asked of the path, what was found, and what that cost.

use super::truth::Truth;
use crate::number::short;
use record::Run;
use serde::Serialize;

/// The answer of a run. Of a run that was killed only the question is known.
#[derive(Serialize)]
pub(super) struct Answer {
    /// The property: `rtt`, `owd`, `jitter`, `loss`, `capacity`, `available` or `bottleneck`.
    pub(super) what: Option<String>,
    /// `up` is from the client to the server.
    pub(super) direction: Option<String>,
    pub(super) estimator: Option<String>,
    unit: Option<String>,
    /// The best guess in `unit`; the truth is at least `low` and at most `high`, as far as the estimator can tell.
    pub(super) value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    /// Whether the estimator came to an end at which it can be believed; null when it did not come to one.
    pub(super) conclusive: Option<bool>,
    pub(super) says: Option<String>,
    seconds: Option<f64>,
    trains: Option<u64>,
    probes: Option<u64>,
    probes_lost: Option<u64>,
    /// Octets that probing put on the path, IP headers included, and those of applications inside probes.
    overhead_bytes: Option<u64>,
    rider_bytes: Option<u64>,
    /// Of a lab whose books tell it.
    truth: Option<Truth>,
}

impl Answer {
    pub(super) fn of(run: &Run) -> Self {
        let (summary, plan) = (&run.summary, &run.plan);
        let word = |key: &str| summary[key].as_str().map(str::to_owned);
        let asked = |key: &str, planned: &str| {
            let planned = plan[planned].as_str().map(str::to_lowercase);
            word(key).or(planned)
        };
        let figure = |key: &str| summary[key].as_f64().map(short);
        let count = |key: &str| summary[key].as_u64();
        let direction = asked("direction", "direction");
        Self {
            what: asked("what", "what"),
            estimator: asked("estimator", "method"),
            unit: word("unit"),
            value: figure("value"),
            low: figure("low"),
            high: figure("high"),
            conclusive: summary["conclusive"].as_bool(),
            says: word("says"),
            seconds: figure("seconds"),
            trains: count("trains"),
            probes: count("probes"),
            probes_lost: count("probes_lost"),
            overhead_bytes: count("overhead_bytes"),
            rider_bytes: count("rider_bytes"),
            truth: direction.as_deref().and_then(|way| Truth::of(run, way)),
            direction,
        }
    }
}
