//! `run.json`: everything about a run but its samples.
//!
//! Field names end in their unit. What depends on the measurement (`plan`, `summary`) is free-form here and typed by
//! the measurement; what every measurement shares is typed here, and docs/schema/run.schema.json is made from it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stats::Distribution;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

/// The schema that this version writes. The number is the major version: another one cannot be read.
pub const SCHEMA: &str = "isobath.run/1";

/// One run: the content of `run.json`, and what `--json` prints.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Run {
    /// Always [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The measurement: `rrul`, `btc`, `mbm`, ...
    pub test: String,
    /// Unique: the time of the start and a random suffix.
    pub id: String,
    /// When the run started, by the wall clock of the client.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub started: Timestamp,
    /// How the run ended.
    pub status: Status,
    /// What it found, where the measurement has a question to answer.
    pub verdict: Option<Verdict>,
    /// What was to be done: every option and seed, as the measurement understood them.
    pub plan: Value,
    /// Between whom, and through which emulated path if any.
    pub path: PathInfo,
    /// The machines that took part.
    pub hosts: Vec<Host>,
    /// How good the instrument itself was.
    pub instrument: Instrument,
    /// What the reader should know before believing the figures.
    pub warnings: Vec<Warning>,
    /// The figures; which ones depends on the measurement.
    pub summary: Value,
}

impl Run {
    /// A run of `test` that has just started: incomplete, and nothing known yet but its plan.
    pub fn new(test: &str, started: Timestamp, plan: Value) -> Self {
        // The standard library seeds each `RandomState` from the system.
        let random = RandomState::new().hash_one(started.as_nanosecond());
        Self {
            schema: SCHEMA.to_owned(),
            test: test.to_owned(),
            id: format!(
                "{}-{:08x}",
                started.strftime("%Y%m%dT%H%M%SZ"),
                random >> 32
            ),
            started,
            status: Status::Incomplete,
            verdict: None,
            plan,
            path: PathInfo::default(),
            hosts: Vec::new(),
            instrument: Instrument::default(),
            warnings: Vec::new(),
            summary: Value::Object(Map::new()),
        }
    }

    /// The program's exit status for this run: 0 measured; 1 verdict FAIL; 3 could not measure, or not to the end;
    /// 4 invalid; 5 verdict INCONCLUSIVE or ERROR.
    pub fn exit_status(&self) -> u8 {
        match (self.status, self.verdict) {
            (Status::Failed | Status::Incomplete, _) => 3,
            (Status::Invalid, _) => 4,
            (Status::Complete, Some(Verdict::Fail)) => 1,
            (Status::Complete, Some(Verdict::Inconclusive | Verdict::Error)) => 5,
            (Status::Complete, Some(Verdict::Pass) | None) => 0,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All that was planned was measured.
    Complete,
    /// It was cut short, or is still going: what was measured until then is in the record.
    Incomplete,
    /// The instrument was the bottleneck: the figures say nothing about the path.
    Invalid,
    /// Nothing could be measured.
    Failed,
}

/// What a measurement with a question concluded.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Yes.
    Pass,
    /// No.
    Fail,
    /// The evidence suffices for neither.
    Inconclusive,
    /// The test could not be carried out as its rules demand.
    Error,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::Error => "ERROR",
        })
    }
}

/// Between whom the run took place, as far as each end knows.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PathInfo {
    /// The end that was told to measure.
    pub client: Endpoint,
    /// The far end.
    pub server: Endpoint,
    /// IP versions that carried the measurement: 4, 6.
    pub families: Vec<u8>,
    /// The emulated network, when there was one.
    pub lab: Option<LabInfo>,
}

/// The addresses of one end.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Endpoint {
    /// As this end sees them.
    pub addresses: Vec<IpAddr>,
    /// As the other end sees them; different behind a translator.
    pub seen_as: Vec<IpAddr>,
}

/// The emulated network of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LabInfo {
    /// Its name in the list of labs, or its file.
    pub name: String,
    /// Its links.
    pub links: Vec<LabLink>,
    /// TCP's congestion control of every socket of Isobath in it that the plan gives no other; null in virtual time, and in
    /// records of versions that did not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// TCP's congestion control of other programs in it: the default of its nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs_congestion_control: Option<String>,
}

/// An emulated link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LabLink {
    /// Its name, as in the tables `queue` and `counters`.
    pub name: String,
    /// What packets meet from the first node in its name to the second, as the topology describes it.
    pub up: Value,
    /// What they meet on the way back.
    pub down: Value,
}

/// A machine that took part.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Host {
    /// What it did: `client`, `server`, or a name in the lab's topology.
    pub role: String,
    /// Its own name.
    pub name: String,
    /// Name, release and version of its kernel.
    pub kernel: String,
    /// Model of its processors.
    pub cpu: String,
    /// Number of its processors.
    pub cpus: u32,
    /// Version of isobath there.
    pub isobath: String,
    /// What its kernel offers for TCP.
    pub congestion_control: CongestionControl,
    /// Whether its TCP asks for ECN and agrees to it, as `net.ipv4.tcp_ecn` has it; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_ecn: Option<u8>,
    /// Its clocks.
    pub clock: Clock,
}

/// The congestion controls of a host's kernel.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct CongestionControl {
    /// The one that a socket gets unless it asks; null when unknown.
    pub default: Option<String>,
    /// Those that a socket may ask for.
    pub available: Vec<String>,
}

/// The clocks of a host.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Clock {
    /// The kernel's clock source, such as `tsc`; null when unknown.
    pub source: Option<String>,
    /// Whether the kernel holds its wall clock to be synchronised; null when unknown.
    pub synchronized: Option<bool>,
    /// The kernel's bound on the error of its wall clock; null when unknown.
    pub error_us: Option<f64>,
}

/// How good the instrument was: whether the figures are the path's or the machine's.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Instrument {
    /// How busy each host was.
    pub cpu: Vec<CpuUse>,
    /// How punctual each thread was that had deadlines to keep.
    pub lateness: Vec<Lateness>,
    /// How often the event loop stood still for longer than its limit; null when nobody looked.
    pub stalls: Option<u64>,
    /// The longest of these standstills.
    pub longest_stall_ms: Option<f64>,
    /// Share of samples stamped by the kernel rather than by the program.
    pub kernel_stamps_pct: Option<f64>,
    /// What the measurement has to say of itself beyond this.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// How busy a host was over the run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct CpuUse {
    /// The host's role, as in `hosts`.
    pub host: String,
    /// Mean share of all processors' time that was not idle.
    pub mean_pct: f64,
    /// The same over the busiest interval of the table `cpu`.
    pub max_pct: f64,
    /// Mean share that the hypervisor gave to others.
    pub steal_pct: f64,
}

/// How punctual a thread was.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Lateness {
    /// Whose deadlines: `client voip sender`, `lab dsl forward`.
    pub of: String,
    /// By how much it was late, over all deadlines.
    pub late_us: Distribution,
    /// Deadlines kept too late to be of use.
    pub missed: u64,
}

/// Something that the reader should know, and what to do about it.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Warning {
    /// For programs: a stable word such as `cpu_saturated`.
    pub code: String,
    /// What is the matter, in one line.
    pub message: String,
    /// What to do about it, in one line.
    pub advice: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run::new("rrul", "2026-11-21T07:29:11Z".parse().unwrap(), Value::Null)
    }

    #[test]
    fn two_runs_of_the_same_moment_have_different_ids() {
        let (one, other) = (run(), run());
        assert!(one.id.starts_with("20261121T072911Z-"), "{}", one.id);
        assert_ne!(one.id, other.id);
    }

    #[test]
    fn keys_and_words_are_those_of_the_documentation() {
        let mut run = run();
        run.verdict = Some(Verdict::Inconclusive);
        let json = serde_json::to_value(&run).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().collect();
        let mut expected = [
            "schema",
            "test",
            "id",
            "started",
            "status",
            "verdict",
            "plan",
            "path",
            "hosts",
            "instrument",
            "warnings",
            "summary",
        ];
        expected.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(json["started"], "2026-11-21T07:29:11Z");
        assert_eq!(json["status"], "incomplete");
        assert_eq!(json["verdict"], "INCONCLUSIVE");
    }

    #[test]
    fn exit_status_follows_status_before_verdict() {
        let status = |status, verdict| {
            Run {
                status,
                verdict,
                ..run()
            }
            .exit_status()
        };
        assert_eq!(status(Status::Complete, None), 0);
        assert_eq!(status(Status::Complete, Some(Verdict::Pass)), 0);
        assert_eq!(status(Status::Complete, Some(Verdict::Fail)), 1);
        assert_eq!(status(Status::Complete, Some(Verdict::Inconclusive)), 5);
        assert_eq!(status(Status::Complete, Some(Verdict::Error)), 5);
        assert_eq!(status(Status::Invalid, Some(Verdict::Pass)), 4);
        assert_eq!(status(Status::Failed, None), 3);
        assert_eq!(status(Status::Incomplete, None), 3);
    }
}
