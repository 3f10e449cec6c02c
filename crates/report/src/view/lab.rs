//! Tables `queue` and `counters`: what an emulated link really did.

use super::each;
use crate::envelope::{Envelope, Line};
use crate::grid::{Grid, Steps};
use crate::told;
use record::{Record, Run};
use schema::LinkTruth;
use schema::tables::{Counters, Queue};
use serde::Serialize;
use std::collections::BTreeMap;

const CARRIED_BIN_NS: u64 = 200_000_000;
const MOST_CARRIED_BINS: usize = 600;

/// One direction of an emulated link.
#[expect(clippy::struct_field_names, reason = "named as in the tables")]
#[derive(Serialize)]
pub(crate) struct Link {
    link: String,
    direction: String,
    /// The configured rate, or a trace's mean; null for a link that only delays.
    rate_mbps: Option<f64>,
    /// Time that the queue takes to drain at that rate; null without one.
    queue_ms: Option<Line>,
    queue_bytes: Line,
    /// What left the link, headers included.
    carried_mbps: Steps,
    /// Packets per second, by what became of them: `overflow`, `aqm`, `loss`, `marked`.
    gone_per_s: BTreeMap<&'static str, Steps>,
    /// The same over the whole run.
    gone: BTreeMap<&'static str, u64>,
}

type Key = (String, String);

struct Collected {
    queue: Envelope,
    queue_ms: Envelope,
    rate_mbps: Option<f64>,
    gone: Grid<&'static str>,
    /// The last cumulative counts, by stage.
    last: BTreeMap<String, (u64, [u64; 4])>,
}

const WHAT: [&str; 4] = ["overflow", "aqm", "loss", "marked"];

/// Reads both tables.
pub(crate) fn read(record: &Record, run: &Run) -> Result<Vec<Link>, record::Error> {
    let mut links: BTreeMap<Key, Collected> = BTreeMap::new();
    each(record, |row: Queue| {
        let key = (
            row.link.clone().into_owned(),
            row.direction.clone().into_owned(),
        );
        let link = links
            .entry(key)
            .or_insert_with_key(|key| Collected::new(rate(run, key)));
        link.see(&row);
    })?;
    let mut carried: Grid<Key> = Grid::new(CARRIED_BIN_NS, MOST_CARRIED_BINS);
    each(record, |row: Counters| {
        let key = (row.link.into_owned(), row.direction.into_owned());
        carried.add(&key, (row.t_ns, row.t_ns), row.bytes as f64);
    })?;
    let mut carried: BTreeMap<Key, Steps> = carried
        .per_second(8e-6)
        .map(|(key, steps)| (key.clone(), steps))
        .collect();
    let link = |(key, link): (Key, Collected)| {
        let carried = carried.remove(&key).unwrap_or_default();
        link.view(key, carried)
    };
    Ok(links.into_iter().map(link).collect())
}

/// The rate that the summary tells of a link.
fn rate(run: &Run, (link, direction): &Key) -> Option<f64> {
    let links = told::links(run);
    let is_it = |entry: &&LinkTruth| entry.link == *link && entry.direction == *direction;
    let entry = links.iter().find(is_it)?;
    entry.rate_mbps.filter(|&rate| rate > 0.0)
}

impl Collected {
    fn new(rate_mbps: Option<f64>) -> Self {
        Self {
            queue: Envelope::default(),
            queue_ms: Envelope::default(),
            rate_mbps,
            gone: Grid::new(CARRIED_BIN_NS, MOST_CARRIED_BINS),
            last: BTreeMap::new(),
        }
    }

    fn see(&mut self, row: &Queue) {
        self.queue.push(row.t_ns, row.bytes as f64);
        if let Some(rate) = self.rate_mbps {
            self.queue_ms.push(row.t_ns, row.bytes as f64 * 8e-3 / rate);
        }
        let now = [
            row.dropped_overflow,
            row.dropped_aqm,
            row.dropped_loss,
            row.marked,
        ];
        let before = self
            .last
            .insert(row.stage.clone().into_owned(), (row.t_ns, now));
        let (from, before) = before.unwrap_or((row.t_ns, [0; 4]));
        for (i, what) in WHAT.iter().enumerate() {
            let more = now[i].saturating_sub(before[i]);
            if more > 0 {
                self.gone.add(what, (from, row.t_ns), more as f64);
            }
        }
    }

    fn view(self, (link, direction): Key, carried_mbps: Steps) -> Link {
        let sum = |i: usize| self.last.values().map(|(_, counts)| counts[i]).sum();
        Link {
            gone: WHAT
                .iter()
                .enumerate()
                .map(|(i, &what)| (what, sum(i)))
                .collect(),
            gone_per_s: self
                .gone
                .per_second(1.0)
                .map(|(&what, steps)| (what, steps))
                .collect(),
            queue_ms: self.rate_mbps.map(|_| self.queue_ms.line()),
            queue_bytes: self.queue.line(),
            rate_mbps: self.rate_mbps,
            link,
            direction,
            carried_mbps,
        }
    }
}
