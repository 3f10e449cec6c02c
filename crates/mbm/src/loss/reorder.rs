//! Reordering as RFC 4737 defines it, and RFC 8337 section 7.3 wants it instrumented.
//!
//! A packet is reordered when a higher number arrived before it (RFC 4737 section 3). Its *extent* is the number of packets that arrived between the first
//! of those and itself (section 4.2.2): how far back a receiver must remember. A transport with three duplicate acknowledgements as its
//! threshold takes an extent of three or more for a loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// Extents up to this are told exactly; a greater one counts as this.
const LONGEST: usize = 4_096;
/// Given-up numbers that are remembered, to tell a late packet from a copy.
const REMEMBERED: usize = 65_536;
/// The extent from which Reno retransmits (RFC 5681 section 3.2).
const DUP_THRESH: u64 = 3;

/// The counters of reordering.
#[derive(Clone, Debug, Default)]
pub struct Reordering {
    /// The number after the highest that arrived (RFC 4737's `NextExp`).
    next: u64,
    /// New maxima among the latest arrivals: position of the arrival and number, both rising.
    maxima: VecDeque<(u64, u64)>,
    arrived: u64,
    reordered: u64,
    beyond: u64,
    max_extent: u64,
    sum_extent: u64,
    given_up: BTreeSet<u64>,
}

/// Reordering in the form of a record.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReorderingReport {
    /// Packets that arrived, copies apart.
    pub arrived: u64,
    /// Of these, packets that a later one overtook.
    pub reordered: u64,
    /// The same, per cent.
    pub reordered_pct: f64,
    /// Largest extent, in packets; 4,096 stands for all that are larger.
    pub max_extent: u64,
    /// Mean extent of reordered packets.
    pub mean_extent: f64,
    /// Packets so late that three duplicate acknowledgements would have called them lost.
    pub beyond_dup_thresh: u64,
}

impl Reordering {
    /// The first copy of packet `seq` arrived.
    pub fn arrive(&mut self, seq: u64) {
        let position = self.arrived;
        self.arrived += 1;
        if seq >= self.next {
            self.next = seq.saturating_add(1);
            self.maxima.push_back((position, seq));
            if self.maxima.len() > LONGEST {
                self.maxima.pop_front();
            }
            return;
        }
        self.reordered += 1;
        // The first arrival with a higher number is the first maximum above `seq`.
        let index = self.maxima.partition_point(|(_, high)| *high < seq);
        let first = self.maxima.get(index).map_or(0, |(at, _)| *at);
        let extent = (position - first).min(LONGEST as u64);
        self.max_extent = self.max_extent.max(extent);
        self.sum_extent += extent;
        self.beyond += u64::from(extent >= DUP_THRESH);
    }

    /// Packet `seq` is no longer waited for.
    pub(super) fn give_up(&mut self, seq: u64) {
        self.given_up.insert(seq);
        if self.given_up.len() > REMEMBERED {
            self.given_up.pop_first();
        }
    }

    /// Whether `seq` was given up; it is forgotten by the question, so its next copy is a copy.
    pub(super) fn was_given_up(&mut self, seq: u64) -> bool {
        self.given_up.remove(&seq)
    }

    /// The figures.
    pub fn report(&self) -> ReorderingReport {
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        ReorderingReport {
            arrived: self.arrived,
            reordered: self.reordered,
            reordered_pct: 100.0 * share(self.reordered, self.arrived),
            max_extent: self.max_extent,
            mean_extent: share(self.sum_extent, self.reordered),
            beyond_dup_thresh: self.beyond,
        }
    }
}
