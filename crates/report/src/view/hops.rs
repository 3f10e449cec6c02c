//! Table `hops`: round trips to each router on the way, idle and loaded, and over time.

use super::each;
use crate::distribution::{Blocks, Figures};
use crate::number::{ms, short};
use crate::phases::{Phase, Phases};
use record::Record;
use schema::tables::Hop;
use serde::Serialize;
use std::collections::BTreeMap;

/// Columns of the strip over time.
const STRIP_BINS: u64 = 120;
/// The narrowest column: a trace asks each hop about once a second.
const STRIP_BIN_NS: u64 = 1_000_000_000;

/// The path from one end.
#[derive(Serialize)]
pub(crate) struct Trace {
    direction: String,
    bin_s: f64,
    hops: Vec<HopView>,
}

#[derive(Serialize)]
struct HopView {
    ttl: u8,
    /// Who answered, most often first.
    addresses: Vec<String>,
    is_end: bool,
    asked: u64,
    answered: u64,
    idle: Option<Figures>,
    loaded: Option<Figures>,
    /// Largest round trip of each column of the strip, in ms; null where nobody answered.
    strip_ms: Vec<Option<f64>>,
}

#[derive(Default)]
struct Collected {
    addresses: BTreeMap<String, u64>,
    is_end: bool,
    asked: u64,
    answered: u64,
    blocks: BTreeMap<Phase, Blocks>,
    strip: BTreeMap<u64, f64>,
}

/// Most addresses kept of one hop: more is a load balancer's whole pool.
const MOST_ADDRESSES: usize = 16;

/// Reads the table: one trace for each end that sent probes.
pub(crate) fn read(
    record: &Record,
    phases: &Phases,
    end_ns: u64,
) -> Result<Vec<Trace>, record::Error> {
    let bin_ns = (end_ns / STRIP_BINS + 1).max(STRIP_BIN_NS);
    let mut found: BTreeMap<String, BTreeMap<u8, Collected>> = BTreeMap::new();
    each(record, |row: Hop| {
        let hops = found.entry(row.direction.clone().into_owned()).or_default();
        hops.entry(row.ttl).or_default().see(&row, phases, bin_ns);
    })?;
    let columns = end_ns / bin_ns + 1;
    let trace = |(direction, hops): (String, BTreeMap<u8, Collected>)| {
        let end = hops
            .iter()
            .find(|(_, hop)| hop.is_end)
            .map_or(u8::MAX, |(&ttl, _)| ttl);
        let hops = hops.into_iter().filter(|&(ttl, _)| ttl <= end);
        let hops = hops.map(|(ttl, hop)| hop.view(ttl, columns)).collect();
        Trace {
            direction,
            bin_s: short(bin_ns as f64 / 1e9),
            hops,
        }
    };
    Ok(found.into_iter().map(trace).collect())
}

impl Collected {
    fn see(&mut self, row: &Hop, phases: &Phases, bin_ns: u64) {
        self.asked += 1;
        self.is_end |= row.is_end;
        if let Some(address) = &row.address
            && (self.addresses.contains_key(address) || self.addresses.len() < MOST_ADDRESSES)
        {
            *self.addresses.entry(address.clone()).or_insert(0) += 1;
        }
        let Some(rtt) = row.rtt_ns.map(ms) else {
            return;
        };
        self.answered += 1;
        let cell = self.strip.entry(row.t_ns / bin_ns).or_insert(rtt);
        *cell = cell.max(rtt);
        if let Some((phase, share)) = phases.at(row.t_ns) {
            self.blocks.entry(phase).or_default().push(share, rtt);
        }
    }

    fn view(self, ttl: u8, columns: u64) -> HopView {
        let mut addresses: Vec<(String, u64)> = self.addresses.into_iter().collect();
        addresses.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        let figures = |phase| self.blocks.get(&phase).and_then(Figures::of_blocks);
        HopView {
            ttl,
            addresses: addresses.into_iter().map(|(address, _)| address).collect(),
            is_end: self.is_end,
            asked: self.asked,
            answered: self.answered,
            idle: figures(Phase::Idle),
            loaded: figures(Phase::Loaded),
            strip_ms: (0..columns)
                .map(|column| self.strip.get(&column).map(|&v| short(v)))
                .collect(),
        }
    }
}
