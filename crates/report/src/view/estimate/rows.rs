//! Tables `trains` and `probes`: what left, and what arrived of it.

use super::each;
use record::Record;
use schema::estimate::tables::{ProbeRow, TrainRow};
use std::collections::BTreeMap;

/// Trains of a page at most, and probes of one of them: more than any plan sends.
const MOST_TRAINS: usize = 200_000;
const MOST_PROBES: usize = 20_000;

/// The trains by their numbers.
pub(super) fn trains(record: &Record) -> Result<BTreeMap<u32, TrainRow>, record::Error> {
    let mut trains = BTreeMap::new();
    each(record, |row: TrainRow| {
        if trains.len() < MOST_TRAINS {
            trains.insert(row.train, row);
        }
    })?;
    Ok(trains)
}

/// The shortest way of all probes; 0 without any.
pub(super) fn least_way_ns(record: &Record) -> Result<i64, record::Error> {
    let mut least: Option<i64> = None;
    each(record, |row: ProbeRow| {
        let way = row.one_way_delay_ns();
        least = Some(least.map_or(way, |least| least.min(way)));
    })?;
    Ok(least.unwrap_or(0))
}

/// Hands the probes of each train that arrived to `see`, in the order of their numbers. The table has trains one after the other.
pub(super) fn each_passage(
    record: &Record,
    mut see: impl FnMut(&[ProbeRow]),
) -> Result<(), record::Error> {
    let mut passage: Vec<ProbeRow> = Vec::new();
    let mut hand_over = |passage: &mut Vec<ProbeRow>| {
        passage.sort_by_key(|row| row.probe);
        if !passage.is_empty() {
            see(passage);
        }
        passage.clear();
    };
    each(record, |row: ProbeRow| {
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
