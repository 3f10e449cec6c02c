//! What to do: the plans of the RRUL family.
//!
//! All tests of the family are one engine with different plans. A plan is TOML: groups of TCP load
//! streams and round-trip probes. Names are those of Flent's tests where the test is the same.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use thiserror::Error;
use units::{Bytes, Dscp, Span};

macro_rules! plans {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../plans/", $name, ".toml")))),*]
    };
}

/// Name and text of each built-in plan.
const PLANS: &[(&str, &str)] = plans![
    "rrul",
    "rrul_be",
    "tcp_upload",
    "tcp_download",
    "tcp_bidirectional",
    "simple",
    "ping",
];

/// Longest message of a probe, in octets: with all headers it fits one packet.
pub(crate) const LARGEST_PROBE: u64 = 1_400;
/// Most streams of a plan.
const MOST_STREAMS: usize = 256;
/// No plan runs longer.
const LONGEST: Duration = Duration::from_secs(3_600);

/// A plan of the RRUL family.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Its name: that of a built-in plan, or the file's.
    #[serde(default)]
    pub(crate) name: String,
    /// What it does, in one line.
    pub(crate) summary: String,
    /// Probes run for this long before the load starts.
    #[serde(default = "shoulder")]
    pub(crate) idle_before: Span,
    /// How long the load lasts.
    #[serde(default = "duration")]
    pub(crate) duration: Span,
    /// The summary leaves out this much after the last load stream's start, while TCP still looks for the path's rate. The
    /// record keeps it.
    #[serde(default = "settle")]
    pub(crate) settle: Span,
    /// Probes run on for this long after the load has ended.
    #[serde(default = "shoulder")]
    pub(crate) idle_after: Span,
    /// The TCP load.
    #[serde(default)]
    pub(crate) load: Vec<Load>,
    /// The round trips.
    #[serde(default)]
    pub(crate) probe: Vec<Probe>,
}

/// A group of TCP load streams.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    /// Where the data goes.
    pub(crate) direction: Direction,
    /// Its DSCP.
    #[serde(default)]
    pub(crate) class: Dscp,
    /// How many streams in each direction.
    #[serde(default = "one")]
    pub(crate) streams: u16,
    /// When the group starts, after the load's start.
    #[serde(default)]
    pub(crate) start: Span,
    /// Congestion control of the sender; without one, `--cc`, or the sending host's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cc: Option<String>,
}

/// A stream of round trips, one in flight at a time.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    /// By which protocol.
    pub(crate) kind: ProbeKind,
    /// Its DSCP.
    #[serde(default)]
    pub(crate) class: Dscp,
    /// Payload of request and reply.
    #[serde(default = "probe_size")]
    pub(crate) size: Bytes,
    /// The next request leaves when the reply has come, but not sooner than this after the last one: on a short path
    /// an unbounded exchange would load the hosts more than the network.
    #[serde(default = "probe_gap")]
    pub(crate) gap: Span,
}

/// Where the data of a load group goes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// To the server and from it.
    Both,
    /// From the server.
    Down,
    /// To the server.
    Up,
}

/// The protocol of a probe.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProbeKind {
    /// Request and reply over one TCP connection.
    TcpRr,
    /// Request and reply in datagrams.
    UdpRr,
}

const fn shoulder() -> Span {
    Span::from_millis(5_000)
}

const fn settle() -> Span {
    Span::from_millis(2_000)
}

const fn duration() -> Span {
    Span::from_millis(60_000)
}

const fn one() -> u16 {
    1
}

const fn probe_size() -> Bytes {
    Bytes::new(64)
}

const fn probe_gap() -> Span {
    Span::from_millis(1)
}

/// Why a plan cannot be run.
#[derive(Debug, Error)]
pub(crate) enum PlanError {
    /// No built-in plan and no file of that name.
    #[error("no plan is called '{name}' - use one of {known}, or the path of a TOML file")]
    Unknown { name: String, known: String },
    /// The file cannot be read.
    #[error("cannot read {file}: {source} - give the path of a TOML file that describes a plan")]
    Read {
        file: String,
        source: std::io::Error,
    },
    /// The text is no plan.
    #[error("{name}{line}: {what}")]
    Text {
        name: String,
        line: String,
        what: String,
    },
}

impl Plan {
    /// The built-in plan `name`, or the one in the file at that path.
    pub(crate) fn find(name: &str) -> Result<Self, PlanError> {
        let built_in = PLANS.iter().find(|(known, _)| *known == name);
        let text = match built_in {
            Some((_, text)) => (*text).to_owned(),
            None if name.contains('/') || name.to_ascii_lowercase().ends_with(".toml") => {
                std::fs::read_to_string(name).map_err(|source| PlanError::Read {
                    file: name.to_owned(),
                    source,
                })?
            }
            None => {
                let known = PLANS
                    .iter()
                    .map(|(name, _)| *name)
                    .collect::<Vec<_>>()
                    .join(", ");
                return Err(PlanError::Unknown {
                    name: name.to_owned(),
                    known,
                });
            }
        };
        Self::parse(&text, name)
    }

    /// Reads and checks a plan.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self, PlanError> {
        let plan: Self = toml::from_str(text).map_err(|error| {
            let before = error
                .span()
                .and_then(|span| text.get(..span.start))
                .unwrap_or_default();
            PlanError::Text {
                name: name.to_owned(),
                line: format!(" line {}", before.matches('\n').count() + 1),
                what: error.message().replace('\n', ", "),
            }
        })?;
        let plan = Self {
            name: name.to_owned(),
            ..plan
        };
        plan.check().map_err(|what| PlanError::Text {
            name: name.to_owned(),
            line: String::new(),
            what,
        })?;
        Ok(plan)
    }

    /// Checks what parsing cannot: call it again after changing a field.
    pub(crate) fn check(&self) -> Result<(), String> {
        let sizes = session::wire::Probe::LEN as u64..=LARGEST_PROBE;
        let wrong_size = self
            .probe
            .iter()
            .find(|probe| !sizes.contains(&probe.size.get()));
        if let Some(probe) = wrong_size {
            return Err(format!(
                "probe size {} is not between {}B and {}B",
                probe.size,
                sizes.start(),
                sizes.end()
            ));
        }
        let load = self
            .load
            .iter()
            .map(|load| usize::from(load.streams))
            .sum::<usize>();
        if load * 2 + self.probe.len() > MOST_STREAMS {
            return Err(format!("a plan has at most {MOST_STREAMS} streams"));
        }
        if self.load.iter().any(|load| load.streams == 0) {
            return Err("a load group has no streams - write at least streams = 1".to_owned());
        }
        if self.load.is_empty() && self.probe.is_empty() {
            return Err("a plan needs at least one [[load]] or [[probe]]".to_owned());
        }
        let settled = self.last_start() + self.settle.0;
        if !self.load.is_empty() && settled >= self.duration.0 {
            return Err(format!(
                "a load of {} is over before its last group has settled after {} - use a longer --duration",
                self.duration,
                Span(settled)
            ));
        }
        if self.total() > LONGEST {
            return Err("a run lasts at most 1h in all - use a shorter --duration".to_owned());
        }
        Ok(())
    }

    /// From the first probe to the last.
    pub(crate) fn total(&self) -> Duration {
        self.idle_before.0 + self.duration.0 + self.idle_after.0
    }

    /// Start and end of the interval that counts as loaded, after the run's start: every load stream runs and has settled.
    pub(crate) fn loaded(&self) -> (Duration, Duration) {
        let start = self.idle_before.0;
        (
            start + self.last_start() + self.settle.0,
            start + self.duration.0,
        )
    }

    /// When the last group starts, after the load's start.
    fn last_start(&self) -> Duration {
        self.load
            .iter()
            .map(|load| load.start.0)
            .max()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_plan_is_one() {
        for (name, _) in PLANS {
            let plan = Plan::find(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(plan.name, *name);
        }
    }

    #[test]
    fn rrul_loads_four_classes_both_ways_as_the_specification_says() {
        let plan = Plan::find("rrul").unwrap();
        let streams: u16 = plan.load.iter().map(|load| load.streams).sum();
        assert_eq!(streams, 4, "in each direction");
        assert!(
            plan.load
                .iter()
                .all(|load| load.direction == Direction::Both)
        );
        let classes: Vec<_> = plan
            .load
            .iter()
            .map(|load| load.class.to_string())
            .collect();
        assert_eq!(classes, ["CS1", "CS0", "CS5", "EF"]);
    }

    #[test]
    fn what_is_no_plan_is_told_in_one_line() {
        let message = |text| Plan::parse(text, "my.toml").unwrap_err().to_string();
        assert_eq!(
            message("summary = 'x'"),
            "my.toml: a plan needs at least one [[load]] or [[probe]]"
        );
        let text = "summary = 'x'\n[[load]]\ndirection = 'sideways'";
        assert!(message(text).starts_with("my.toml line 3: unknown variant `sideways`"));
        let text = "summary = 'x'\nduration = '60'\n[[load]]\ndirection = 'up'";
        assert!(message(text).starts_with("my.toml line 2: '60' is not a time"));
        assert!(
            Plan::find("rul")
                .unwrap_err()
                .to_string()
                .contains("use one of rrul, rrul_be")
        );
    }
}
