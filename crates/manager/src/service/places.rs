//! The connections of an endpoint: so many, and strangers who say nothing keep nobody out.
//!
//! When all places are taken a new connection gets the place of one that has not asked for [`QUIET`]: of the source with the most of
//! those the oldest. One that has asked keeps its place, and one that has just come has time to ask; while there are no others, new
//! ones wait.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use units::Instant;

/// Who has not asked after this may have to make room. A request arrives with its connection.
const QUIET: Duration = Duration::from_millis(500);

/// Who has which place; `H` is what a connection is ended by.
pub(super) struct Places<H> {
    most: usize,
    /// Number of the latest connection.
    last: u64,
    taken: BTreeMap<u64, Place<H>>,
}

struct Place<H> {
    source: u64,
    since: Instant,
    has_asked: bool,
    handle: Option<H>,
}

/// A new connection has a place.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Entry<H> {
    pub number: u64,
    /// By this a connection ends whose place it is no more.
    pub closes: Option<H>,
}

impl<H> Places<H> {
    pub(super) const fn new(most: usize) -> Self {
        Self {
            most,
            last: 0,
            taken: BTreeMap::new(),
        }
    }

    /// A place for a connection from `source` that came `now`; none where all are taken by those who have asked, or may still ask.
    pub(super) fn enter(&mut self, source: u64, now: Instant) -> Option<Entry<H>> {
        let mut closes = None;
        if self.taken.len() >= self.most {
            let number = self.least_likely(now)?;
            closes = self.taken.remove(&number).and_then(|place| place.handle);
        }
        self.last += 1;
        let place = Place {
            source,
            since: now,
            has_asked: false,
            handle: None,
        };
        self.taken.insert(self.last, place);
        let number = self.last;
        Some(Entry { number, closes })
    }

    /// The connection can be ended by this.
    pub(super) fn keep(&mut self, number: u64, handle: H) {
        if let Some(place) = self.taken.get_mut(&number) {
            place.handle = Some(handle);
        }
    }

    /// The connection has asked for something.
    pub(super) fn has_asked(&mut self, number: u64) {
        if let Some(place) = self.taken.get_mut(&number) {
            place.has_asked = true;
        }
    }

    /// The connection is over.
    pub(super) fn leave(&mut self, number: u64) {
        self.taken.remove(&number);
    }

    fn least_likely(&self, now: Instant) -> Option<u64> {
        let is_silent = |place: &Place<H>| !place.has_asked && now.since(place.since) >= QUIET;
        let silent = || self.taken.iter().filter(|(_, place)| is_silent(place));
        let mut of_source: HashMap<u64, usize> = HashMap::new();
        for (_, place) in silent() {
            *of_source.entry(place.source).or_default() += 1;
        }
        let likely = |(number, place): &(&u64, &Place<H>)| {
            let of_source = of_source.get(&place.source).copied();
            (of_source, Reverse(**number))
        };
        silent().max_by_key(likely).map(|(number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enters after all before have been silent for long, with its own number as its handle.
    fn enter(places: &mut Places<u64>, source: u64) -> Option<Entry<u64>> {
        let entry = places.enter(source, Instant::ZERO + Duration::from_secs(places.last))?;
        places.keep(entry.number, entry.number);
        Some(entry)
    }

    #[test]
    fn the_oldest_silent_one_of_the_busiest_source_makes_room() {
        let mut places = Places::new(4);
        for (source, number) in [(1, 1), (2, 2), (2, 3), (2, 4)] {
            let closes = None;
            assert_eq!(enter(&mut places, source), Some(Entry { number, closes }));
        }
        places.has_asked(2);
        let closed = |places: &mut Places<u64>, source| enter(places, source).unwrap().closes;
        assert_eq!(closed(&mut places, 3), Some(3));
        // Of sources with as many the oldest.
        assert_eq!(closed(&mut places, 3), Some(1));
        assert_eq!(closed(&mut places, 4), Some(5));
    }

    #[test]
    fn who_has_asked_keeps_the_place() {
        let mut places = Places::new(2);
        for number in 1..=2 {
            enter(&mut places, 7).unwrap();
            places.has_asked(number);
        }
        assert_eq!(enter(&mut places, 8), None);
        places.leave(1);
        assert_eq!(
            enter(&mut places, 8),
            Some(Entry {
                number: 3,
                closes: None
            })
        );
        // What is gone is not marked.
        places.has_asked(1);
        assert_eq!(enter(&mut places, 8).unwrap().closes, Some(3));
    }

    #[test]
    fn who_has_just_come_has_time_to_ask() {
        let mut places = Places::<u64>::new(1);
        assert!(places.enter(1, Instant::ZERO).is_some());
        assert_eq!(places.enter(2, Instant::ZERO + QUIET / 2), None);
        assert!(places.enter(2, Instant::ZERO + QUIET).is_some());
    }

    #[test]
    fn a_source_that_fills_all_places_again_and_again_keeps_nobody_out() {
        let mut places = Places::new(160);
        for _ in 0..160 {
            enter(&mut places, 1).unwrap();
        }
        let guest = enter(&mut places, 2).unwrap().number;
        for _ in 0..1_000 {
            assert_ne!(enter(&mut places, 1).unwrap().closes, Some(guest));
        }
    }
}
