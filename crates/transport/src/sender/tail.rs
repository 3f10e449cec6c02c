//! Tail loss probes (RFC 8985 section 7): when nothing comes back for two round trips, one segment asks for an
//! acknowledgement, long before the retransmission timer would.

use super::progress::Progress;
use super::rack::SLACK;
use super::timer::Kind;
use super::{Cause, Sender, State};
use std::num::NonZeroU64;
use units::{Instant, nanos};

/// The probe that is out, or due.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// `TLP.end_seq`: what had been sent with the probe ends here.
    end: Option<NonZeroU64>,
    /// `TLP.is_retrans`.
    is_resent: bool,
    /// The timer ran out; the probe leaves with the next poll.
    pub(super) is_due: bool,
}

impl Tail {
    pub(super) const fn forget(&mut self) {
        (self.end, self.is_due) = (None, false);
    }

    /// Whether what ends at `end` is the probe's segment, sent twice.
    pub(super) fn is_end(&self, end: u64) -> bool {
        self.is_resent && self.end == NonZeroU64::new(end)
    }
}

impl Sender {
    /// `PTO` (section 7.2): two round trips, and for a single segment the longest delay of acknowledgements.
    /// As the kernel: that is `rto_min`, and never later than the retransmission timer.
    pub(super) fn probe_after(&self, now: Instant, restarts: bool) -> Option<Instant> {
        let is_calm = self.state == State::Open || self.state == State::Cwr;
        if !self.has_rack() || self.board.out() == 0 || !is_calm {
            return None;
        }
        let timeout = match self.round_trips.srtt_ns() {
            0 => nanos(self.options.rto_initial.0),
            srtt if self.board.out() == 1 => {
                (srtt * 2).saturating_add(nanos(self.options.rto_min.0))
            }
            srtt => srtt * 2 + nanos(SLACK),
        };
        let rto_at = if restarts {
            now.later(self.round_trips.rto_ns())
        } else {
            self.head_expires()
        };
        let at = now.later(timeout);
        Some(if rto_at > now { at.min(rto_at) } else { at })
    }

    /// `TLP_send_probe` (section 7.3): the probe is due, unless one is out.
    pub(super) fn probe_timed_out(&mut self, now: Instant) {
        self.tail.is_due = self.tail.end.is_none() && self.board.out() > 0;
        self.arm_rto_from_head(now);
    }

    /// The probe leaves: a new segment when there is one, or else the last again. The retransmission timer starts anew, for
    /// the probe's answer must have the time to come (section 7.3; RFC 6298 section 5.1).
    pub(super) fn send_probe(&mut self, now: Instant) -> Option<crate::Segment> {
        self.tail.is_due = false;
        let last = self.board.next().checked_sub(1)?;
        let has_new = self.may_send_beyond_window();
        let segment = if has_new {
            self.send_new(now)
        } else {
            self.send_again(last, now)
        }?;
        self.tail.end = NonZeroU64::new(self.board.next());
        self.tail.is_resent = !has_new;
        self.repair.sent.tail_probes += 1;
        self.timer.arm(Kind::Rto, now + self.round_trips.rto());
        Some(segment)
    }

    /// Loss that the probe itself repaired is loss all the same (section 7.4).
    pub(super) fn tail_answered(&mut self, progress: &Progress) {
        let Some(end) = self.tail.end.map(NonZeroU64::get) else {
            return;
        };
        if progress.claim.ack < end || progress.is_old {
            return;
        }
        if !self.tail.is_resent || progress.probe_duplicate {
            self.tail.end = None;
        } else if progress.claim.ack > end {
            self.begin_tail_cut();
        } else if progress.is_duplicate_ack() && progress.sacked == 0 {
            self.tail.end = None;
        }
    }

    /// What is still out left before the cut: until it has been acknowledged another loss is no reason for another cut (RFC 6675
    /// section 5).
    fn begin_tail_cut(&mut self) {
        self.tail.end = None;
        if self.state >= State::Cwr {
            return;
        }
        self.repair.undo.marker = None;
        self.begin_reduction(Cause::Loss, false);
        self.state = State::Cwr;
        if self.board.out() == 0 {
            self.end_reduction();
        }
    }

    /// When the head's retransmission timer would run out.
    pub(super) fn head_expires(&self) -> Instant {
        let sent = self.board.head().map_or(Instant::ZERO, |head| head.sent);
        sent.later(self.round_trips.rto_ns().max(1))
    }
}
