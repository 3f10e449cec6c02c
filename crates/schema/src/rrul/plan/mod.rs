//! What to do: the plans of the RRUL family.
//!
//! All tests of the family are one engine with different plans. A plan is TOML: groups of TCP load
//! streams, round-trip probes, calls, page loads and a path trace ([`parts`]). Names are those of Flent's tests where the
//! test is the same.
//!
//! ```text
//! |- idle_before -|- [web] before -|- duration: the load ------------|- idle_after -|
//!  probes, calls, traces ============================================================
//!                  pages ==========  pages ==========================
//! ```

mod check;
mod defaults;
mod parts;

pub use check::{LARGEST_PROBE, SMALLEST_PROBE};
pub use parts::{
    Call, Direction, EcnField, Families, Load, Probe, ProbeKind, Switch, Trace, Transport, Web,
};

use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Span;

/// A plan of the RRUL family.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Its name: that of a built-in plan, or the file's.
    #[serde(default)]
    pub name: String,
    /// What it does, in one line.
    pub summary: String,
    /// Probes run for this long before anything else.
    #[serde(default = "defaults::shoulder")]
    pub idle_before: Span,
    /// How long the load lasts.
    #[serde(default = "defaults::duration")]
    pub duration: Span,
    /// The summary leaves out this much after the last load stream's start, while TCP still looks for the path's rate. The
    /// record keeps it.
    #[serde(default = "defaults::settle")]
    pub settle: Span,
    /// Probes run on for this long after the load has ended.
    #[serde(default = "defaults::shoulder")]
    pub idle_after: Span,
    /// IP versions to use at once, where both are there.
    #[serde(default)]
    pub families: Families,
    /// Whether TCP asks for ECN (RFC 3168); without one, as the client's host is set. A property of the host: it holds for
    /// all connections, not only for the load's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_ecn: Option<Switch>,
    /// How many servers it needs.
    #[serde(default = "defaults::one_server")]
    pub servers: u8,
    /// The TCP load.
    #[serde(default)]
    pub load: Vec<Load>,
    /// The round trips.
    #[serde(default)]
    pub probe: Vec<Probe>,
    /// Far ends of somebody else that are asked for round trips all the time, as `icmp://192.0.2.1`: a router on the way, a resolver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// The calls.
    #[serde(default)]
    pub call: Vec<Call>,
    /// The page loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<Web>,
    /// The path trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// Options of the command line, which a record keeps beside the plan's own fields.
const OPTIONS: [&str; 4] = ["cc", "far_end", "note", "seed"];

impl Plan {
    /// The plan that a record keeps, beside options of the command line.
    ///
    /// # Errors
    /// When it is of another version.
    pub fn of_record(kept: &serde_json::Value) -> serde_json::Result<Self> {
        let mut plan = kept.clone();
        if let Some(plan) = plan.as_object_mut() {
            plan.retain(|field, _| !OPTIONS.contains(&field.as_str()));
        }
        Deserialize::deserialize(&plan)
    }

    /// From the first probe to the last.
    pub fn total(&self) -> Duration {
        self.load_end() + self.idle_after.0
    }

    /// When the load starts, after the run's start.
    pub fn load_start(&self) -> Duration {
        self.idle_before.0 + self.web.as_ref().map_or(Duration::ZERO, |web| web.before.0)
    }

    /// When the load ends.
    pub fn load_end(&self) -> Duration {
        self.load_start() + self.duration.0
    }

    /// Start and end of the interval that counts as idle: nothing but probes. A plan without load is idle all through.
    pub fn idle(&self) -> (Duration, Duration) {
        let end = if self.load.is_empty() && self.web.is_none() {
            self.total()
        } else {
            self.idle_before.0
        };
        (Duration::ZERO, end)
    }

    /// Start and end of the interval in which pages are loaded over the idle path; empty without pages.
    pub fn web_idle(&self) -> (Duration, Duration) {
        (self.idle_before.0, self.load_start())
    }

    /// Start and end of the interval that counts as loaded, after the run's start: every load stream runs and has settled.
    /// Empty without load.
    pub fn loaded(&self) -> (Duration, Duration) {
        if self.load.is_empty() {
            return (Duration::ZERO, Duration::ZERO);
        }
        (
            self.load_start() + self.last_start() + self.settle.0,
            self.load_end(),
        )
    }

    /// When the last group starts that runs to the end, after the load's start. (A group of a given length is a part of the
    /// load's shape, be it late.)
    fn last_start(&self) -> Duration {
        let lasting = self.load.iter().filter(|load| load.length.is_none());
        lasting.map(|load| load.start.0).max().unwrap_or_default()
    }
}
