//! `metadata` of an exported file, and the file's name.

use super::Rows;
use super::grid::Grid;
use super::series::OneSeries;
use super::target::{Layout, Target};
use crate::data::whole;
use crate::naming::OWN;
use jiff::Timestamp;
use record::{Host, Run};
use schema::tables::Stream;
use serde_json::{Map, Value, json};
use std::time::Duration;
use units::Span;

/// Flent's limit for the name of a file.
const MAX_NAME: usize = 250;
const SUFFIX: &str = ".flent.gz";

/// The run's start in seconds since 1970, to the microsecond: what `T0` can say.
pub(super) fn origin_s(run: &Run) -> f64 {
    run.started.as_microsecond() as f64 / 1e6
}

/// A point of time as Flent writes it: UTC, six decimals.
fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// What Flent shows in the title: the note, or else the lab or the far end's address.
pub(super) fn title(run: &Run) -> String {
    let note = run.plan.get("note").and_then(Value::as_str);
    let lab = run.path.lab.as_ref().map(|lab| lab.name.clone());
    note.map(str::to_owned).or(lab).unwrap_or_else(|| host(run))
}

/// The far end: its address, or its name.
fn host(run: &Run) -> String {
    let address = run.path.server.addresses.first();
    let name =
        || of_role(run, "server").map_or_else(|| "unknown".to_owned(), |host| host.name.clone());
    address.map_or_else(name, ToString::to_string)
}

fn of_role<'a>(run: &'a Run, role: &str) -> Option<&'a Host> {
    run.hosts.iter().find(|host| host.role == role)
}

/// Flent's name for the file: what is neither letter, digit nor `-` in the title becomes `_`.
pub(super) fn file_name(run: &Run, test: &str, title: &str) -> String {
    let time = run.started.strftime("%Y-%m-%dT%H%M%S.%6f");
    let start = format!("{test}-{time}");
    let room = MAX_NAME.saturating_sub(start.len() + SUFFIX.len() + 1);
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let title: String = title.chars().take(room).map(plain).collect();
    match title.as_str() {
        "" => format!("{start}{SUFFIX}"),
        title => format!("{start}.{title}{SUFFIX}"),
    }
}

fn loads(rows: &Rows) -> impl Iterator<Item = &Stream> + Clone {
    let streams = rows.streams.iter();
    streams.filter(|stream| stream.kind == "tcp_load")
}

/// When the load ran, in seconds after the run's start.
struct Phases {
    load_start: Option<f64>,
    /// When the last of its streams was to start.
    last_start: Option<f64>,
    length: f64,
    total: f64,
}

impl Phases {
    fn of(run: &Run, rows: &Rows) -> Self {
        let starts = loads(rows).map(|stream| stream.planned_ns as f64 / 1e9);
        let start = starts.clone().min_by(f64::total_cmp);
        let total = rows.end_ns() as f64 / 1e9;
        let planned = run.plan.get("duration").and_then(Value::as_str);
        let planned = planned.and_then(|text| text.parse::<Span>().ok());
        let planned = planned.map(|span| Duration::from(span).as_secs_f64());
        let rest = total - start.unwrap_or_default();
        Self {
            load_start: start,
            last_start: starts.max_by(f64::total_cmp),
            length: planned.filter(|_| start.is_some()).unwrap_or(rest),
            total,
        }
    }
}

/// The whole of `metadata`.
pub(super) fn metadata(
    run: &Run,
    rows: &Rows,
    target: &Target,
    title: &str,
    grid: Grid,
    all: &[OneSeries],
) -> Map<String, Value> {
    let phases = Phases::of(run, rows);
    let client = of_role(run, "client").cloned().unwrap_or_default();
    let kernel = client
        .kernel
        .split_once(' ')
        .unwrap_or(("Linux", &client.kernel));
    let unconnected = loads(rows).filter(|stream| stream.connected_ns.is_none());
    let value = json!({
        "NAME": target.test,
        "TITLE": title,
        "NOTE": note(run, target),
        "HOST": host(run),
        "HOSTS": [host(run)],
        "LOCAL_HOST": client.name,
        "LENGTH": whole((phases.length * 1e3).round() / 1e3),
        "TOTAL_LENGTH": whole((phases.total * 1e3).round() / 1e3),
        "STEP_SIZE": grid.step_s(),
        "TIME": time(run.started),
        "T0": time(run.started),
        "IP_VERSION": run.path.families.first(),
        "KERNEL_NAME": kernel.0,
        "KERNEL_RELEASE": kernel.1,
        "FLENT_VERSION": format!("isobath {}", client.isobath).trim(),
        "DATA_FILENAME": file_name(run, &target.test, title),
        "FAILED_RUNNERS": unconnected.count(),
        "TEST_PARAMETERS": parameters(target, all),
        "SERIES_META": series_meta(all),
        "SYSCTLS": {},
        "MODULE_VERSIONS": {},
        "REMOTE_METADATA": {},
        "EGRESS_INFO": null,
        "BATCH_NAME": null,
        "BATCH_TIME": null,
        "BATCH_TITLE": null,
        "BATCH_UUID": null,
        "HTTP_GETTER_DNS": null,
        "HTTP_GETTER_URLLIST": null,
        "HTTP_GETTER_WORKERS": null,
        OWN: own(run, &phases),
    });
    match value {
        Value::Object(metadata) => metadata,
        _ => Map::new(),
    }
}

/// What `isobath import` reads back, and what says which record this was.
fn own(run: &Run, phases: &Phases) -> Value {
    let phase = |name: &str, end: usize| run.summary.get("phases")?.get(name)?.get(end)?.as_f64();
    let loaded = phase("loaded", 0);
    let settle = run.plan.get("settle").and_then(Value::as_str);
    let settle = settle.and_then(|text| text.parse::<Span>().ok());
    let settled = || Some(phases.last_start? + Duration::from(settle?).as_secs_f64());
    json!({
        "id": run.id,
        "test": run.test,
        "status": run.status,
        "plan": run.plan.get("name"),
        "idle_end_s": phase("idle", 1),
        "load_start_s": phases.load_start,
        "loaded_start_s": loaded.or_else(settled),
    })
}

/// The run's note and that of the export.
fn note(run: &Run, target: &Target) -> Option<String> {
    let own = run.plan.get("note").and_then(Value::as_str);
    let both: Vec<&str> = own.into_iter().chain(target.note.as_deref()).collect();
    (!both.is_empty()).then(|| both.join(" - "))
}

/// How many streams a test with a variable number of them has.
fn parameters(target: &Target, all: &[OneSeries]) -> Value {
    if target.layout != Layout::Numbered {
        return json!({});
    }
    let count = |direction| {
        let loads = all.iter().filter(|one| one.kind == "tcp_load");
        loads
            .filter(|one| one.direction == direction)
            .count()
            .max(1)
            .to_string()
    };
    json!({"upload_streams": count("up"), "download_streams": count("down")})
}

fn series_meta(all: &[OneSeries]) -> Value {
    let entry = |(at, one): (usize, &OneSeries)| {
        let mut meta = one.meta.clone();
        meta.insert("IDX".to_owned(), json!(at));
        meta.insert("RUNNER".to_owned(), json!(format!("isobath {}", one.kind)));
        if one.kind != "computed" {
            let own = json!({"kind": one.kind, "direction": one.direction, "class": one.class});
            meta.insert(OWN.to_owned(), own);
        }
        (one.name.clone(), Value::Object(meta))
    };
    Value::Object(all.iter().enumerate().map(entry).collect())
}
