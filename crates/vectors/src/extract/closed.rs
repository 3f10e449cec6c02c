//! Connections that ended a moment ago.
//!
//! After both FINs a connection may have a few packets more: the last acknowledgement, a FIN again. They must not begin another. A fixed table remembers the hashes of recent ends; a later one takes the place of
//! an earlier, whose stragglers, if there are any, would be a connection of one direction or without data, and be discarded.

/// How long a closed connection's packets may come (RFC 9293 section 3.4.1, twice the life of a segment).
const LIFE_NS: u64 = 240_000_000_000;
const PLACES: usize = 1 << 14;

#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    hash: u64,
    /// Zero is none.
    at_ns: u64,
}

#[derive(Debug)]
pub(super) struct Closed {
    places: Box<[Ended]>,
}

impl Closed {
    pub(super) fn new() -> Self {
        Self {
            places: vec![Ended::default(); PLACES].into(),
        }
    }

    pub(super) fn insert(&mut self, hash: u64, at_ns: u64) {
        let at_ns = at_ns.max(1);
        self.places[place(hash)] = Ended { hash, at_ns };
    }

    /// Whether a connection with this hash ended not long before.
    pub(super) fn has(&self, hash: u64, at_ns: u64) -> bool {
        let ended = self.places[place(hash)];
        ended.hash == hash && ended.at_ns > 0 && at_ns.saturating_sub(ended.at_ns) < LIFE_NS
    }

    /// Forgets it: another connection of the same ends has begun.
    pub(super) fn open(&mut self, hash: u64) {
        let ended = &mut self.places[place(hash)];
        if ended.hash == hash {
            ended.at_ns = 0;
        }
    }
}

const fn place(hash: u64) -> usize {
    (hash >> 20) as usize % PLACES
}
