//! Packets from their fragments.
//!
//! Fragments may come late, out of order, twice, never, or from somebody who means harm. Each packet in the making has a
//! bucket, found by its sender, its protocol and its identifier (T section 4.6.1). What is bounded is the number of buckets, the octets in
//! all of them, and their age; when there is no room the oldest goes. A packet of which two fragments contradict each other
//! is given up, and so is everything that still comes of it (RFC 5722).

mod bucket;

use crate::packet::Fragment;
use bucket::{Bucket, Fit};
use core::net::IpAddr;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use units::Instant;

/// How long a packet may take from its first fragment to its last, as in Linux (T section 4.6).
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// How many packets that are over can be looked at.
const MOST_RECENT: usize = 32;

/// By which fragments belong together.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Key {
    /// Who sends them.
    pub source: IpAddr,
    /// The protocol of the packet that was cut, as IP numbers it.
    pub protocol: u8,
    /// Its number among those of its sender.
    pub id: u32,
}

/// How much may be kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Packets in the making.
    pub packets: usize,
    /// Octets of all of them.
    pub octets: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            packets: 1_024,
            octets: 4 << 20,
        }
    }
}

/// What became of fragments and packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Fragments that came.
    pub fragments: u64,
    /// Those that were there already.
    pub repeated: u64,
    /// Packets that were put together.
    pub whole: u64,
    /// Packets given up because fragments contradict each other, and fragments of such packets.
    pub contradicted: u64,
    /// Packets given up because they took too long.
    pub expired: u64,
    /// Packets given up because there was no room.
    pub evicted: u64,
}

/// How far a packet is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Status {
    /// Fragments are missing.
    Growing,
    /// It was handed over.
    Whole,
    /// Fragments contradicted each other, and it was given up.
    Contradicted,
    /// It took too long.
    Expired,
    /// There was no room for it.
    Evicted,
}

/// The state of a packet, for who looks at the table (T table 4.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct State {
    /// Which packet.
    pub key: Key,
    /// Fragments of it that have come.
    pub fragments: u32,
    /// Octets that are kept of it.
    pub octets: usize,
    /// When the first came.
    pub since: Instant,
    /// How far it is.
    pub status: Status,
}

impl State {
    fn new(key: Key, since: Instant, bucket: &Bucket, status: Status) -> Self {
        Self {
            key,
            fragments: bucket.fragments(),
            octets: bucket.kept(),
            since,
            status,
        }
    }
}

#[derive(Debug)]
struct Entry {
    since: Instant,
    /// None once it was given up: what still comes of it is dropped.
    bucket: Option<Bucket>,
}

/// All packets in the making.
#[derive(Debug)]
pub struct Reassembly {
    limits: Limits,
    entries: HashMap<Key, Entry>,
    /// Keys by age, the oldest first; some of entries that are gone.
    ages: VecDeque<(Instant, Key)>,
    octets: usize,
    counters: Counters,
    /// The last [`MOST_RECENT`] that are whole or were given up.
    recent: VecDeque<State>,
}

impl Reassembly {
    /// Nothing yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            entries: HashMap::new(),
            ages: VecDeque::new(),
            octets: 0,
            counters: Counters::default(),
            recent: VecDeque::new(),
        }
    }

    /// Takes a fragment of the packet `key`; hands over the packet when it is whole.
    pub fn handle(&mut self, key: Key, fragment: &Fragment<'_>, now: Instant) -> Option<Vec<u8>> {
        self.handle_timeout(now);
        self.counters.fragments += 1;
        let entry = self.entries.entry(key).or_insert_with(|| {
            self.ages.push_back((now, key));
            Entry {
                since: now,
                bucket: Some(Bucket::new()),
            }
        });
        let Some(bucket) = &mut entry.bucket else {
            self.counters.contradicted += 1;
            return None;
        };
        let before = bucket.kept();
        let fit = bucket.enter(fragment);
        self.octets += bucket.kept() - before;
        match fit {
            Fit::Repeated => self.counters.repeated += 1,
            Fit::Plugged if bucket.is_whole() => return self.whole(&key),
            Fit::Plugged => {}
            Fit::Overlaps => {
                self.octets -= bucket.kept();
                entry.bucket = None;
                self.counters.contradicted += 1;
            }
        }
        self.make_room();
        None
    }

    /// Gives up what took too long.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(since, key)) = self.ages.front()
            && now.since(since) >= TIMEOUT
        {
            self.ages.pop_front();
            if self.is_current(since, &key) && self.remove(&key, Status::Expired).is_some() {
                self.counters.expired += 1;
            }
        }
    }

    /// When the oldest packet will have taken too long.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.ages.front().map(|(since, _)| *since + TIMEOUT)
    }

    /// What has happened so far.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// All packets in the making, the oldest first, and those that were given up because of a contradiction.
    pub fn states(&self) -> Vec<State> {
        let states = self.ages.iter().filter_map(|(since, key)| {
            let entry = self
                .entries
                .get(key)
                .filter(|entry| entry.since == *since)?;
            let state = |bucket| State::new(*key, *since, bucket, Status::Growing);
            let dead = State {
                key: *key,
                fragments: 0,
                octets: 0,
                since: *since,
                status: Status::Contradicted,
            };
            Some(entry.bucket.as_ref().map_or(dead, state))
        });
        states.collect()
    }

    /// The last packets that became whole or were given up for want of time or room, the oldest first.
    pub fn recent(&self) -> impl Iterator<Item = &State> {
        self.recent.iter()
    }

    fn whole(&mut self, key: &Key) -> Option<Vec<u8>> {
        let bucket = self.remove(key, Status::Whole)?;
        self.counters.whole += 1;
        self.forget_ages();
        Some(bucket.into_octets())
    }

    fn is_current(&self, since: Instant, key: &Key) -> bool {
        let entry = self.entries.get(key);
        entry.is_some_and(|entry| entry.since == since)
    }

    /// Takes a packet out; none when it had been given up.
    fn remove(&mut self, key: &Key, status: Status) -> Option<Bucket> {
        let entry = self.entries.remove(key)?;
        let bucket = entry.bucket?;
        self.octets -= bucket.kept();
        let state = State::new(*key, entry.since, &bucket, status);
        if self.recent.len() >= MOST_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(state);
        Some(bucket)
    }

    /// Gives up the oldest until the rest is within the limits.
    fn make_room(&mut self) {
        while self.entries.len() > self.limits.packets || self.octets > self.limits.octets {
            let Some((since, key)) = self.ages.pop_front() else {
                return;
            };
            if self.is_current(since, &key) && self.remove(&key, Status::Evicted).is_some() {
                self.counters.evicted += 1;
            }
        }
        self.forget_ages();
    }

    /// Packets that were whole leave their ages behind; never more of them than of packets, and none at the head, where they would
    /// wake somebody up for nothing.
    fn forget_ages(&mut self) {
        while let Some(&(since, key)) = self.ages.front()
            && !self.is_current(since, &key)
        {
            self.ages.pop_front();
        }
        if self.ages.len() > 2 * self.limits.packets.max(16) {
            let entries = &self.entries;
            self.ages.retain(|(since, key)| {
                let entry = entries.get(key);
                entry.is_some_and(|entry| entry.since == *since)
            });
        }
    }
}

#[cfg(test)]
mod tests;
