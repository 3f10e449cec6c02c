//! The table of hops: who answered, how often, how fast.

use super::{LEAST_ANSWERS, Phase, Row};
use core::net::IpAddr;
use stats::Distribution;
use std::collections::{BTreeMap, HashMap};

/// What a hop answered in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answers {
    /// Probes that were to end at this hop.
    pub sent: u64,
    /// Those that were answered, by whatever address.
    pub answered: u64,
    /// Round trips to the hop's main address, in milliseconds; `None` when it never answered.
    pub rtt_ms: Option<Distribution>,
}

impl Answers {
    /// Share of probes that were answered, per cent; `None` when none was sent.
    pub fn answered_pct(&self) -> Option<f64> {
        (self.sent > 0).then(|| 100.0 * self.answered as f64 / self.sent as f64)
    }

    fn median_ms(&self) -> Option<f64> {
        self.rtt_ms
            .filter(|rtt| rtt.n >= LEAST_ANSWERS as u64)
            .map(|rtt| rtt.p50)
    }
}

/// One hop of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// Its distance in hops, from 1.
    pub ttl: u8,
    /// Its main address: the one that answered best in both phases; `None` for a silent hop.
    pub address: Option<IpAddr>,
    /// Other addresses that answered: the path changed, or shares its load.
    pub others: Vec<IpAddr>,
    /// Before the load.
    pub idle: Answers,
    /// Under load.
    pub loaded: Answers,
}

impl Hop {
    /// By how much the median round trip is longer under load, milliseconds. `None` with fewer than [`LEAST_ANSWERS`]
    /// of the main address in either phase.
    pub fn rise_ms(&self) -> Option<f64> {
        Some(self.loaded.median_ms()? - self.idle.median_ms()?)
    }
}

/// The hops that `rows`, in any order, tell of: from the nearest on, without repetitions of the end.
pub fn table(rows: &[Row]) -> Vec<Hop> {
    let mut by_ttl: BTreeMap<u8, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        by_ttl.entry(row.ttl).or_default().push(row);
    }
    let end = rows
        .iter()
        .filter(|row| row.is_end)
        .map(|row| row.ttl)
        .min();
    let mut hops: Vec<Hop> = Vec::new();
    for (ttl, rows) in by_ttl {
        let hop = Hop::of(ttl, &rows);
        let repeated = hop.address.is_some() && hops.iter().any(|seen| seen.address == hop.address);
        let beyond = end.is_some_and(|end| ttl > end);
        if !repeated && !beyond {
            hops.push(hop);
        }
    }
    hops
}

impl Hop {
    fn of(ttl: u8, rows: &[&Row]) -> Self {
        // Answers of each address, idle and loaded.
        let mut counts: HashMap<IpAddr, [u64; 2]> = HashMap::new();
        for row in rows.iter().filter(|row| row.rtt_ns.is_some()) {
            if let Some(address) = row.address {
                counts.entry(address).or_default()[usize::from(row.phase == Phase::Loaded)] += 1;
            }
        }
        let mut addresses: Vec<(IpAddr, [u64; 2])> = counts.into_iter().collect();
        // Both phases first, then the sum, then the address, so that the order is the same each time.
        addresses.sort_by_key(|&(address, [idle, loaded])| {
            core::cmp::Reverse((idle.min(loaded), idle + loaded, address))
        });
        let mut addresses = addresses.into_iter().map(|(address, _)| address);
        let main = addresses.next();
        Self {
            ttl,
            address: main,
            others: addresses.collect(),
            idle: answers(rows, Phase::Idle, main),
            loaded: answers(rows, Phase::Loaded, main),
        }
    }
}

fn answers(rows: &[&Row], phase: Phase, main: Option<IpAddr>) -> Answers {
    let of_phase = || rows.iter().filter(|row| row.phase == phase);
    let of_main = of_phase().filter(|row| main.is_some() && row.address == main);
    Answers {
        sent: of_phase().count() as u64,
        answered: of_phase().filter(|row| row.rtt_ns.is_some()).count() as u64,
        rtt_ms: Distribution::of(of_main.filter_map(|row| Some(row.rtt_ns? as f64 / 1e6))),
    }
}
