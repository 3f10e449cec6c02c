//! Tables `page_loads` and `page_objects`: every load, and the waterfalls of those that stand for the others.

use super::each;
use crate::distribution::Figures;
use crate::number::{ms, seconds, short};
use crate::phases::{Phase, Phases};
use record::Record;
use schema::tables::{PageLoad, PageObject};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Most loads that the page lists; a run has some hundred.
const MOST_LOADS: usize = 4_000;
/// Most waterfalls, each of which has up to some hundred bars.
const MOST_WATERFALLS: usize = 12;
/// Most bars of a waterfall.
const MOST_OBJECTS: usize = 400;

/// Web pages.
#[derive(Serialize)]
pub(crate) struct Web {
    loads: Vec<Load>,
    /// How many loads there were; more than are listed only in runs of days.
    loads_total: u64,
    /// Loads of a phase by the same loader over the same protocol, taken together.
    groups: Vec<Group>,
    waterfalls: Vec<Waterfall>,
    /// Load times in ms, by phase, in order of time.
    #[serde(skip)]
    pub(crate) times: BTreeMap<Phase, Vec<f64>>,
}

#[expect(clippy::struct_field_names, reason = "named as in the tables")]
#[derive(Serialize)]
struct Load {
    load: u32,
    t_s: f64,
    phase: Option<&'static str>,
    loader: String,
    protocol: String,
    page: String,
    load_ms: Option<f64>,
    first_byte_ms: Option<f64>,
    objects: u32,
    failed: u32,
    bytes: u64,
    error: Option<String>,
}

#[derive(Serialize)]
struct Group {
    loader: String,
    protocol: String,
    phase: &'static str,
    failed: u64,
    ms: Option<Figures>,
    /// Standard deviation; null below two loads.
    sd_ms: Option<f64>,
    /// Half of the 95 % confidence interval of the mean (Student's t); null below two loads.
    ci95_ms: Option<f64>,
}

#[derive(Serialize)]
struct Waterfall {
    load: u32,
    /// Why this one: `median` or `slowest` of its phase.
    stands_for: &'static str,
    objects: Vec<Bar>,
}

#[derive(Serialize)]
struct Bar {
    /// After the load's begin.
    start_ms: f64,
    host: String,
    path: String,
    kind: String,
    blocked_ms: Option<f64>,
    dns_ms: Option<f64>,
    connect_ms: Option<f64>,
    tls_ms: Option<f64>,
    wait_ms: Option<f64>,
    receive_ms: Option<f64>,
    total_ms: Option<f64>,
    bytes: u64,
    status: Option<u16>,
    connection: Option<u16>,
}

const fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "idle",
        Phase::Loaded => "loaded",
    }
}

/// Loads that can be compared with each other.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Kind {
    phase: Phase,
    loader: String,
    protocol: String,
}

/// Reads both tables; `None` when no page was loaded.
pub(crate) fn read(record: &Record, phases: &Phases) -> Result<Option<Web>, record::Error> {
    let mut loads: Vec<(Option<Phase>, PageLoad)> = Vec::new();
    let mut loads_total = 0;
    each(record, |row: PageLoad| {
        loads_total += 1;
        if loads.len() < MOST_LOADS {
            loads.push((phases.at_web(row.t_ns), row));
        }
    })?;
    if loads.is_empty() {
        return Ok(None);
    }
    let mut by_kind: BTreeMap<Kind, Vec<&PageLoad>> = BTreeMap::new();
    for (phase, load) in &loads {
        if let Some(phase) = *phase {
            let kind = Kind {
                phase,
                loader: load.loader.clone().into_owned(),
                protocol: load.protocol.clone().into_owned(),
            };
            by_kind.entry(kind).or_default().push(load);
        }
    }
    let groups = by_kind.iter().map(|(kind, loads)| group(kind, loads));
    let groups = groups.collect();
    let waterfalls = waterfalls(record, &by_kind)?;
    let mut times: BTreeMap<Phase, Vec<f64>> = BTreeMap::new();
    for (phase, load) in &loads {
        if let (Some(phase), Some(ns)) = (phase, load.load_ns) {
            times.entry(*phase).or_default().push(ms(ns));
        }
    }
    let loads = loads
        .iter()
        .map(|(phase, load)| listed(*phase, load))
        .collect();
    Ok(Some(Web {
        loads,
        loads_total,
        groups,
        waterfalls,
        times,
    }))
}

fn listed(phase: Option<Phase>, load: &PageLoad) -> Load {
    let short_ms = |ns: Option<u64>| ns.map(|ns| short(ms(ns)));
    Load {
        load: load.load,
        t_s: seconds(load.t_ns),
        phase: phase.map(word),
        loader: load.loader.clone().into_owned(),
        protocol: load.protocol.clone().into_owned(),
        page: load.page.clone(),
        load_ms: short_ms(load.load_ns),
        first_byte_ms: short_ms(load.first_byte_ns),
        objects: load.objects,
        failed: load.failed,
        bytes: load.bytes,
        error: load.error.clone(),
    }
}

fn group(kind: &Kind, loads: &[&PageLoad]) -> Group {
    let mut times: Vec<f64> = loads
        .iter()
        .filter_map(|load| load.load_ns)
        .map(ms)
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    let n = times.len();
    let mean = times.iter().sum::<f64>() / n.max(1) as f64;
    let squares: f64 = times.iter().map(|t| (t - mean).powi(2)).sum();
    let sd = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
    let half = sd.map(|sd| crate::compare::student_t((n - 1) as f64) * sd / (n as f64).sqrt());
    Group {
        loader: kind.loader.clone(),
        protocol: kind.protocol.clone(),
        phase: word(kind.phase),
        failed: (loads.len() - n) as u64,
        ms: Figures::of(&times, n as u64),
        sd_ms: sd.map(short),
        ci95_ms: half.map(short),
    }
}

/// The loads that stand for the others: of each kind the one in the middle, and under load the slowest.
fn chosen(by_kind: &BTreeMap<Kind, Vec<&PageLoad>>) -> Vec<(u32, u64, &'static str)> {
    let mut chosen = Vec::new();
    let mut seen = BTreeSet::new();
    for (kind, loads) in by_kind {
        let mut sorted: Vec<&PageLoad> = loads
            .iter()
            .copied()
            .filter(|load| load.load_ns.is_some())
            .collect();
        sorted.sort_unstable_by_key(|load| load.load_ns);
        let slowest = sorted.last().filter(|_| kind.phase == Phase::Loaded);
        let median = sorted.get(sorted.len().saturating_sub(1) / 2);
        for (load, why) in [(median, "median"), (slowest, "slowest")] {
            if let Some(load) = load.filter(|load| seen.insert(load.load)) {
                chosen.push((load.load, load.t_ns, why));
            }
        }
    }
    chosen.truncate(MOST_WATERFALLS);
    chosen
}

fn waterfalls(
    record: &Record,
    by_kind: &BTreeMap<Kind, Vec<&PageLoad>>,
) -> Result<Vec<Waterfall>, record::Error> {
    let chosen = chosen(by_kind);
    let mut objects: BTreeMap<u32, Vec<PageObject>> = BTreeMap::new();
    each(record, |row: PageObject| {
        if chosen.iter().any(|&(load, ..)| load == row.load) {
            let of_load = objects.entry(row.load).or_default();
            if of_load.len() < MOST_OBJECTS {
                of_load.push(row);
            }
        }
    })?;
    let waterfall = |(load, start_ns, stands_for): (u32, u64, &'static str)| {
        let mut rows = objects.remove(&load)?;
        rows.sort_by_key(|row| (row.t_ns, row.object));
        let objects = rows.iter().map(|row| bar(row, start_ns)).collect();
        Some(Waterfall {
            load,
            stands_for,
            objects,
        })
    };
    Ok(chosen.into_iter().filter_map(waterfall).collect())
}

fn bar(row: &PageObject, start_ns: u64) -> Bar {
    let short_ms = |ns: Option<u64>| ns.map(|ns| short(ms(ns)));
    Bar {
        start_ms: short(ms(row.t_ns.saturating_sub(start_ns))),
        host: row.host.clone(),
        path: row.path.clone(),
        kind: row.kind.clone().into_owned(),
        blocked_ms: short_ms(row.blocked_ns),
        dns_ms: short_ms(row.dns_ns),
        connect_ms: short_ms(row.connect_ns),
        tls_ms: short_ms(row.tls_ns),
        wait_ms: short_ms(row.wait_ns),
        receive_ms: short_ms(row.receive_ns),
        total_ms: short_ms(row.total_ns),
        bytes: row.bytes,
        status: row.status,
        connection: row.connection,
    }
}
