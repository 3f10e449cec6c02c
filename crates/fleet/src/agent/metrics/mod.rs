//! What an agent counts and what its runs found last: kept here once, told to whoever asks as `OpenMetrics` ([`openmetrics`]) or in Prometheus'
//! own format ([`protobuf`]), and by OTLP to a collector ([`otlp`]).

pub(super) mod openmetrics;
pub(super) mod otlp;
pub(super) mod protobuf;
#[cfg(test)]
mod tests;

use crate::figures::{self, Found};
use crate::file::{FleetFile, Threshold};
use crate::outcome::{Became, Outcome};
use crate::{Moment, RunId};
use kit::measurement::RoundTrips;
use kit::register::Register;
use record::Verdict;
use stats::Histogram;
use std::collections::BTreeMap;

/// Runs of a measurement towards a host.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Runs {
    fleet: String,
    measure: String,
    to: String,
}

/// What is told of them.
#[derive(Default)]
struct Told {
    ended: BTreeMap<Became, u64>,
    last: Moment,
    /// Of the last complete run.
    figures: Vec<Found>,
    /// Of the last run with a verdict.
    passed: Option<bool>,
    /// Whether figures of the last complete run are beyond a threshold.
    exceeded: BTreeMap<String, bool>,
    /// Of probes of all complete runs, in seconds: while the run did not load its path, and while it did.
    idle: Histogram,
    loaded: Histogram,
}

/// What is so at this moment.
pub(super) struct Now {
    /// Whether there is a link to NATS.
    pub(super) is_connected: bool,
    /// Runs under way.
    pub(super) running: usize,
    /// Outcomes that are not handed over.
    pub(super) unhanded: usize,
}

/// All of it since the agent's start.
pub(super) struct Metrics {
    name: String,
    site: Option<String>,
    since: Moment,
    runs: BTreeMap<Runs, Told>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Gauge,
    Counter,
    Histogram,
}

/// A metric; its name is without the prefix that all have, and without its unit.
#[derive(Debug)]
struct Metric {
    name: &'static str,
    help: &'static str,
    kind: Kind,
    is_seconds: bool,
    samples: Vec<Sample>,
}

#[derive(Debug)]
struct Sample {
    labels: Vec<(&'static str, String)>,
    value: Value,
}

/// One of a histogram is a histogram.
#[derive(Debug)]
enum Value {
    Number(f64),
    Histogram(Histogram),
}

impl Metrics {
    /// Of the agent `name` at `site`, which counts since `since`.
    pub(super) fn of(name: &str, site: Option<&str>, since: Moment) -> Self {
        Self {
            name: name.to_owned(),
            site: site.map(str::to_owned),
            since,
            runs: BTreeMap::new(),
        }
    }

    /// A run has ended.
    pub(super) fn ended(
        &mut self,
        outcome: &Outcome,
        register: &Register,
        thresholds: &[Threshold],
    ) {
        let told = self.of_run(&outcome.run);
        *told.ended.entry(outcome.status).or_default() += 1;
        told.last = outcome.ended;
        match outcome.verdict {
            Some(Verdict::Pass) => told.passed = Some(true),
            Some(Verdict::Fail) => told.passed = Some(false),
            _ => {}
        }
        // What an invalid or incomplete run has is no measurement to look at by itself.
        if outcome.status != Became::Complete {
            return;
        }
        let test = outcome.test.as_deref().unwrap_or_default();
        told.figures = figures::all(register, test, &outcome.summary).collect();
        told.exceeded.clear();
        for (figure, beyond) in outcome.held_against(thresholds, register) {
            *told.exceeded.entry(figure).or_default() |= beyond.is_some();
        }
    }

    /// The probes of a complete run were back after so long.
    pub(super) fn took(&mut self, run: &RunId, found: RoundTrips) {
        let told = self.of_run(run);
        told.idle.extend(found.idle);
        told.loaded.extend(found.loaded);
    }

    fn of_run(&mut self, run: &RunId) -> &mut Told {
        let [fleet, measure, to] = [&run.fleet, &run.measure, &run.to].map(ToString::to_string);
        self.runs.entry(Runs { fleet, measure, to }).or_default()
    }

    /// Forgets what is not in the fleet's `file` any more: of a measurement or a host that is gone nobody waits for another run.
    pub(super) fn keep_to(&mut self, file: &FleetFile) {
        let has = |runs: &Runs| {
            file.measures
                .iter()
                .any(|measure| measure.name.as_str() == runs.measure)
                && file.hosts.iter().any(|host| host.name.as_str() == runs.to)
        };
        self.runs
            .retain(|runs, _| runs.fleet != file.name.as_str() || has(runs));
    }

    /// What is told of the agent itself.
    fn build(&self) -> [(&'static str, String); 3] {
        [
            ("name", self.name.clone()),
            ("site", self.site.clone().unwrap_or_default()),
            ("version", session::VERSION.to_owned()),
        ]
    }

    /// Everything as it is `now`.
    fn all(&self, now: &Now) -> Vec<Metric> {
        let one = |value| vec![Sample::of([], value)];
        vec![
            Metric::gauge("connected", "Whether NATS is reached (1) or away (0)")
                .with(one(flag(now.is_connected))),
            Metric::gauge("running", "Runs under way").with(one(now.running as f64)),
            Metric::gauge(
                "unhanded",
                "Outcomes that wait on this host to be handed over",
            )
            .with(one(now.unhanded as f64)),
            Metric {
                kind: Kind::Counter,
                ..Metric::gauge("runs", "Runs that have ended, by what became of them")
            }
            .with(self.each(Told::ended)),
            Metric {
                is_seconds: true,
                ..Metric::gauge("last_run_timestamp", "When the last run ended, since 1970")
            }
            .with(self.each(|told| one(told.last.as_millis() as f64 / 1e3))),
            Metric::gauge(
                "figure",
                "The figures of the last run that was complete, in their unit",
            )
            .with(self.each(Told::figures)),
            Metric::gauge(
                "passed",
                "Whether the last run with a verdict passed (1) or failed (0)",
            )
            .with(self.each(|told| told.passed.map(flag).map_or_else(Vec::new, one))),
            Metric::gauge(
                "threshold_exceeded",
                "Whether a figure of the last complete run is beyond a threshold of the fleet file (1) or within (0)",
            )
            .with(self.each(Told::exceeded)),
            Metric {
                kind: Kind::Histogram,
                is_seconds: true,
                ..Metric::gauge(
                    "round_trip",
                    "Round trips of the probes of complete runs, before a run loads its path and while it does",
                )
            }
            .with(self.each(Told::round_trips)),
        ]
    }

    /// What `of` tells of each, labelled with what it is of.
    fn each(&self, of: impl Fn(&Told) -> Vec<Sample>) -> Vec<Sample> {
        let labelled = |(runs, told): (&Runs, &Told)| {
            let Runs { fleet, measure, to } = runs.clone();
            let mut samples = of(told);
            for sample in &mut samples {
                let labels = [("fleet", &fleet), ("measure", &measure), ("to", &to)];
                let labels = labels.map(|(label, of)| (label, of.clone()));
                sample.labels.splice(..0, labels);
            }
            samples
        };
        self.runs.iter().flat_map(labelled).collect()
    }
}

impl Told {
    fn ended(&self) -> Vec<Sample> {
        let ended = self.ended.iter();
        let one = |(status, count): (&Became, &u64)| {
            Sample::of([("status", status.to_string())], *count as f64)
        };
        ended.map(one).collect()
    }

    fn figures(&self) -> Vec<Sample> {
        let figures = self.figures.iter();
        let one = |found: &Found| {
            let labels = [("figure", found.name.clone()), ("unit", found.unit.clone())];
            Sample::of(labels, found.value)
        };
        figures.map(one).collect()
    }

    fn round_trips(&self) -> Vec<Sample> {
        let both = [("idle", &self.idle), ("loaded", &self.loaded)];
        let found = both.into_iter().filter(|(_, found)| found.count() > 0);
        let one = |(load, found): (&'static str, &Histogram)| Sample {
            labels: vec![("load", load.to_owned())],
            value: Value::Histogram(found.clone()),
        };
        found.map(one).collect()
    }

    fn exceeded(&self) -> Vec<Sample> {
        let exceeded = self.exceeded.iter();
        let one =
            |(figure, is): (&String, &bool)| Sample::of([("figure", figure.clone())], flag(*is));
        exceeded.map(one).collect()
    }
}

impl Sample {
    fn of<const N: usize>(labels: [(&'static str, String); N], value: f64) -> Self {
        Self {
            labels: labels.into(),
            value: Value::Number(value),
        }
    }
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}

impl Metric {
    fn gauge(name: &'static str, help: &'static str) -> Self {
        Self {
            name,
            help,
            kind: Kind::Gauge,
            is_seconds: false,
            samples: Vec::new(),
        }
    }

    fn with(self, samples: Vec<Sample>) -> Self {
        Self { samples, ..self }
    }
}
