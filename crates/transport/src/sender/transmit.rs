//! What may leave now: first what is lost, then what is new, as far as the windows go.

use super::timer::Kind;
use super::{Sender, State};
use crate::{Segment, SegmentFlags};
use units::Instant;

/// How much of the window has been used: it grows only when it was used up (RFC 7661's reason, the kernel's rule).
#[derive(Debug, Default)]
pub(super) struct Usage {
    is_limited: bool,
    /// Most segments out in the window that ends at `end`.
    most_out: u32,
    end: u64,
    /// Most segments out since the window was last used up, at `since`.
    used: u32,
    since: Instant,
    /// When the latest new segment left.
    last_sent: Instant,
    /// Something left since the last look.
    is_active: bool,
}

impl Sender {
    /// The next packet to send, if any may leave now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if std::mem::take(&mut self.timer.probe_is_due) {
            return Some(self.send_window_probe(now));
        }
        if self.tail.is_due
            && let Some(segment) = self.send_probe(now)
        {
            return Some(segment);
        }
        self.restart_after_idle(now);
        if self.prefers_new {
            if let Some(segment) = self.send_within_window(now) {
                self.holds = true;
                return Some(segment);
            }
            self.prefers_new = false;
            self.frto &= self.holds;
        }
        let segment = self
            .send_lost(now)
            .or_else(|| self.send_within_window(now))
            .or_else(|| self.send_rescue(now));
        if segment.is_none() {
            self.settle(now);
        }
        segment
    }

    fn send_lost(&mut self, now: Instant) -> Option<Segment> {
        let has_room = self.board.in_flight() < self.window.cwnd || self.forced;
        if self.holds || !has_room {
            return None;
        }
        let number = self.board.next_lost()?;
        self.forced = false;
        let is_first_copy = self
            .board
            .get(number)
            .is_some_and(|entry| !entry.ever_resent);
        if self.state == State::Recovery && is_first_copy {
            self.repair.rescue.repaired += 1;
            self.repair.sent.multiple_losses += u64::from(self.repair.rescue.repaired == 2);
        }
        self.send_again(number, now)
    }

    pub(super) fn send_again(&mut self, number: u64, now: Instant) -> Option<Segment> {
        let counter = self.idents.next();
        let len = self.board.resend(number, counter, now)?;
        self.repair.undo.note_resent(now);
        self.repair.rescue.note_resent(number);
        self.repair.timed = self.repair.timed.filter(|timed| *timed != number);
        self.repair.sent.retransmits += 1;
        if number == self.board.una() && !self.timer.is_for(Kind::Reordering) {
            self.timer.arm(Kind::Rto, now + self.round_trips.rto());
        }
        Some(self.packet(number, len, now))
    }

    fn send_within_window(&mut self, now: Instant) -> Option<Segment> {
        let is_doubtful = self.state == State::Disorder && !self.options.limited_transmit;
        let used = if is_doubtful {
            self.board.out()
        } else {
            self.board.in_flight()
        };
        if used >= self.window.cwnd || !self.may_send_beyond_window() {
            return None;
        }
        self.send_new(now)
    }

    /// Whether there is a new segment, and room for it at the receiver.
    pub(super) fn may_send_beyond_window(&self) -> bool {
        let limit = self.board.una() + u64::from(self.window.limit);
        !self.supply.is_empty() && self.board.next() < self.edge.min(limit)
    }

    pub(super) fn send_new(&mut self, now: Instant) -> Option<Segment> {
        let len = self.supply.take()?;
        let out_before = self.board.out();
        let number = self.board.send(len, self.idents.next(), now);
        self.sent.largest_flight = self.sent.largest_flight.max(out_before + 1);
        if !self.options.timestamps {
            self.repair.timed.get_or_insert(number);
        }
        (self.usage.is_active, self.usage.last_sent) = (true, now);
        self.arm_after_send(out_before, now);
        let mut segment = self.packet(number, len, now);
        segment.flags.cwr = std::mem::take(&mut self.owes_cwr);
        Some(segment)
    }

    fn packet(&mut self, number: u64, len: u16, now: Instant) -> Segment {
        self.sent.packets += 1;
        self.sent.bytes += u64::from(len);
        if matches!(self.state, State::Cwr | State::Recovery) {
            self.repair.reduction.out += 1;
        }
        Segment {
            seq: self.seq(number),
            id: self.idents.issue(),
            len,
            flags: SegmentFlags {
                last: self.is_last(number),
                ..SegmentFlags::default()
            },
            sent: now,
        }
    }

    /// RFC 9293 section 3.8.6.1.
    fn send_window_probe(&mut self, now: Instant) -> Segment {
        self.board.remember_empty(self.idents.next(), now);
        self.repair.sent.window_probes += 1;
        self.arm_persist(now);
        Segment {
            seq: self.seq(self.board.next()),
            id: self.idents.issue(),
            len: 0,
            flags: SegmentFlags {
                probe: true,
                ..SegmentFlags::default()
            },
            sent: now,
        }
    }

    /// Nothing more may leave: was it the window that forbade it?
    fn settle(&mut self, now: Instant) {
        let is_limited = self.board.in_flight() >= self.window.cwnd;
        let is_waiting = is_limited && !self.supply.is_empty();
        if std::mem::take(&mut self.usage.is_active) || is_waiting {
            self.validate(is_limited, now);
        }
        if !self.supply.is_empty() && self.timer.deadline().is_none() {
            self.arm_persist(now);
        }
    }

    fn validate(&mut self, is_limited: bool, now: Instant) {
        let (out, una) = (self.board.out(), self.board.una());
        let usage = &mut self.usage;
        if una >= usage.end || is_limited || (!usage.is_limited && out > usage.most_out) {
            (usage.is_limited, usage.most_out) = (is_limited, out);
            usage.end = self.board.next();
        }
        if self.is_window_limited() {
            (self.usage.used, self.usage.since) = (0, now);
            return;
        }
        self.usage.used = self.usage.used.max(out);
        let is_long = now.since(self.usage.since) >= self.round_trips.rto();
        if self.options.restart_after_idle && is_long {
            self.shrink_unused(now);
        }
    }

    /// Whether the window may grow: in slow start when more than half of it was used, else when all was.
    pub(super) fn is_window_limited(&self) -> bool {
        let usage = &self.usage;
        let is_half_used = self.window.cwnd < usage.most_out.saturating_mul(2);
        !self.options.validate_window
            || usage.is_limited
            || (self.window.in_slow_start() && is_half_used)
    }

    /// RFC 2861 section 3.1: half of what has not been used for a timeout goes.
    fn shrink_unused(&mut self, now: Instant) {
        let used = self.usage.used.max(self.options.initial_window);
        if self.state == State::Open && self.supply.is_empty() && used < self.window.cwnd {
            self.window.ssthresh = self.current_ssthresh();
            self.window.cwnd = u32::midpoint(self.window.cwnd, used);
        }
        (self.usage.used, self.usage.since) = (0, now);
    }

    /// RFC 5681 section 4.1, by halves (RFC 2861 section 3.1).
    fn restart_after_idle(&mut self, now: Instant) {
        if self.board.out() > 0 || self.supply.is_empty() || self.sent.packets == 0 {
            return;
        }
        let pause = now.since(self.usage.last_sent);
        let rto = self.round_trips.rto();
        if !self.options.restart_after_idle || pause <= rto {
            return;
        }
        self.controller.paused(pause);
        self.window.ssthresh = self.current_ssthresh();
        let floor = self.options.initial_window.min(self.window.cwnd);
        let halvings = (pause.as_nanos() / rto.as_nanos().max(1)).min(31);
        let halved = self.window.cwnd >> u32::try_from(halvings).unwrap_or(31);
        self.window.cwnd = halved.max(floor).max(1);
        (self.usage.used, self.usage.since, self.usage.last_sent) = (0, now, now);
    }
}
