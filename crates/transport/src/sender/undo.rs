//! Was the last cut needless? Three proofs, and what follows.
//!
//! - *Eifel* (RFC 3522): the receiver echoes a time before the first retransmission, so the original arrived.
//! - *DSACK* (RFC 3708): every retransmission was a duplicate.
//! - *F-RTO* (RFC 5682): after a timeout, segments arrive that were not sent again.
//!
//! What follows is RFC 4015: the window is what it was.

use super::progress::Progress;
use super::{Event, Sender, State};
use units::Instant;

/// What there is to undo.
#[derive(Debug)]
pub(super) struct Undo {
    /// `una` when the cut began; none when it cannot be undone any more.
    pub(super) marker: Option<u64>,
    /// Retransmissions since then that no duplicate has been reported of; none before the first.
    resent: Option<u32>,
    /// When the first of them left.
    pub(super) first_resent: Option<Instant>,
    ssthresh_before: Option<u32>,
    cwnd_before: u32,
    /// The timeout counted as the loss of a whole window.
    pub(super) lost_window: bool,
}

impl Undo {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        marker: None,
        resent: None,
        first_resent: None,
        ssthresh_before: None,
        cwnd_before: 0,
        lost_window: false,
    };

    pub(super) fn begin(&mut self, una: u64, resent_out: u32) {
        self.marker = Some(una);
        self.resent = (resent_out > 0).then_some(resent_out);
    }

    pub(super) const fn remember(&mut self, ssthresh: Option<u32>, cwnd: u32) {
        (self.ssthresh_before, self.cwnd_before) = (ssthresh, cwnd);
    }

    /// Congestion is certain: there is no way back to the former window.
    pub(super) const fn forget_window(&mut self) {
        self.ssthresh_before = None;
    }

    pub(super) fn note_resent(&mut self, now: Instant) {
        self.first_resent.get_or_insert(now);
        self.resent = Some(self.resent.unwrap_or(0).saturating_add(1));
    }

    const fn all_were_duplicates(&self) -> bool {
        matches!(self.resent, Some(0))
    }
}

impl Sender {
    /// DSACK (RFC 2883): `block` arrived twice.
    pub(super) fn take_duplicate(&mut self, block: (u64, u64), progress: &mut Progress) {
        progress.duplicate = true;
        self.repair.sent.spurious += 1;
        progress.probe_duplicate = self.tail.is_end(block.1);
        let is_of_cut = self
            .repair
            .undo
            .marker
            .is_some_and(|marker| block.1 > marker);
        if let Some(resent) = self.repair.undo.resent.as_mut().filter(|_| is_of_cut) {
            let count = u32::try_from(block.1 - block.0).unwrap_or(u32::MAX);
            *resent = resent.saturating_sub(count);
        }
    }

    /// Nothing that was sent again is out any more.
    pub(super) fn forget_resent(&mut self) {
        if let Some(repair) = self.repair.written() {
            repair.undo.first_resent = None;
        }
    }

    fn is_late(&self, progress: &Progress) -> bool {
        let Some((first, echo)) = self.repair.undo.first_resent.zip(progress.echo) else {
            return false;
        };
        self.options.timestamps && echo < first
    }

    fn may_undo(&self, progress: &Progress) -> bool {
        let is_proven = self.repair.undo.all_were_duplicates() || self.is_late(progress);
        self.options.undo && self.repair.undo.marker.is_some() && is_proven
    }

    /// The recovery is over: was it needless?
    pub(super) fn try_undo_recovery(&mut self, progress: &Progress) {
        if self.may_undo(progress) {
            self.restore(false);
        } else {
            self.repair.reordering.recovered();
        }
    }

    /// A partial acknowledgement of an original: what was retransmitted was only late. True when the recovery is over or
    /// waits for the retransmissions that are out.
    pub(super) fn try_undo_partial(&mut self, progress: &mut Progress) -> bool {
        let may = self.options.undo && self.repair.undo.marker.is_some();
        if !may || !self.is_late(progress) {
            return false;
        }
        progress.overtaken(progress.una_before);
        self.note_reordering(progress);
        if self.board.resent_out > 0 {
            return true;
        }
        self.repair.undo.first_resent = None;
        self.restore(true);
        self.keep_open();
        true
    }

    pub(super) fn try_undo_duplicates(&mut self) -> bool {
        let is_needless =
            self.repair.undo.marker.is_some() && self.repair.undo.all_were_duplicates();
        if !self.options.undo || !is_needless {
            return false;
        }
        self.restore(false);
        true
    }

    /// RFC 4015 section 3.2.
    fn restore(&mut self, nothing_is_lost: bool) {
        if nothing_is_lost {
            self.board.clear_lost();
            self.rack.look_again();
        }
        // Nothing was lost.
        self.repair.sent.lost_windows -=
            u64::from(std::mem::take(&mut self.repair.undo.lost_window));
        let repaired = std::mem::take(&mut self.repair.rescue.repaired);
        self.repair.sent.multiple_losses -= u64::from(repaired >= 2);
        if let Some(ssthresh) = self.repair.undo.ssthresh_before {
            self.window.cwnd = self.window.cwnd.max(self.repair.undo.cwnd_before);
            if ssthresh > self.window.ssthresh {
                self.window.ssthresh = ssthresh;
                self.owes_cwr = false;
            }
            self.controller.undone();
            self.repair.sent.undone += 1;
            self.events.push(Event::Undone);
        }
        self.repair.undo.marker = None;
    }

    /// After a timeout: spurious, repaired, or to be gone on with (RFC 5682 section 3.1 in the version with SACK).
    pub(super) fn repair_loss(&mut self, progress: &Progress) {
        let is_recovered = self.board.una() >= self.high;
        let is_spurious = self.frto && progress.original;
        if is_spurious || (progress.advanced && self.may_undo(progress)) {
            self.restore(true);
            self.leave_loss();
            return;
        }
        if self.frto {
            self.forward(progress, is_recovered);
        }
        if is_recovered {
            self.try_undo_recovery(progress);
            self.leave_loss();
        }
    }

    fn leave_loss(&mut self) {
        self.retries = 0;
        self.frto = false;
        self.repair.undo.lost_window = false;
        self.state = State::Open;
        self.events.push(Event::Recovered);
    }

    /// Steps 2 and 3 of RFC 5682 section 3.1.
    fn forward(&mut self, progress: &Progress, is_recovered: bool) {
        if self.board.next() > self.high {
            // Step 3a: the loss was real.
            self.frto &= progress.sacked == 0 && !progress.is_duplicate_ack();
        } else if progress.advanced && !is_recovered {
            // Step 2b: new data, if there are any; else as always.
            self.high = self.board.next();
            self.prefers_new = true;
        }
    }
}
