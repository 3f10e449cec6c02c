//! Tables `trains` and `probes`: what left, and what arrived of it.

#![expect(clippy::struct_field_names, reason = "named as in the tables")]

use super::each;
use crate::view::btc::difference;
use record::Record;
use std::collections::BTreeMap;

/// Trains of a page at most, and probes of one of them: more than any plan sends.
const MOST_TRAINS: usize = 200_000;
const MOST_PROBES: usize = 20_000;

record::table! {
    /// A train that left.
    pub(super) struct Train in "trains" {
        /// Its number.
        train: u32,
        /// When its first probe left that arrived; when it was given up, if none did.
        t_ns: u64,
        /// Probes that left.
        probes: u32,
        /// Probes that arrived.
        arrived: u32,
        /// Octets of its packets, IP headers included.
        bytes: u64,
        /// How long it was to last, from its first probe to its last; 0 for one that leaves as fast as the host can.
        planned_ns: u64,
        /// How long it did.
        lasted_ns: u64,
        /// By how much a gap between two probes was wrong at most.
        worst_gap_error_ns: u64,
    }
}

record::table! {
    /// A probe that arrived.
    pub(super) struct Probe in "probes" {
        /// Which train.
        train: u32,
        /// Its place in it, from 0.
        probe: u32,
        /// Octets of the packet, IP header included.
        bytes: u32,
        /// When it left.
        t_ns: u64,
        /// When it arrived.
        arrived_ns: u64,
        /// When it was back; null where it was not sent back.
        returned_ns: Option<u64>,
    }
}

impl Train {
    pub(super) fn lost(&self) -> u32 {
        self.probes.saturating_sub(self.arrived)
    }
}

impl Probe {
    /// From its departure to its arrival: as right as the offset of the two clocks.
    pub(super) fn way_ns(&self) -> i64 {
        difference(self.t_ns, self.arrived_ns)
    }

    /// From its departure to its return.
    pub(super) fn round_trip_ns(&self) -> Option<u64> {
        self.returned_ns?.checked_sub(self.t_ns)
    }
}

/// The trains by their numbers.
pub(super) fn trains(record: &Record) -> Result<BTreeMap<u32, Train>, record::Error> {
    let mut trains = BTreeMap::new();
    each(record, |row: Train| {
        if trains.len() < MOST_TRAINS {
            trains.insert(row.train, row);
        }
    })?;
    Ok(trains)
}

/// The shortest way of all probes; 0 without any.
pub(super) fn least_way_ns(record: &Record) -> Result<i64, record::Error> {
    let mut least: Option<i64> = None;
    each(record, |row: Probe| {
        let way = row.way_ns();
        least = Some(least.map_or(way, |least| least.min(way)));
    })?;
    Ok(least.unwrap_or(0))
}

/// Hands the probes of each train that arrived to `see`, in the order of their numbers. The table has trains one after the other.
pub(super) fn each_passage(
    record: &Record,
    mut see: impl FnMut(&[Probe]),
) -> Result<(), record::Error> {
    let mut passage: Vec<Probe> = Vec::new();
    let mut hand_over = |passage: &mut Vec<Probe>| {
        passage.sort_by_key(|row| row.probe);
        if !passage.is_empty() {
            see(passage);
        }
        passage.clear();
    };
    each(record, |row: Probe| {
        let is_next = passage
            .first()
            .is_some_and(|first| first.train != row.train);
        if is_next || passage.len() >= MOST_PROBES {
            hand_over(&mut passage);
        }
        passage.push(row);
    })?;
    hand_over(&mut passage);
    Ok(())
}
