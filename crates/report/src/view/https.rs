//! Table `https_probes`: what each step of a small request on a new connection takes.

use super::each;
use crate::distribution::Figures;
use crate::number::ms;
use crate::phases::{Phase, Phases};
use record::Record;
use schema::tables::HttpsProbe;
use serde::Serialize;
use std::collections::BTreeMap;

/// Most probes that are looked at: a thousand a second for a quarter of an hour.
const MOST_PROBES: usize = 1 << 20;

/// Requests on new connections.
#[derive(Serialize)]
pub(crate) struct Https {
    idle: Option<Steps>,
    loaded: Option<Steps>,
}

/// The steps of a request, each one round trip.
#[derive(Serialize)]
struct Steps {
    probes: u64,
    failed: u64,
    connect_ms: Option<Figures>,
    tls_ms: Option<Figures>,
    http_ms: Option<Figures>,
}

/// Reads the table; `None` when it has no rows.
pub(crate) fn read(record: &Record, phases: &Phases) -> Result<Option<Https>, record::Error> {
    let mut rows: BTreeMap<Phase, Vec<HttpsProbe>> = BTreeMap::new();
    let mut seen = 0;
    each(record, |row: HttpsProbe| {
        seen += 1;
        if let (Some((phase, _)), true) = (phases.at(row.t_ns), seen < MOST_PROBES) {
            rows.entry(phase).or_default().push(row);
        }
    })?;
    let of = |phase| rows.get(&phase).map(|rows| steps(rows));
    let https = Https {
        idle: of(Phase::Idle),
        loaded: of(Phase::Loaded),
    };
    Ok((seen > 0).then_some(https))
}

fn steps(rows: &[HttpsProbe]) -> Steps {
    let figures = |of: &dyn Fn(&HttpsProbe) -> Option<u64>| {
        let mut values: Vec<f64> = rows.iter().filter_map(of).map(ms).collect();
        values.sort_unstable_by(f64::total_cmp);
        Figures::of(&values, values.len() as u64)
    };
    Steps {
        probes: rows.len() as u64,
        failed: rows.iter().filter(|row| row.http_ns.is_none()).count() as u64,
        connect_ms: figures(&|row| row.connect_ns),
        tls_ms: figures(&|row| row.tls_ns),
        http_ms: figures(&|row| row.http_ns),
    }
}
