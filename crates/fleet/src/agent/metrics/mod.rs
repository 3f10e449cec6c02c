//! What an agent counts and what its runs found last: kept here once, told as `OpenMetrics` to whoever asks ([`openmetrics`]) and by OTLP to
//! a collector ([`otlp`]).

pub(super) mod openmetrics;
pub(super) mod otlp;

use crate::Moment;
use crate::figures::{self, Found};
use crate::file::{FleetFile, Threshold};
use crate::outcome::{Became, Outcome};
use kit::register::Register;
use record::Verdict;
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
}

/// A metric; its name is without the prefix that all have.
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
    value: f64,
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
        let run = &outcome.run;
        let [fleet, measure, to] = [&run.fleet, &run.measure, &run.to].map(ToString::to_string);
        let told = self.runs.entry(Runs { fleet, measure, to }).or_default();
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
            value,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunId;
    use crate::outcome::Times;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    static NOTHING: Register = Register {
        measurements: &[],
        far_ends: &[],
        page: None,
    };
    const IDLE: Now = Now {
        is_connected: true,
        running: 0,
        unhanded: 0,
    };

    fn ended(metrics: &mut Metrics, run: &str) {
        let run: RunId = run.parse().unwrap();
        let times = Times {
            planned: run.instant,
            began: None,
            ended: run.instant,
        };
        let mut outcome =
            Outcome::without_record(run, None, times, Became::Complete, String::new());
        outcome.verdict = Some(Verdict::Fail);
        metrics.ended(&outcome, &NOTHING, &[]);
        let [fleet, measure, to] =
            [&outcome.run.fleet, &outcome.run.measure, &outcome.run.to].map(ToString::to_string);
        let told = metrics.runs.get_mut(&Runs { fleet, measure, to }).unwrap();
        told.figures = vec![Found {
            name: "throughput".to_owned(),
            unit: "Mbit/s".to_owned(),
            value: 4.5,
        }];
        told.exceeded.insert("throughput".to_owned(), true);
    }

    #[test]
    fn what_the_file_does_not_ask_for_any_more_is_no_longer_told() {
        let mut metrics = Metrics::of("a", None, Moment::default());
        for run in ["f.m.a.b", "f.m.a.c", "f.n.a.b", "g.n.a.b"] {
            ended(&mut metrics, &format!("{run}.20261125T080000000Z"));
        }
        let file = "name = 'f'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[measure]]\nname = 'm'\nrun = 'btc'\n\
                    pairs = { mesh = ['all'] }\ntakes = '20s'\nevery = '1min'";
        metrics.keep_to(&FleetFile::parse(file, "f").unwrap());
        let text = openmetrics::text(&metrics, &IDLE).unwrap();
        let told = |labels: &str| text.lines().filter(|line| line.contains(labels)).count();
        // Runs, the last one's time, a figure, a verdict, a threshold.
        assert_eq!(told(r#"fleet="f",measure="m",to="b""#), 5, "{text}");
        assert_eq!(told(r#"fleet="g""#), 5, "{text}");
        assert_eq!(told(r#"fleet="f""#), 5, "{text}");
    }

    /// The names of metrics in a text.
    fn named(text: &str) -> BTreeSet<String> {
        let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        let ours = words.filter(|word| word.starts_with("isobath_agent_"));
        ours.map(str::to_owned).collect()
    }

    #[test]
    fn rules_dashboards_and_documents_name_metrics_that_are_there() {
        let mut metrics = Metrics::of("a", Some("here"), Moment::default());
        ended(&mut metrics, "f.m.a.b.20261125T080000000Z");
        let text = openmetrics::text(&metrics, &IDLE).unwrap();
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        let told = named(&samples.collect::<Vec<_>>().join("\n"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |path: &str| named(&fs::read_to_string(root.join(path)).unwrap());
        for path in [
            "share/prometheus/isobath-alerts.yml",
            "share/grafana/isobath-fleet.json",
        ] {
            let unknown: Vec<_> = read(path).difference(&told).cloned().collect();
            assert!(unknown.is_empty(), "{path}: {unknown:?} of {told:?}");
        }
        let missing: Vec<_> = told.difference(&read("docs/fleet.md")).cloned().collect();
        assert!(
            missing.is_empty(),
            "docs/fleet.md does not have {missing:?}"
        );
    }
}
