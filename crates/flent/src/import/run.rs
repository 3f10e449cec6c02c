//! `run.json` of an imported run.

use super::{Source, rows};
use jiff::Timestamp;
use record::{CongestionControl, Endpoint, Host, PathInfo, Run, Status, Warning};
use serde_json::{Map, Value, json};
use std::net::IpAddr;

/// Longest text that is taken over from the metadata: names, titles, notes.
pub(crate) const MAX_TEXT: usize = 4_096;

/// The run, with that summary.
pub(super) fn run(source: &Source, summary: Value) -> Run {
    let started = source.times.start.unwrap_or(Timestamp::UNIX_EPOCH);
    let mut run = Run::new("flent", started, plan(source));
    run.status = status(source);
    run.path = path(source);
    run.hosts = hosts(source);
    run.instrument.more = more(source);
    run.warnings = warnings(source);
    run.summary = summary;
    run
}

/// A file without a single value is of a run that failed; a series without one is told by a warning.
fn status(source: &Source) -> Status {
    let resampled = source.file.results.values().flatten().any(Option::is_some);
    let raw = source
        .file
        .raw_values
        .values()
        .any(|points| !points.is_empty());
    if resampled || raw {
        Status::Complete
    } else {
        Status::Failed
    }
}

/// What was to be done, as far as Flent's file tells.
fn plan(source: &Source) -> Value {
    let seconds = |s: f64| format!("{s}s");
    json!({
        "name": source.text("NAME"),
        "summary": source.text("TITLE"),
        "note": source.text("NOTE"),
        "duration": source.times.length.map(seconds),
        "total": seconds(source.times.total),
        "step": source.times.step.map(seconds),
        "parameters": source.meta("TEST_PARAMETERS"),
        "batch": source.text("BATCH_NAME"),
    })
}

fn path(source: &Source) -> PathInfo {
    let addresses = |key| {
        source
            .text(key)
            .and_then(|text| text.parse::<IpAddr>().ok())
    };
    let server = Endpoint {
        addresses: addresses("HOST").into_iter().collect(),
        seen_as: Vec::new(),
    };
    PathInfo {
        server,
        families: version(source).into_iter().collect(),
        ..PathInfo::default()
    }
}

fn version(source: &Source) -> Option<u8> {
    let version = source.meta("IP_VERSION")?.as_u64()?;
    u8::try_from(version)
        .ok()
        .filter(|version| [4, 6].contains(version))
}

impl Source {
    /// The IP version of a series: 6 where its name says so, else that of the run.
    pub(super) fn family(&self, name: &str) -> u8 {
        let says_six = name.contains("UDP6") || name.contains("IPv6");
        if says_six {
            6
        } else {
            version(self).unwrap_or(4)
        }
    }
}

fn hosts(source: &Source) -> Vec<Host> {
    let text = |key| source.text(key).unwrap_or_default();
    let kernel = format!("{} {}", text("KERNEL_NAME"), text("KERNEL_RELEASE"));
    let sysctls = source.meta("SYSCTLS");
    let default = sysctls.and_then(|all| all.get("net.ipv4.tcp_congestion_control"));
    let client = Host {
        role: "client".to_owned(),
        name: text("LOCAL_HOST"),
        kernel: kernel.trim().to_owned(),
        congestion_control: CongestionControl {
            default: default.and_then(Value::as_str).map(str::to_owned),
            available: Vec::new(),
        },
        ..Host::default()
    };
    let server = Host {
        role: "server".to_owned(),
        name: text("HOST"),
        ..Host::default()
    };
    vec![client, server]
}

/// What Flent has to say of itself.
fn more(source: &Source) -> Map<String, Value> {
    let known = [
        "FLENT_VERSION",
        "FAILED_RUNNERS",
        "EGRESS_INFO",
        "REMOTE_METADATA",
        "SYSCTLS",
    ];
    let mut more: Map<String, Value> = (known.into_iter())
        .filter_map(|key| Some((key.to_lowercase(), source.meta(key)?.clone())))
        .collect();
    more.insert("flent_file_version".to_owned(), source.file.version.into());
    more
}

fn warnings(source: &Source) -> Vec<Warning> {
    let failed = source
        .meta("FAILED_RUNNERS")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let misplaced = rows::misplaced(source);
    let warning = |code: &str, message: String, advice: &str| Warning {
        code: code.to_owned(),
        message,
        advice: advice.to_owned(),
    };
    let mut warnings = Vec::new();
    if failed > 0 {
        let message = format!("{failed} of Flent's tools failed or gave no data");
        let advice = "look at which series are missing before comparing";
        warnings.push(warning("flent_failed_runners", message, advice));
    }
    if source.times.start.is_none() || source.times.zone_guessed {
        let message = "the file does not tell the start of the run in UTC".to_owned();
        let advice = "do not rely on the date, or on its hour";
        warnings.push(warning("start_unknown", message, advice));
    }
    if misplaced > 0 {
        let message = format!("{misplaced} raw values have no time on the run's time line");
        let advice = "the tables leave them out; the figures of the whole run have them";
        warnings.push(warning("flent_values_misplaced", message, advice));
    }
    warnings
}
