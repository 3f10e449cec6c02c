//! How far the window falls: the threshold at once, the window by proportional rate reduction (RFC 6937).

use super::{Cause, Event, Sender, State};
use crate::controller::NO_THRESHOLD;

/// PRR's counters of one cut.
#[derive(Debug)]
pub(super) struct Reduction {
    /// `RecoverFS`; the kernel takes the window for the flight.
    cwnd_before: u32,
    /// `prr_delivered`.
    delivered: u32,
    /// `prr_out`.
    pub(super) out: u32,
}

impl Reduction {
    /// Before the first.
    pub(super) const NONE: Self = Self {
        cwnd_before: 0,
        delivered: 0,
        out: 0,
    };
}

impl Sender {
    /// Congestion: the threshold falls now, and the window towards it. `may_undo`: that it can turn out to be none.
    pub(super) fn begin_reduction(&mut self, cause: Cause, may_undo: bool) {
        let from = self.window.cwnd;
        let ssthresh_before = may_undo.then(|| self.current_ssthresh());
        self.repair.undo.remember(ssthresh_before, from);
        self.high = self.board.next();
        self.repair.recover = Some(self.high);
        self.tail.forget();
        self.window.count = 0;
        self.repair.reduction = Reduction {
            cwnd_before: from,
            ..Reduction::NONE
        };
        let to = self.controller.ssthresh(from);
        self.window.ssthresh = to;
        if !self.options.prr {
            self.window.cwnd = from.min(to);
        }
        self.owes_cwr = self.options.ecn;
        self.events.push(Event::Cut {
            cause,
            from: f64::from(from),
            to: f64::from(to),
        });
    }

    /// RFC 6937 section 3 with the kernel's choice of SSRB or CRB: slow start only while nothing more is lost
    /// (`is_clean`). `delivered`: segments known to have arrived since the last call.
    pub(super) fn reduce(&mut self, delivered: u32, is_clean: bool) {
        if !self.options.prr || delivered == 0 || self.repair.reduction.cwnd_before == 0 {
            return;
        }
        let (in_flight, ssthresh) = (self.board.in_flight(), self.window.ssthresh);
        let counters = &mut self.repair.reduction;
        counters.delivered = counters.delivered.saturating_add(delivered);
        let room = ssthresh.saturating_sub(in_flight);
        let quota = if in_flight > ssthresh {
            let due = u64::from(ssthresh) * u64::from(counters.delivered);
            let due = due.div_ceil(u64::from(counters.cwnd_before));
            u32::try_from(due)
                .unwrap_or(u32::MAX)
                .saturating_sub(counters.out)
        } else {
            let owed = counters.delivered.saturating_sub(counters.out);
            (owed.max(delivered) + u32::from(is_clean)).min(room)
        };
        let quota = quota.max(u32::from(counters.out == 0));
        self.window.cwnd = in_flight + quota;
    }

    /// The cut is over; the window is the threshold.
    pub(super) fn end_reduction(&mut self) {
        let was_cut = self.state == State::Cwr || self.repair.undo.marker.is_some();
        if was_cut && self.window.ssthresh < NO_THRESHOLD {
            self.window.cwnd = self.window.ssthresh.min(self.window.limit);
        }
        self.repair.rescue.repaired = 0;
        self.state = State::Open;
    }

    /// What the threshold is worth now: after a cut is undone slow start need not go on beyond.
    pub(super) fn current_ssthresh(&self) -> u32 {
        if matches!(self.state, State::Cwr | State::Recovery) {
            return self.window.ssthresh;
        }
        let three_quarters = self.window.cwnd / 2 + self.window.cwnd / 4;
        self.window.ssthresh.max(three_quarters)
    }
}
