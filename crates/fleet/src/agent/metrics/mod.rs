//! What an agent counts and what its runs found last, as `OpenMetrics`.

use crate::figures;
use crate::file::{FleetFile, Threshold};
use crate::outcome::{Became, Outcome};
use kit::register::Register;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use record::Verdict;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::AtomicU64;

/// A gauge of any number.
type Real = Gauge<f64, AtomicU64>;

/// Runs of a measurement towards a host.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Runs {
    fleet: String,
    measure: String,
    to: String,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Ended {
    fleet: String,
    measure: String,
    to: String,
    status: String,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Shown {
    fleet: String,
    measure: String,
    to: String,
    figure: String,
    unit: String,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Bounded {
    fleet: String,
    measure: String,
    to: String,
    figure: String,
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

/// What there is of the runs of a measurement towards a host.
#[derive(Default)]
struct Series {
    ended: HashSet<Ended>,
    shown: HashSet<Shown>,
    bounded: HashSet<Bounded>,
}

/// All of it since the agent's start.
pub(super) struct Metrics {
    registry: Registry,
    series: HashMap<Runs, Series>,
    ended: Family<Ended, Counter>,
    last: Family<Runs, Real>,
    figures: Family<Shown, Real>,
    passed: Family<Runs, Gauge>,
    exceeded: Family<Bounded, Gauge>,
    connected: Gauge,
    running: Gauge,
    unhanded: Gauge,
}

impl Metrics {
    /// Of the agent `name` at `site`.
    pub(super) fn of(name: &str, site: Option<&str>) -> Self {
        let mut this = Self {
            registry: Registry::with_prefix("isobath_agent"),
            series: HashMap::new(),
            ended: Family::default(),
            last: Family::default(),
            figures: Family::default(),
            passed: Family::default(),
            exceeded: Family::default(),
            connected: Gauge::default(),
            running: Gauge::default(),
            unhanded: Gauge::default(),
        };
        let labels = [
            ("name", name.to_owned()),
            ("site", site.unwrap_or_default().to_owned()),
            ("version", session::VERSION.to_owned()),
        ];
        let registry = &mut this.registry;
        registry.register("build", "The agent", Info::new(labels.to_vec()));
        let help = "Whether NATS is reached (1) or away (0)";
        registry.register("connected", help, this.connected.clone());
        registry.register("running", "Runs under way", this.running.clone());
        let help = "Outcomes that wait on this host to be handed over";
        registry.register("unhanded", help, this.unhanded.clone());
        let help = "Runs that have ended, by what became of them";
        registry.register("runs", help, this.ended.clone());
        let help = "When the last run ended, since 1970";
        let unit = Unit::Seconds;
        registry.register_with_unit("last_run_timestamp", help, unit, this.last.clone());
        let help = "The figures of the last run that was complete, in their unit";
        registry.register("figure", help, this.figures.clone());
        let help = "Whether the last run with a verdict passed (1) or failed (0)";
        registry.register("passed", help, this.passed.clone());
        let help = "Whether a figure of the last complete run is beyond a threshold of the fleet file (1) or within (0)";
        registry.register("threshold_exceeded", help, this.exceeded.clone());
        this
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
        let runs = Runs { fleet, measure, to };
        let series = self.series.entry(runs.clone()).or_default();
        let ended = runs.ended(outcome);
        self.ended.get_or_create(&ended).inc();
        series.ended.insert(ended);
        let ended_s = outcome.ended.as_millis() as f64 / 1e3;
        self.last.get_or_create(&runs).set(ended_s);
        match outcome.verdict {
            Some(Verdict::Pass) => _ = self.passed.get_or_create(&runs).set(1),
            Some(Verdict::Fail) => _ = self.passed.get_or_create(&runs).set(0),
            _ => {}
        }
        // What an invalid or incomplete run has is no measurement to look at by itself.
        if outcome.status != Became::Complete {
            return;
        }
        let test = outcome.test.as_deref().unwrap_or_default();
        for found in figures::all(register, test, &outcome.summary) {
            let shown = runs.shown(found.name, found.unit);
            self.figures.get_or_create(&shown).set(found.value);
            series.shown.insert(shown);
        }
        let held = outcome.held_against(thresholds, register);
        let is_beyond = |figure: &str| {
            held.iter()
                .any(|(name, beyond)| name == figure && beyond.is_some())
        };
        for (figure, _) in &held {
            let bounded = runs.bounded(figure.clone());
            let is_beyond = i64::from(is_beyond(figure));
            self.exceeded.get_or_create(&bounded).set(is_beyond);
            series.bounded.insert(bounded);
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
        let all = self.series.keys();
        let gone = all.filter(|runs| runs.fleet == file.name.as_str() && !has(runs));
        for runs in gone.cloned().collect::<Vec<_>>() {
            let series = self.series.remove(&runs).unwrap_or_default();
            series
                .ended
                .iter()
                .for_each(|ended| _ = self.ended.remove(ended));
            series
                .shown
                .iter()
                .for_each(|shown| _ = self.figures.remove(shown));
            series
                .bounded
                .iter()
                .for_each(|bounded| _ = self.exceeded.remove(bounded));
            self.last.remove(&runs);
            self.passed.remove(&runs);
        }
    }

    /// The text of everything (`OpenMetrics` 1.0).
    ///
    /// # Errors
    /// None: writing into a string does not fail.
    pub(super) fn text(&self, now: &Now) -> Result<String, fmt::Error> {
        let count = |count| i64::try_from(count).unwrap_or(i64::MAX);
        self.connected.set(i64::from(now.is_connected));
        self.running.set(count(now.running));
        self.unhanded.set(count(now.unhanded));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

impl Runs {
    fn ended(&self, outcome: &Outcome) -> Ended {
        let Self { fleet, measure, to } = self.clone();
        let status = outcome.status.to_string();
        Ended {
            fleet,
            measure,
            to,
            status,
        }
    }

    fn bounded(&self, figure: String) -> Bounded {
        let Self { fleet, measure, to } = self.clone();
        Bounded {
            fleet,
            measure,
            to,
            figure,
        }
    }

    fn shown(&self, figure: String, unit: String) -> Shown {
        let Self { fleet, measure, to } = self.clone();
        Shown {
            fleet,
            measure,
            to,
            figure,
            unit,
        }
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
        let labels = Runs {
            fleet: outcome.run.fleet.to_string(),
            measure: outcome.run.measure.to_string(),
            to: outcome.run.to.to_string(),
        };
        let shown = labels.shown("throughput".to_owned(), "Mbit/s".to_owned());
        metrics.figures.get_or_create(&shown).set(4.5);
        let series = metrics.series.get_mut(&labels).unwrap();
        series.shown.insert(shown);
        let bounded = labels.bounded("throughput".to_owned());
        metrics.exceeded.get_or_create(&bounded).set(1);
        series.bounded.insert(bounded);
    }

    #[test]
    fn what_the_file_does_not_ask_for_any_more_is_no_longer_told() {
        let mut metrics = Metrics::of("a", None);
        for run in ["f.m.a.b", "f.m.a.c", "f.n.a.b", "g.n.a.b"] {
            ended(&mut metrics, &format!("{run}.20261125T080000000Z"));
        }
        let file = "name = 'f'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[measure]]\nname = 'm'\nrun = 'btc'\n\
                    pairs = { mesh = ['all'] }\ntakes = '20s'\nevery = '1min'";
        metrics.keep_to(&FleetFile::parse(file, "f").unwrap());
        let text = metrics.text(&IDLE).unwrap();
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
        let mut metrics = Metrics::of("a", Some("here"));
        ended(&mut metrics, "f.m.a.b.20261125T080000000Z");
        let text = metrics.text(&IDLE).unwrap();
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
