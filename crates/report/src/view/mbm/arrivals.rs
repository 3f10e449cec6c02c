//! Table `arrivals`: how bursts leave, and how they arrive.
//!
//! A page has the first packets of each test one by one, and of each burst how long it took to leave and to arrive. Both are
//! differences of times of one clock, so they are right whatever the offset between the two clocks is.

use super::tested::Tested;
use crate::number::{ms, seconds, short};
use crate::view::btc::difference;
use crate::view::each;
use record::Record;
use schema::mbm::tables::Arrival;
use serde::Serialize;
use std::collections::BTreeMap;

/// Bursts of a test whose packets are in a page, and the fewest and the most packets that it has.
const BURSTS: u64 = 6;
const PACKETS: (u64, u64) = (120, 6_000);
/// Bursts of a test whose times are in a page, at most: the first ones.
const MOST_BURSTS: usize = 2_000;
/// Tests of a run, at most; no plan has so many.
const MOST_TESTS: u16 = 256;

/// The first packets of a test in the order of their numbers; times since the first of them left.
#[derive(Serialize)]
pub(crate) struct Arrivals {
    /// Differences from the one before.
    t_us: Vec<i64>,
    seq: Vec<i64>,
    /// From departure to arrival: as right as the offset of the two clocks.
    way_us: Vec<i64>,
    /// Which of them arrived marked, by their place in these lists.
    marked: Vec<usize>,
    /// How many the record has.
    n: u64,
    bursts: Bursts,
}

/// Bursts of which at least half arrived: when each left, and how long its packets took to leave and to arrive.
#[derive(Default, Serialize)]
struct Bursts {
    t_s: Vec<f64>,
    left_ms: Vec<f64>,
    arrived_ms: Vec<f64>,
    /// How many the record has.
    n: usize,
}

/// First and last of some packets of a burst.
#[derive(Clone, Copy)]
struct Extent {
    packets: u64,
    left: (u64, u64),
    arrived: (u64, u64),
}

#[derive(Default)]
struct Collector {
    name: String,
    burst: u64,
    n: u64,
    first: Vec<Arrival>,
    bursts: BTreeMap<u64, Extent>,
}

/// What the rows tell of each test, by its number.
pub(super) fn read(
    record: &Record,
    tests: &[Tested],
) -> Result<BTreeMap<usize, (String, Arrivals)>, record::Error> {
    let mut all: BTreeMap<u16, Collector> = BTreeMap::new();
    each(record, |row: Arrival| {
        if row.test < MOST_TESTS {
            let burst = || {
                tests
                    .get(usize::from(row.test))
                    .map_or(1, Tested::burst_packets)
            };
            all.entry(row.test)
                .or_insert_with(|| Collector::of(&row.name, burst()))
                .see(row);
        }
    })?;
    let all = all.into_iter();
    Ok(all
        .map(|(test, one)| (usize::from(test), (one.name.clone(), one.arrivals())))
        .collect())
}

impl Collector {
    fn of(name: &str, burst: u64) -> Self {
        Self {
            name: name.to_owned(),
            burst: burst.max(1),
            ..Self::default()
        }
    }

    fn see(&mut self, row: Arrival) {
        self.n += 1;
        let most = self
            .burst
            .saturating_mul(BURSTS)
            .clamp(PACKETS.0, PACKETS.1);
        if self.burst > 1 {
            let extent = Extent::of(&row);
            let burst = self.bursts.entry(row.seq / self.burst);
            burst
                .and_modify(|all| *all = all.with(&extent))
                .or_insert(extent);
        }
        // Rows come in the order of the reports, which is nearly that of the numbers.
        if row.seq < most && (self.first.len() as u64) < most {
            self.first.push(row);
        }
    }

    fn arrivals(mut self) -> Arrivals {
        self.first.sort_by_key(|row| row.seq);
        let start_ns = self.first.iter().map(|row| row.t_ns).min().unwrap_or(0);
        let us = |row: &Arrival| row.t_ns.saturating_sub(start_ns) / 1_000;
        let marked = self.first.iter().enumerate().filter(|(_, row)| row.ce);
        Arrivals {
            t_us: differences(self.first.iter().map(us)),
            seq: differences(self.first.iter().map(|row| row.seq)),
            way_us: self.first.iter().map(way_us).collect(),
            marked: marked.map(|(place, _)| place).collect(),
            n: self.n,
            bursts: self.bursts(start_ns),
        }
    }

    fn bursts(&self, start_ns: u64) -> Bursts {
        let least = self.burst.div_ceil(2).max(2);
        let arrived = self.bursts.values().filter(|all| all.packets >= least);
        let mut bursts = Bursts::default();
        for extent in arrived {
            bursts.n += 1;
            if bursts.n <= MOST_BURSTS {
                let since = extent.left.0.saturating_sub(start_ns);
                bursts.t_s.push(seconds(since));
                bursts.left_ms.push(span_ms(extent.left));
                bursts.arrived_ms.push(span_ms(extent.arrived));
            }
        }
        bursts
    }
}

impl Extent {
    const fn of(row: &Arrival) -> Self {
        Self {
            packets: 1,
            left: (row.t_ns, row.t_ns),
            arrived: (row.arrived_ns, row.arrived_ns),
        }
    }

    fn with(&self, other: &Self) -> Self {
        let both = |a: (u64, u64), b: (u64, u64)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            packets: self.packets + other.packets,
            left: both(self.left, other.left),
            arrived: both(self.arrived, other.arrived),
        }
    }
}

fn span_ms((from, to): (u64, u64)) -> f64 {
    short(ms(to.saturating_sub(from)))
}

fn way_us(row: &Arrival) -> i64 {
    difference(row.t_ns / 1_000, row.arrived_ns / 1_000)
}

fn differences(values: impl Iterator<Item = u64>) -> Vec<i64> {
    let mut before = 0;
    values
        .map(|value| {
            let step = difference(before, value);
            before = value;
            step
        })
        .collect()
}
