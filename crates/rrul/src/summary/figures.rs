//! Figures that several parts of the summary are made of, and the run's times.

use super::view::View;
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// The same figure, idle and loaded.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Phases {
    /// Before the load.
    pub idle: Option<Distribution>,
    /// Under load.
    pub loaded: Option<Distribution>,
}

/// Start and end in seconds after the run's start.
pub(super) type Span = [f64; 2];

/// When what took place, in seconds after the run's start.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Times {
    /// Nothing but probes: the idle figures are from here.
    pub idle: Option<Span>,
    /// Pages were loaded over the idle path.
    pub web_idle: Option<Span>,
    /// The load ran.
    pub load: Option<Span>,
    /// All of the load ran and had settled: the loaded figures are from here.
    pub loaded: Option<Span>,
    /// Left out of the loaded figures because the path carried more than it sustains.
    pub discarded: Vec<Span>,
    /// Throughput before and after the end of the burst allowance, in Mbit/s.
    pub boost_mbps: Option<[f64; 2]>,
}

/// How the far end's clock runs against the client's.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct ClockFigures {
    /// What is still to be taken off the one-way delay up in the table `samples` (and added to that down) at the run's start.
    pub offset_ms: f64,
    /// How much that grows.
    pub skew_ppm: f64,
}

impl From<probe::clock::ClockLine> for ClockFigures {
    fn from(line: probe::clock::ClockLine) -> Self {
        Self {
            offset_ms: line.offset_ns / 1e6,
            skew_ppm: line.skew_ppm,
        }
    }
}

impl View<'_> {
    /// The run's times.
    pub(super) fn times(&self) -> Times {
        let plan = self.plan;
        let load = (plan.load_start(), plan.load_end());
        let load = super::view::nanos(load.0)..super::view::nanos(load.1);
        Times {
            idle: span(&self.idle),
            web_idle: span(&self.web_idle),
            load: span(&load).filter(|_| !plan.load.is_empty()),
            loaded: span(&self.loaded),
            discarded: self.discarded.iter().filter_map(span).collect(),
            boost_mbps: self.boost_rates(),
        }
    }

    /// How many streams went by which version of IP.
    pub(super) fn families(&self) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for stream in &self.tables.streams {
            *counts.entry(format!("v{}", stream.family)).or_default() += 1;
        }
        counts
    }
}

/// The interval in seconds; `None` for an empty one.
fn span(range: &Range<u64>) -> Option<Span> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    (!range.is_empty()).then(|| [seconds(range.start), seconds(range.end)])
}
