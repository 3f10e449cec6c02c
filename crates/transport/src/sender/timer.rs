//! One timer for four purposes, as the kernel has it: each replaces the one before.
//!
//! The retransmission timer follows RFC 6298 section 5: started with the first segment out (5.1), stopped with nothing out
//! (5.2), started anew by progress (5.3), and when it runs out: the head again (5.4), twice the time (5.5), started (5.6).

use super::{Cause, Event, Sender, State};
use units::Instant;

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Kind {
    /// Retransmission timeout.
    #[default]
    Rto,
    /// Tail loss probe.
    Tail,
    /// What RACK still gives time (RFC 8985 section 6.3).
    Reordering,
    /// A window probe (RFC 9293 section 3.8.6.1).
    Persist,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Timer {
    kind: Kind,
    /// [`Instant::FAR_FUTURE`] is never.
    at: Instant,
    /// Window probes without an answer that opened the window.
    probes: u32,
    /// A window probe leaves with the next poll.
    pub(super) probe_is_due: bool,
}

impl Timer {
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        (self.at < Instant::FAR_FUTURE).then_some(self.at)
    }

    pub(super) fn is_for(&self, kind: Kind) -> bool {
        self.at < Instant::FAR_FUTURE && self.kind == kind
    }

    pub(super) const fn arm(&mut self, kind: Kind, at: Instant) {
        (self.kind, self.at) = (kind, at);
    }

    pub(super) const fn arm_reordering(&mut self, at: Instant) {
        self.arm(Kind::Reordering, at);
    }

    const fn stop(&mut self) {
        self.at = Instant::FAR_FUTURE;
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self {
            kind: Kind::Rto,
            at: Instant::FAR_FUTURE,
            probes: 0,
            probe_is_due: false,
        }
    }
}

impl Sender {
    /// The instant of [`Sender::next_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.timer.deadline().is_none_or(|at| now < at) {
            return;
        }
        let kind = self.timer.kind;
        self.timer.stop();
        match kind {
            Kind::Rto => self.retransmission_timed_out(now),
            Kind::Tail => self.probe_timed_out(now),
            Kind::Reordering => self.reordering_timed_out(now),
            Kind::Persist => self.persist_timed_out(),
        }
    }

    /// After a segment left. `out_before`: how many were out.
    pub(super) fn arm_after_send(&mut self, out_before: u32, now: Instant) {
        let is_free = out_before == 0 || !self.timer.is_for(Kind::Reordering);
        if is_free && let Some(at) = self.probe_after(now, false) {
            self.timer.arm(Kind::Tail, at);
        } else if out_before == 0 || self.timer.is_for(Kind::Tail) {
            self.arm_rto_from_head(now);
        }
    }

    /// Progress: RFC 6298 sections 5.2 and 5.3.
    pub(super) fn arm_after_ack(&mut self, now: Instant) {
        match self.probe_after(now, true) {
            Some(at) => self.timer.arm(Kind::Tail, at),
            None => self.arm_rto_from_head(now),
        }
    }

    /// The full timeout from now, or when another purpose had the timer, what is left of it.
    pub(super) fn arm_rto_from_head(&mut self, now: Instant) {
        if self.board.out() == 0 {
            self.timer.stop();
            return;
        }
        let full = now.later(self.round_trips.rto_ns());
        let was_other = matches!(self.timer.kind, Kind::Tail | Kind::Reordering);
        let at = if was_other {
            self.head_expires().max(now)
        } else {
            full
        };
        self.timer.arm(Kind::Rto, at);
    }

    fn retransmission_timed_out(&mut self, now: Instant) {
        if self.board.out() == 0 {
            return;
        }
        self.note_lost_window();
        self.enter_loss(now);
        self.repair.sent.timeouts += 1;
        self.retries = self.retries.saturating_add(1);
        self.round_trips.back_off(&self.options);
        self.timer.arm(Kind::Rto, now + self.round_trips.rto());
    }

    /// RFC 3148 section 3.2.2. The end of a transfer is no window, and what is lost again is the same one.
    fn note_lost_window(&mut self) {
        if self.state == State::Loss {
            return;
        }
        let is_full = self.board.out() >= self.window.cwnd;
        self.repair.undo.lost_window = is_full && self.board.sacked_out == 0;
        self.repair.sent.lost_windows += u64::from(self.repair.undo.lost_window);
    }

    /// RFC 5681 section 3.1 equation 4 and the loss window; RFC 6298 section 5.4.
    fn enter_loss(&mut self, now: Instant) {
        let is_new = self.state < State::Recovery;
        let from = self.window.cwnd;
        self.repair.rescue.repaired = 0;
        self.give_up_flight(now);
        let is_first = self.state <= State::Disorder
            || self.high <= self.board.una()
            || (self.state == State::Loss && self.retries == 0);
        if is_first {
            let ssthresh = self.current_ssthresh();
            self.repair.undo.remember(Some(ssthresh), from);
            self.window.ssthresh = self.controller.ssthresh(from);
            self.repair
                .undo
                .begin(self.board.una(), self.board.resent_out);
        }
        if self.state <= State::Disorder && self.board.sacked_out >= self.options.dup_thresh {
            self.forget_reordering();
        }
        self.controller.timed_out();
        (self.window.cwnd, self.window.count) = (self.board.in_flight() + 1, 0);
        self.state = State::Loss;
        self.high = self.board.next();
        self.repair.recover = Some(self.high);
        self.tail.forget();
        self.owes_cwr = self.options.ecn;
        self.frto = self.options.undo && (is_new || self.retries > 0);
        (self.prefers_new, self.holds, self.forced) = (false, false, false);
        self.events.push(Event::Cut {
            cause: Cause::Timeout,
            from: f64::from(from),
            to: f64::from(self.window.cwnd),
        });
    }

    /// What is out is lost, but with RACK for what left less than a round trip ago (RFC 8985 section 6.3). A head that SACK
    /// claimed to have arrived shows that the receiver forgets (RFC 2018 section 8).
    fn give_up_flight(&mut self, now: Instant) {
        if self.board.head().is_some_and(|head| head.sacked) {
            self.board.clear_sacked();
        } else if !self.has_sack() {
            self.board.sacked_out = 0;
        }
        let head = self.board.una();
        for number in head..self.board.next() {
            let sent = self
                .board
                .get(number)
                .map_or(Instant::ZERO, |entry| entry.sent);
            let is_recent = self.has_rack() && self.rack.is_recent(now.since(sent));
            if number == head || !is_recent {
                self.lose(number);
            }
        }
    }

    fn reordering_timed_out(&mut self, now: Instant) {
        let in_flight = self.board.in_flight();
        let again_at = self.detect_by_time(now, None);
        if self.board.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.enter_recovery(false);
            }
            self.reduce(1, false);
        }
        match again_at {
            Some(at) => self.timer.arm_reordering(at),
            None => self.arm_rto_from_head(now),
        }
    }

    /// RFC 9293 section 3.8.6.1: the receiver's window is closed, nothing is out, and something waits.
    pub(super) fn arm_persist(&mut self, now: Instant) {
        if self.board.out() > 0 {
            return;
        }
        if self.supply.is_empty() || self.board.next() < self.edge {
            self.timer.probes = 0;
            self.timer.stop();
            return;
        }
        let factor = 1_u32.checked_shl(self.timer.probes).unwrap_or(u32::MAX);
        let wait = self.round_trips.rto().saturating_mul(factor);
        self.timer
            .arm(Kind::Persist, now + wait.min(self.options.rto_max.0));
    }

    fn persist_timed_out(&mut self) {
        self.timer.probe_is_due = self.board.out() == 0 && self.board.next() >= self.edge;
        self.timer.probes = self.timer.probes.saturating_add(1);
    }
}
