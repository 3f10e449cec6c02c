//! What has arrived: everything before one number, and ranges beyond.

use crate::Seq;
use crate::ranges::Ranges;
use crate::segment::{MAX_BLOCKS, SackBlocks};
use std::collections::BTreeMap;

/// Ranges that one acknowledgement is expected to tell of (the kernel's `TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED_BLOCKS: usize = 2;

/// What became of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Placed {
    /// It was the next one. `closed_gap`: something beyond had been waiting for it.
    InOrder {
        /// See above.
        closed_gap: bool,
    },
    /// Something is missing before it. `is_far`: the range that it begins or extends is none of the two that the latest acknowledgement
    /// told of first, so a few more like it, and there would be no room to tell of all.
    Beyond {
        /// See above.
        is_far: bool,
    },
    /// It was here already.
    Duplicate,
}

/// A segment that waits for one before it.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    len: u16,
    last: bool,
}

/// See the module. It remembers one entry for each segment that waits, whatever their numbers are: a sender that skips a
/// million costs as much as one that skips one.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    next: u64,
    bytes: u64,
    last: bool,
    /// Since something was missing for the first time.
    beyond: Option<Box<Beyond>>,
}

/// Segments beyond the next.
#[derive(Debug, Default)]
struct Beyond {
    waiting: BTreeMap<u64, Waiting>,
    ranges: Ranges,
    /// A number in each of the ranges that changed lately, the latest first.
    recent: [u64; MAX_BLOCKS],
}

impl Assembly {
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Octets in order.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the latest segment in order is the last of all, and nothing beyond it is here.
    pub(super) fn is_complete(&self) -> bool {
        self.last && !self.has_gap()
    }

    /// Whether something waits beyond a gap.
    pub(super) fn has_gap(&self) -> bool {
        let beyond = self.beyond.as_ref();
        beyond.is_some_and(|beyond| !beyond.ranges.is_empty())
    }

    /// Segment `number` of `len` octets is here; the caller has seen to it that it is within the window.
    pub(super) fn place(&mut self, number: u64, len: u16, last: bool) -> Placed {
        let segment = Waiting { len, last };
        if number == self.next {
            let closed_gap = self.has_gap();
            self.advance(segment);
            return Placed::InOrder { closed_gap };
        }
        if number < self.next {
            return Placed::Duplicate;
        }
        let beyond = self.beyond.get_or_insert_default();
        if beyond.waiting.contains_key(&number) {
            return Placed::Duplicate;
        }
        beyond.waiting.insert(number, segment);
        beyond.ranges.insert(number, number + 1, |_, _| {});
        let is_far = beyond.touch(number) >= EXPECTED_BLOCKS;
        Placed::Beyond { is_far }
    }

    /// The next segment is here, and with it those that waited for it.
    fn advance(&mut self, first: Waiting) {
        let mut segment = Some(first);
        while let Some(Waiting { len, last }) = segment {
            self.next += 1;
            self.bytes += u64::from(len);
            self.last = last;
            let beyond = self.beyond.as_mut();
            segment = match beyond.and_then(|beyond| beyond.waiting.first_entry()) {
                Some(entry) if *entry.key() == self.next => Some(entry.remove()),
                _ => None,
            };
        }
        if let Some(beyond) = &mut self.beyond {
            beyond.ranges.forget_before(self.next);
        }
    }

    /// The blocks of the next acknowledgement, `most` at most: `duplicate` first (RFC 2883 section 4), then the latest, then those reported
    /// most recently (RFC 2018 section 4).
    pub(super) fn blocks(
        &self,
        duplicate: Option<u64>,
        most: usize,
        seq: impl Fn(u64) -> Seq,
    ) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        let around = |number| self.beyond.as_ref()?.ranges.around(number);
        if let Some(number) = duplicate {
            blocks.push(seq(number), seq(number + 1));
            if let Some((first, end)) = around(number) {
                blocks.push(seq(first), seq(end));
            }
        }
        let Some(beyond) = self.beyond.as_ref().filter(|_| self.has_gap()) else {
            return blocks;
        };
        let around_duplicate = duplicate.and_then(around);
        let mut told = [around_duplicate; MAX_BLOCKS + 1];
        for (at, number) in beyond.recent.iter().enumerate() {
            let range = around(*number);
            let has_room = blocks.iter().len() < most;
            if has_room && range.is_some() && !told.contains(&range) {
                let (first, end) = range.unwrap_or_default();
                blocks.push(seq(first), seq(end));
                told[at + 1] = range;
            }
        }
        blocks
    }
}

impl Beyond {
    /// The range around `number` is the latest that changed (RFC 2018 section 4). Returns how many had changed since it did; of a new one, all
    /// others.
    fn touch(&mut self, number: u64) -> usize {
        let around = self.ranges.around(number);
        let is_same =
            |other: &u64| around.is_some_and(|range| range.0 <= *other && *other < range.1);
        let place = self.recent.iter().position(is_same);
        let others = place.unwrap_or_else(|| self.ranges.count().saturating_sub(1));
        let end = place.unwrap_or(MAX_BLOCKS - 1);
        if let Some(moved) = self.recent.get_mut(..=end) {
            moved.rotate_right(1);
        }
        self.recent[0] = number;
        others
    }
}
