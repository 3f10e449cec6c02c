//! The scoreboard: what has been sent and not yet acknowledged, and what is held to have become of it.
//!
//! Inside the machines segments are counted from 0 without wrap; [`crate::Seq`] exists on the wire only. Two rings: one of
//! *segments*, by number, from the oldest unacknowledged; and one of [`Copies`], in the order in which they left. While each
//! segment has left once, these are the same, and the second is not kept.
//!
//! The estimate of what is in the network is RFC 6675's *pipe* as counters: segments out, less those that arrived (SACK),
//! less those lost, plus those sent again (section 4, `SetPipe`).

use crate::copies::{Copies, Copy};
use crate::ranges::Ranges;
use crate::rarely::{Rarely, Rest};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::Instant;

/// Room for so many segments is kept while none is out.
const ROOM: usize = 16;

/// A segment that is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what is believed of a segment, as RFC 6675 and the kernel keep it; they are not exclusive"
)]
pub(crate) struct Entry {
    /// When its latest copy left.
    pub(crate) sent: Instant,
    /// The counter of its latest copy.
    pub(crate) copy: u64,
    /// Octets of payload.
    pub(crate) len: u16,
    /// It has arrived, says a SACK block.
    pub(crate) sacked: bool,
    /// It is held to be lost.
    pub(crate) lost: bool,
    /// Its latest copy is a retransmission that is not held to be lost.
    pub(crate) resent: bool,
    /// There was ever a second copy.
    pub(crate) ever_resent: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    una: u64,
    segments: VecDeque<Entry>,
    /// None while each segment that is out has left once, and no window probe between them: then the counters of their packets
    /// follow each other.
    copies: Option<Box<Copies>>,
    holes: Rarely<Holes>,
    /// Segments that arrived, by SACK, or by the count of duplicates where there is none.
    pub(crate) sacked_out: u32,
    /// Segments held to be lost.
    pub(crate) lost_out: u32,
    /// Retransmissions held to be in the network.
    pub(crate) resent_out: u32,
}

/// Where something is missing.
#[derive(Debug)]
struct Holes {
    sacked: Ranges,
    to_resend: BinaryHeap<Reverse<u64>>,
}

impl Rest for Holes {
    const REST: Self = Self {
        sacked: Ranges::new(),
        to_resend: BinaryHeap::new(),
    };
    const AT_REST: &'static Self = &Self::REST;
}

impl Scoreboard {
    /// Oldest unacknowledged segment.
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// Next new segment.
    pub(crate) fn next(&self) -> u64 {
        self.una + self.segments.len() as u64
    }

    /// Segments sent and not acknowledged.
    pub(crate) fn out(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }

    /// Segments that arrived or are lost.
    pub(crate) const fn left(&self) -> u32 {
        self.sacked_out + self.lost_out
    }

    /// Packets that are held to be in the network (RFC 6675 section 4, `pipe`).
    pub(crate) fn in_flight(&self) -> u32 {
        (self.out() + self.resent_out).saturating_sub(self.left())
    }

    /// The segment `number`, if it is out.
    pub(crate) fn get(&self, number: u64) -> Option<&Entry> {
        self.segments.get(self.index(number)?)
    }

    /// The oldest unacknowledged segment.
    pub(crate) fn head(&self) -> Option<&Entry> {
        self.segments.front()
    }

    /// The number after the highest segment that arrived; `una` if none did.
    pub(crate) fn highest_sacked(&self) -> u64 {
        self.holes.sacked.end().unwrap_or(self.una).max(self.una)
    }

    /// The packet with `counter`, if it is remembered.
    pub(crate) fn copy(&self, counter: u64) -> Option<Copy> {
        if let Some(copies) = &self.copies {
            return copies.get(counter);
        }
        let at = counter.checked_sub(self.head()?.copy)?;
        let entry = self.segments.get(usize::try_from(at).ok()?)?;
        Some(Copy {
            number: self.una + at,
            sent: entry.sent,
        })
    }

    /// The lowest counter that is remembered.
    pub(crate) fn oldest_copy(&self) -> u64 {
        match &self.copies {
            Some(copies) => copies.oldest(),
            None => self.head().map_or(0, |head| head.copy),
        }
    }

    /// The arrival of the packet with `counter` proves that of no segment from here on.
    pub(crate) fn proven_by(&self, counter: u64) -> u64 {
        match &self.copies {
            Some(copies) => copies.proven_by(counter),
            None => self.copy(counter).map_or(self.una, |copy| copy.number + 1),
        }
    }

    /// A new segment of `len` octets left as the packet with `counter`; returns its number.
    pub(crate) fn send(&mut self, len: u16, counter: u64, now: Instant) -> u64 {
        let number = self.next();
        self.segments.push_back(Entry {
            sent: now,
            copy: counter,
            len,
            sacked: false,
            lost: false,
            resent: false,
            ever_resent: false,
        });
        if self.copies.is_some() {
            self.remember(counter, Copy { number, sent: now });
        }
        number
    }

    /// Segment `number` left again as the packet with `counter`; returns its length.
    pub(crate) fn resend(&mut self, number: u64, counter: u64, now: Instant) -> Option<u16> {
        self.get(number)?;
        self.keep_copies();
        let entry = self.entry(number)?;
        let was_resent = entry.resent;
        (entry.sent, entry.copy) = (now, counter);
        (entry.resent, entry.ever_resent) = (true, true);
        let len = entry.len;
        self.resent_out += u32::from(!was_resent);
        self.remember(counter, Copy { number, sent: now });
        Some(len)
    }

    /// A packet that carries no segment left with `counter`; it stands for the segment before `number`.
    pub(crate) fn remember_empty(&mut self, counter: u64, now: Instant) {
        let number = self.next().saturating_sub(1);
        self.keep_copies();
        self.remember(counter, Copy { number, sent: now });
    }

    /// Segment `number` has arrived beyond a gap. Returns what it was before.
    pub(crate) fn sack(&mut self, number: u64) -> Option<Entry> {
        let entry = self.entry(number)?;
        let before = *entry;
        if before.sacked {
            return Some(before);
        }
        (entry.sacked, entry.lost, entry.resent) = (true, false, false);
        self.lost_out -= u32::from(before.lost);
        self.resent_out -= u32::from(before.resent);
        self.sacked_out += 1;
        Some(before)
    }

    /// Adds `[first, end)` to what has arrived; `fresh` hears of every part that is new.
    pub(crate) fn add_block(&mut self, first: u64, end: u64, fresh: &mut Vec<(u64, u64)>) {
        let (first, end) = (first.max(self.una), end.min(self.next()));
        self.holes
            .sacked
            .insert(first, end, |low, high| fresh.push((low, high)));
    }

    /// The oldest segment is acknowledged. Returns what it was. `is_sack`: that `sacked_out` counts what is marked.
    pub(crate) fn acknowledge(&mut self) -> Option<Entry> {
        let entry = self.segments.pop_front()?;
        self.una += 1;
        self.sacked_out -= u32::from(entry.sacked);
        self.lost_out -= u32::from(entry.lost);
        self.resent_out -= u32::from(entry.resent);
        Some(entry)
    }

    /// To be called when all that an acknowledgement covers has been taken.
    pub(crate) fn forget_acknowledged(&mut self) {
        if let Some(holes) = self.holes.written() {
            holes.sacked.forget_before(self.una);
        }
        if self.segments.is_empty() {
            if self.segments.capacity() > ROOM {
                self.segments = VecDeque::new();
            }
            self.holes.reset();
            self.copies = None;
        } else if let Some(copies) = &mut self.copies {
            copies.forget_before(self.una);
        }
    }

    /// Segment `number` is held to be lost; returns the counter of the copy if that is news.
    pub(crate) fn mark_lost(&mut self, number: u64) -> Option<u64> {
        let entry = self.entry(number)?;
        if entry.sacked || (entry.lost && !entry.resent) {
            return None;
        }
        let before = *entry;
        (entry.lost, entry.resent) = (true, false);
        self.lost_out += u32::from(!before.lost);
        self.resent_out -= u32::from(before.resent);
        self.holes.to_resend.push(Reverse(number));
        Some(before.copy)
    }

    /// The lowest segment that is lost and not sent again.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        while let Some(&Reverse(number)) = self.holes.to_resend.peek() {
            if self
                .get(number)
                .is_some_and(|entry| entry.lost && !entry.resent)
            {
                return Some(number);
            }
            self.holes.to_resend.pop();
        }
        None
    }

    /// Nothing is lost after all (RFC 4015 section 3.2 after a spurious timeout).
    pub(crate) fn clear_lost(&mut self) {
        for entry in &mut self.segments {
            entry.lost = false;
        }
        self.lost_out = 0;
        self.holes.to_resend.clear();
    }

    /// Forgets what SACK said (RFC 2018 section 8: the receiver may have dropped it).
    pub(crate) fn clear_sacked(&mut self) {
        for entry in &mut self.segments {
            entry.sacked = false;
        }
        self.holes.sacked.clear();
        self.sacked_out = 0;
    }

    fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.una)?).ok()
    }

    fn entry(&mut self, number: u64) -> Option<&mut Entry> {
        let index = self.index(number)?;
        self.segments.get_mut(index)
    }

    /// From now on packets are no longer the segments.
    fn keep_copies(&mut self) {
        if self.copies.is_none() {
            let sent = self.segments.iter().map(|entry| entry.sent);
            let base = self.head().map_or(0, |head| head.copy);
            self.copies = Some(Box::new(Copies::of_firsts(self.una, base, sent)));
        }
    }

    fn remember(&mut self, counter: u64, copy: Copy) {
        if let Some(copies) = &mut self.copies {
            copies.remember(counter, copy, self.segments.len());
        }
    }
}
