//! What a client is told, as JSON.

use super::offers::WAYS;
use estimate::riding::Measured;
use jiff::Timestamp;
use probe::service::{Cost, Estimate, Failure, Figure, Known, Refusal, Side};
use schema::estimate::plan::{Method, What};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{Bytes, Instant};

/// An estimate of a path's property.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Answer {
    /// What was asked for.
    pub what: What,
    /// Where the path begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// The figure; null when there is none to be believed.
    pub value: Option<f64>,
    /// The truth is at least this, as far as the estimator can tell.
    pub low: Option<f64>,
    /// And at most this.
    pub high: Option<f64>,
    /// The unit of the figures.
    pub unit: String,
    /// Whether the estimator came to an end at which it can be believed.
    pub conclusive: bool,
    /// Why it is not conclusive; null when it is.
    pub reason: Option<String>,
    /// How it was found.
    pub estimator: Method,
    /// When the measurement was over.
    #[schemars(with = "String")]
    pub measured: Timestamp,
    /// How good the answer is, and what it cost.
    pub quality: Quality,
    /// How long the measurement took.
    pub seconds: f64,
    /// Whether it was made for another query.
    pub shared: bool,
    /// The figures before the correction for packets that rode; null where nothing was subtracted.
    pub uncorrected: Option<Range>,
    /// Of a crossing: what was crossed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
}

/// The quality tuple.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Quality {
    /// Since the measurement was over.
    pub age_s: f64,
    /// Half of the interval as a share of the value; null where there is no interval.
    pub interval_pct: Option<f64>,
    /// Octets that probing put on the path, IP headers included, riders apart.
    pub overhead_bytes: u64,
    /// Octets of applications' packets that travelled inside probes.
    pub rider_bytes: u64,
}

/// A figure and what holds it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Range {
    /// The figure.
    pub value: Option<f64>,
    /// At least.
    pub low: Option<f64>,
    /// At most.
    pub high: Option<f64>,
}

/// A bound, and on which side of it the figure is now.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Threshold {
    /// `above` or `below`.
    pub side: String,
    /// The bound.
    pub value: f64,
}

/// What the service keeps of an estimate beside the figure.
#[derive(Clone, Debug)]
pub(super) struct More {
    measured: Timestamp,
    seconds: f64,
    overhead: u64,
    ridden: u64,
    says: String,
    uncorrected: Option<Range>,
}

/// A measurement's result, as the service's decisions and its answers need it.
pub(super) fn estimate(measured: &Measured) -> Estimate<More> {
    let finding = &measured.finding;
    Estimate {
        figure: Figure {
            value: finding.value,
            low: finding.low,
            high: finding.high,
            conclusive: finding.conclusive,
        },
        octets: measured.overhead,
        took: Duration::try_from_secs_f64(measured.seconds).unwrap_or_default(),
        more: More {
            measured: Timestamp::now(),
            seconds: measured.seconds,
            overhead: measured.overhead,
            ridden: measured.ridden,
            says: finding.says.clone(),
            uncorrected: uncorrected(measured),
        },
    }
}

/// Whoever corrects for riders tells what was found before.
fn uncorrected(measured: &Measured) -> Option<Range> {
    let finding = &measured.finding;
    let raw = finding.details.get("uncorrected")?;
    Deserialize::deserialize(raw)
        .ok()
        .filter(|_| finding.conclusive)
}

impl Answer {
    /// An estimate of the path between two nodes; none for one of no way that there is.
    pub(super) fn new(
        known: &Known<More>,
        [from, to]: [&str; 2],
        is_shared: bool,
        now: Instant,
    ) -> Option<Self> {
        let way = WAYS.get(known.offer)?;
        let (figure, more) = (&known.estimate.figure, &known.estimate.more);
        let is_conclusive = figure.conclusive;
        Some(Self {
            what: way.what,
            from: from.to_owned(),
            to: to.to_owned(),
            value: figure.value.filter(|_| is_conclusive),
            low: figure.low,
            high: figure.high,
            unit: way.what.unit().to_owned(),
            conclusive: is_conclusive,
            reason: (!is_conclusive).then(|| more.says.clone()),
            estimator: way.method,
            measured: more.measured,
            quality: Quality {
                age_s: now.since(known.ended).as_secs_f64(),
                interval_pct: figure.interval_pct().filter(|_| is_conclusive),
                overhead_bytes: more.overhead,
                rider_bytes: more.ridden,
            },
            seconds: more.seconds,
            shared: is_shared,
            uncorrected: more.uncorrected,
            threshold: None,
        })
    }

    pub(super) fn crossed(self, side: Side, bound: f64) -> Self {
        let side = match side {
            Side::Above => "above",
            Side::Below => "below",
        };
        let threshold = Threshold {
            side: side.to_owned(),
            value: bound,
        };
        Self {
            threshold: Some(threshold),
            ..self
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Error {
    /// One line: what, and what to do.
    pub error: String,
}

/// The status of HTTP and the line for a refusal.
pub(super) fn refusal(refusal: &Refusal) -> (u16, String) {
    match refusal {
        Refusal::What => (400, NO_ROUTERS.to_owned()),
        Refusal::Quality(best) => (409, quality(best.as_ref())),
        Refusal::Queries(open) => (
            429,
            format!("{open} queries are open, and no more are taken - ask again in a few seconds"),
        ),
        Refusal::Failed(Failure::Budget(octets)) => (
            503,
            format!(
                "the path's budget of {octets} octets a second is spent - ask for something that costs less, later, or raise budget.rate"
            ),
        ),
        Refusal::Failed(Failure::Overhead) => (
            409,
            "it would have taken more octets than max_overhead - allow more, or take an older answer (max_age)".to_owned(),
        ),
        Refusal::Failed(Failure::Other(reason)) => (503, reason.clone()),
        Refusal::Timeout => (
            504,
            "there was no answer in time - ask with a longer timeout".to_owned(),
        ),
    }
}

/// Why nobody is asked for the bottleneck.
pub(super) const NO_ROUTERS: &str = "the probes of managers reach no routers, so 'bottleneck' is not found by them - use 'isobath estimate bottleneck HOST'";

fn quality(best: Option<&(&str, Cost)>) -> String {
    let Some((estimator, cost)) = best else {
        return "that estimator does not find this property - leave 'estimator' out".to_owned();
    };
    let octets = Bytes::new(cost.octets);
    let seconds = cost.time.as_secs_f64();
    let interval = cost.interval_pct.map_or_else(
        || "no interval".to_owned(),
        |pct| format!("an interval of {pct:.1} % either way"),
    );
    format!(
        "no estimator meets the limits on accuracy, overhead and time - the best is {estimator} with {interval}, some {octets} and {seconds:.0} s"
    )
}
