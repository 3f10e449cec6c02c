//! Figures of which several parts of the summary are made, and the run's times.

use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
pub type Interval = [f64; 2];

/// When what took place, in seconds after the run's start.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Times {
    /// Nothing but probes: the idle figures are from here.
    pub idle: Option<Interval>,
    /// Pages were loaded over the idle path.
    pub web_idle: Option<Interval>,
    /// The load ran.
    pub load: Option<Interval>,
    /// All of the load ran and had settled: the loaded figures are from here.
    pub loaded: Option<Interval>,
    /// Left out of the loaded figures because the path carried more than it sustains.
    pub discarded: Vec<Interval>,
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
