//! Arrivals in any order become fates in the order of sending.
//!
//! The receiver of a stream feeds each arrival in. A packet that has not come is given up when a *later* one has been there for
//! `patience`: no packet is lost merely because another overtook it. What was settled stays settled; a packet that comes after
//! it was given up is counted as late, for it was lost to any transport that waits no longer.

use super::{Counts, Independence, Reordering};
use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// Packets that may be open at once. A sequence number beyond is refused: nothing that arrives makes memory unbounded.
pub const MAX_OPEN: u64 = 1 << 20;

/// What became of a packet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Fate {
    /// It arrived unmarked.
    Delivered,
    /// It arrived with congestion experienced.
    Marked,
    /// It did not arrive in time.
    Lost,
}

impl Fate {
    /// Whether a transport would slow down for it.
    pub const fn is_mark(self) -> bool {
        !matches!(self, Self::Delivered)
    }
}

/// What an arrival was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrival {
    /// A packet of the stream, the first copy.
    New,
    /// A copy of one that was there already.
    Duplicate,
    /// One that had been given up.
    Late,
    /// A number that the stream cannot have reached.
    Implausible,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Missing,
    Here(Fate),
}

/// The counters of the receiver of one stream, whose packets are numbered from 0.
#[derive(Clone, Debug)]
pub struct Ledger {
    patience: Duration,
    /// Number of the first open packet.
    base: u64,
    open: VecDeque<Slot>,
    /// Each time a higher number came: that number and when. What lies below may be missing.
    highs: VecDeque<(u64, Instant)>,
    counts: Counts,
    reordering: Reordering,
    independence: Independence,
    duplicates: u64,
    late: u64,
    implausible: u64,
}

impl Ledger {
    /// Counters that give a packet up when a later one has been there for `patience`.
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            base: 0,
            open: VecDeque::new(),
            highs: VecDeque::new(),
            counts: Counts::default(),
            reordering: Reordering::default(),
            independence: Independence::default(),
            duplicates: 0,
            late: 0,
            implausible: 0,
        }
    }

    /// Packet `seq` arrived at `now`, with congestion experienced if `ce`.
    pub fn handle_arrival(&mut self, seq: u64, ce: bool, now: Instant) -> Arrival {
        self.handle_timeout(now);
        if seq < self.base {
            return self.settled_already(seq);
        }
        if seq - self.base >= MAX_OPEN {
            self.implausible += 1;
            return Arrival::Implausible;
        }
        // Below MAX_OPEN, so within any usize.
        let index = usize::try_from(seq - self.base).unwrap_or(usize::MAX);
        if index >= self.open.len() {
            self.open.resize(index + 1, Slot::Missing);
            self.highs.push_back((seq, now));
        }
        let Some(slot) = self.open.get_mut(index) else {
            return Arrival::Implausible;
        };
        if matches!(slot, Slot::Here(_)) {
            self.duplicates += 1;
            return Arrival::Duplicate;
        }
        *slot = Slot::Here(if ce { Fate::Marked } else { Fate::Delivered });
        self.reordering.arrive(seq);
        self.settle_present();
        Arrival::New
    }

    /// Settled means delivered or given up; which, is no longer known. A number that RFC 4737 would call reordered is late.
    fn settled_already(&mut self, seq: u64) -> Arrival {
        if self.reordering.was_given_up(seq) {
            self.late += 1;
            Arrival::Late
        } else {
            self.duplicates += 1;
            Arrival::Duplicate
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do; `None` when nothing is missing.
    pub fn next_timeout(&self) -> Option<Instant> {
        let (_, at) = self.highs.iter().find(|(high, _)| *high > self.base)?;
        Some(*at + self.patience)
    }

    /// Gives up what is overdue at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(due) = self.next_timeout() {
            if due > now {
                return;
            }
            self.settle_first();
            self.settle_present();
        }
    }

    /// The sender says that it sent `sent` packets, and all that will come has come: what is missing is lost.
    pub fn close(&mut self, sent: u64) {
        let end = sent.min(self.base.saturating_add(MAX_OPEN));
        while self.base < end {
            if self.open.is_empty() {
                self.open.push_back(Slot::Missing);
            }
            self.settle_first();
        }
    }

    /// Settles the first open packet as it is.
    fn settle_first(&mut self) {
        let fate = match self.open.pop_front() {
            Some(Slot::Here(fate)) => fate,
            Some(Slot::Missing) => {
                self.reordering.give_up(self.base);
                Fate::Lost
            }
            None => return,
        };
        self.base += 1;
        self.counts.add(fate);
        self.independence.add(fate.is_mark());
        while self
            .highs
            .front()
            .is_some_and(|(high, _)| *high < self.base)
        {
            self.highs.pop_front();
        }
    }

    fn settle_present(&mut self) {
        while matches!(self.open.front(), Some(Slot::Here(_))) {
            self.settle_first();
        }
    }

    /// Packets whose fate is known.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// How far out of order packets came.
    pub const fn reordering(&self) -> &Reordering {
        &self.reordering
    }

    /// Whether marks come by themselves.
    pub const fn independence(&self) -> &Independence {
        &self.independence
    }

    /// Further copies of packets that had arrived.
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Packets that came after they had been given up.
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// Arrivals that no sender can have caused.
    pub const fn implausible(&self) -> u64 {
        self.implausible
    }
}
