//! Tables `connections` and `epochs`: how long connections and responses took, and how connections ended.

use super::quantity::{Collector, Quantity};
use crate::view::each;
use record::Record;
use schema::replay::Summary;
use schema::replay::tables::{Connection, Epoch};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// The most connections that were not sequential in the original whose numbers are kept; of more, the responses count along.
const MOST_CONCURRENT: usize = 1 << 22;
/// The most ends that are told apart; the record has four.
const MOST_ENDS: usize = 16;

/// Connections by the octets that both ends sent: from the first number up to, but not including, the second.
const STRATA: [(&str, u64, u64); 3] = [
    ("< 4 KB", 0, 4_000),
    ("≥ 4 KB", 4_000, u64::MAX),
    ("> 1 MB", 1_000_001, u64::MAX),
];

/// What connections took.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Connections {
    /// How they ended: `complete`, `reset`, `refused`, `unfinished`.
    ends: BTreeMap<String, u64>,
    /// From the first octet sent to the last one received, of those that are complete.
    pub(crate) duration_ms: Option<Quantity>,
    /// The same from the call of connect on.
    duration_from_connect_ms: Option<Quantity>,
    /// The first by size.
    strata: Vec<Stratum>,
    /// How much later than planned they began.
    start_lateness_ms: Option<Quantity>,
    /// Response times of connections that were sequential in the original.
    pub(crate) response_ms: Option<Quantity>,
}

/// Connections of one range of sizes.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Stratum {
    name: String,
    duration_ms: Option<Quantity>,
}

#[derive(Default)]
struct Counters {
    ends: BTreeMap<String, u64>,
    duration: Collector,
    from_connect: Collector,
    strata: [Collector; STRATA.len()],
    lateness: Collector,
    concurrent: HashSet<u64>,
}

/// Reads both tables.
pub(super) fn read(record: &Record) -> Result<Connections, record::Error> {
    let mut counters = Counters::default();
    each(record, |row: Connection| counters.see(&row))?;
    let mut response = Collector::default();
    each(record, |row: Epoch| {
        if !counters.concurrent.contains(&row.connection) {
            response.push(row.response_ms);
        }
    })?;
    let strata = STRATA.iter().zip(&counters.strata);
    Ok(Connections {
        duration_ms: counters.duration.quantity(),
        duration_from_connect_ms: counters.from_connect.quantity(),
        strata: strata
            .map(|(&(name, ..), of)| Stratum {
                name: name.to_owned(),
                duration_ms: of.quantity(),
            })
            .collect(),
        start_lateness_ms: counters.lateness.quantity(),
        response_ms: response.quantity(),
        ends: counters.ends,
    })
}

impl Connections {
    /// Takes the figures of all from the run's summary, where there is one.
    pub(super) fn as_told(&mut self, summary: &Summary) {
        for (quantity, told) in [
            (&mut self.duration_ms, &summary.duration_ms),
            (
                &mut self.duration_from_connect_ms,
                &summary.duration_from_connect_ms,
            ),
            (&mut self.response_ms, &summary.response_ms),
        ] {
            if let Some((quantity, told)) = quantity.as_mut().zip(told.as_ref()) {
                quantity.as_told(told);
            }
        }
    }
}

impl Counters {
    fn see(&mut self, row: &Connection) {
        if self.ends.len() < MOST_ENDS || self.ends.contains_key(&*row.end) {
            *self.ends.entry(row.end.clone().into_owned()).or_default() += 1;
        }
        if !row.sequential && self.concurrent.len() < MOST_CONCURRENT {
            self.concurrent.insert(row.connection);
        }
        self.lateness
            .push_span(Some(row.planned_ns), row.started_ns);
        if row.end != "complete" {
            return;
        }
        self.duration.push_span(row.first_byte_ns, row.last_byte_ns);
        self.from_connect
            .push_span(row.started_ns, row.last_byte_ns);
        let bytes = row.request_bytes.saturating_add(row.response_bytes);
        for ((_, from, to), of) in STRATA.iter().zip(&mut self.strata) {
            if (*from..*to).contains(&bytes) {
                of.push_span(row.first_byte_ns, row.last_byte_ns);
            }
        }
    }
}
