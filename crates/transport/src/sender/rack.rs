//! RACK: loss by time (RFC 8985 section 6), and how much reordering there is.
//!
//! Whatever left before a packet that has arrived is lost when it is later than that one by the reordering window. The
//! copies are looked at in the order in which they left, each once: a cursor stands before the first that may still come.

use super::progress::Progress;
use super::{Event, Sender, State};
use crate::scoreboard::Entry;
use std::time::Duration;
use units::{Instant, nanos};

/// Recoveries for which a widened window lasts (RFC 8985 section 6.2, step 4).
const PERSISTENCE: u32 = 16;
/// As wide as the kernel lets the window become, in quarters of a round trip.
const MOST_STEPS: u32 = 255;
/// As far as the kernel believes in reordering, in segments.
const MOST_REORDERING: u32 = 300;
/// What the kernel adds to RACK's and the probe's timers.
pub(super) const SLACK: Duration = Duration::from_millis(2);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// Of all packets that arrived the one that left last: `RACK.segment` (the counter after it; 0 before the first) and
    /// `RACK.xmit_ts`.
    latest_end: u64,
    latest_sent: Instant,
    /// `RACK.rtt`, nanoseconds.
    rtt_ns: u64,
    /// All copies before it are settled.
    cursor: u64,
}

/// How much reordering there was.
#[derive(Debug)]
pub(super) struct Reordering {
    /// The most segments by which one was late without being lost.
    extent: u32,
    /// `RACK.reordering_seen`.
    seen: bool,
    /// `RACK.reo_wnd_mult`.
    steps: u32,
    /// `RACK.reo_wnd_persist`.
    persist: u32,
    /// `RACK.dsack_round`.
    round_end: Option<u64>,
}

impl Reordering {
    /// None.
    pub(super) const NONE: Self = Self {
        extent: 0,
        seen: false,
        steps: 1,
        persist: PERSISTENCE,
        round_end: None,
    };

    /// A recovery ended: the wide window does not last for ever.
    pub(super) const fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }
}

impl Rack {
    /// Whether what left `age` ago can still be on its way.
    pub(super) const fn is_recent(&self, age: Duration) -> bool {
        nanos(age) < self.rtt_ns
    }

    /// Copies that were settled may come after all.
    pub(super) const fn look_again(&mut self) {
        self.cursor = 0;
    }
}

impl Sender {
    /// Segment `number` arrived, which was `entry` (RFC 8985 section 6.2 steps 1 and 2).
    pub(super) fn rack_delivered(&mut self, number: u64, entry: &Entry, progress: &Progress) {
        let (mut copy, mut sent) = (entry.copy, entry.sent);
        if entry.ever_resent {
            let cause = self.board.copy(progress.claim.cause);
            match cause.filter(|cause| cause.number == number) {
                Some(cause) => (copy, sent) = (progress.claim.cause, cause.sent),
                None if self.is_too_soon(progress.now.since(sent)) => return,
                None => {}
            }
        }
        self.rack.rtt_ns = nanos(progress.now.since(sent));
        if self.rack.latest_end <= copy {
            (self.rack.latest_end, self.rack.latest_sent) = (copy + 1, sent);
        }
    }

    /// Whether an acknowledgement cannot be that of what left only this long ago.
    fn is_too_soon(&self, age: Duration) -> bool {
        self.round_trips.min().is_some_and(|min| age < min)
    }

    /// `RACK_detect_loss` (section 6.2 step 5). Returns when to look again.
    pub(super) fn detect_by_time(
        &mut self,
        now: Instant,
        progress: Option<&mut Progress>,
    ) -> Option<Instant> {
        let latest = self.rack.latest_end.checked_sub(1)?;
        let allowance = Duration::from_nanos(self.rack.rtt_ns) + self.reordering_window();
        let (mut any, mut any_again) = (false, false);
        let mut again_at = None;
        let mut cursor = self.rack.cursor.max(self.board.oldest_copy());
        while cursor < latest {
            let Some(copy) = self.board.copy(cursor) else {
                break;
            };
            if self.may_come(cursor, copy.number) {
                if now.since(copy.sent) < allowance {
                    again_at = Some(self.rack.latest_sent + allowance + SLACK);
                    break;
                }
                any_again |= self
                    .board
                    .get(copy.number)
                    .is_some_and(|entry| entry.resent);
                any |= self.lose(copy.number);
            }
            cursor += 1;
        }
        self.rack.cursor = cursor;
        if let Some(progress) = progress {
            progress.lost |= any;
            progress.lost_again |= any_again;
        }
        again_at
    }

    /// Whether the packet with `counter` is the latest copy of segment `number`, and neither arrived nor lost.
    fn may_come(&self, counter: u64, number: u64) -> bool {
        let is_open =
            |entry: &Entry| entry.copy == counter && !entry.sacked && (entry.resent || !entry.lost);
        self.board.get(number).is_some_and(is_open)
    }

    /// Segment `number` is held to be lost.
    pub(super) fn lose(&mut self, number: u64) -> bool {
        let Some(counter) = self.board.mark_lost(number) else {
            return false;
        };
        self.events.push(Event::Lost(self.idents.name(counter)));
        true
    }

    /// `RACK_update_reo_wnd` (section 6.2 step 4): none in recovery, or once `DupThresh` segments arrived, until
    /// reordering has been seen.
    fn reordering_window(&self) -> Duration {
        let is_sure = self.state >= State::Recovery || self.board.sacked_out >= self.reordering();
        let reordering = &self.repair.reordering;
        if !reordering.seen && is_sure {
            return Duration::ZERO;
        }
        let min = self.round_trips.min().unwrap_or_default();
        let srtt = self.round_trips.srtt().unwrap_or_default();
        (min / 4).saturating_mul(reordering.steps).min(srtt)
    }

    /// Needless retransmissions widen the window, once a round trip.
    pub(super) fn adapt_reordering_window(&mut self, progress: &Progress) {
        let (una, next) = (self.board.una(), self.board.next());
        let Some(repair) = self.repair.written() else {
            return;
        };
        let reordering = &mut repair.reordering;
        if reordering.round_end.is_some_and(|end| una >= end) {
            reordering.round_end = None;
        }
        if progress.duplicate && reordering.round_end.is_none() {
            reordering.round_end = Some(next);
            reordering.steps = (reordering.steps + 1).min(MOST_STEPS);
            reordering.persist = PERSISTENCE;
        }
    }

    /// Segments by which one may be late without being lost: `DupThresh`, and more when more was seen.
    fn reordering(&self) -> u32 {
        let least = self.options.dup_thresh.clamp(1, MOST_REORDERING);
        self.repair.reordering.extent.max(least)
    }

    pub(super) fn has_much_reordering(&self) -> bool {
        self.reordering() > self.options.dup_thresh
    }

    /// After a timeout that many arrivals had preceded: there was less reordering than believed.
    pub(super) fn forget_reordering(&mut self) {
        let most = self.options.dup_thresh.max(1);
        let extent = &mut self.repair.reordering.extent;
        *extent = most.min(*extent);
    }

    /// A segment that was sent once arrived after later ones (RFC 8985 section 6.2 step 3).
    pub(super) fn note_reordering(&mut self, progress: &Progress) {
        let Some(number) = progress.overtaken else {
            return;
        };
        let extent = progress.sacked_before.saturating_sub(number);
        let extent = u32::try_from(extent).unwrap_or(MOST_REORDERING);
        let reordering = &mut self.repair.reordering;
        reordering.extent = reordering.extent.max(extent.min(MOST_REORDERING));
        reordering.seen = true;
    }
}
