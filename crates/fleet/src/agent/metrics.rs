//! What an agent counts and what its runs found last, as `OpenMetrics`.

use crate::figures;
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
    registry: Registry,
    ended: Family<Ended, Counter>,
    last: Family<Runs, Real>,
    figures: Family<Shown, Real>,
    passed: Family<Runs, Gauge>,
    connected: Gauge,
    running: Gauge,
    unhanded: Gauge,
}

impl Metrics {
    /// Of the agent `name` at `site`.
    pub(super) fn of(name: &str, site: Option<&str>) -> Self {
        let mut this = Self {
            registry: Registry::with_prefix("isobath_agent"),
            ended: Family::default(),
            last: Family::default(),
            figures: Family::default(),
            passed: Family::default(),
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
        this
    }

    /// A run has ended.
    pub(super) fn ended(&self, outcome: &Outcome, register: &Register) {
        let run = &outcome.run;
        let [fleet, measure, to] = [&run.fleet, &run.measure, &run.to].map(ToString::to_string);
        let runs = Runs { fleet, measure, to };
        self.ended.get_or_create(&runs.ended(outcome)).inc();
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
