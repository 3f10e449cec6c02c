//! Loss by count: duplicate acknowledgements (RFC 5681, RFC 6582), or what SACK tells of (RFC 6675). By time it is
//! [`super::rack`]'s.

use super::progress::Progress;
use super::{Sender, State};
use crate::Recovery;

/// How far [`Sender::detect_by_count`] has come.
#[derive(Debug)]
pub(super) struct Counted {
    edge: u64,
    /// Segments that arrived from `edge` on.
    above: u32,
}

impl Counted {
    /// Nowhere.
    pub(super) const NONE: Self = Self { edge: 0, above: 0 };

    pub(super) const fn arrived(&mut self, number: u64) {
        if number >= self.edge {
            self.above += 1;
        }
    }
}

impl Sender {
    /// Which segments are lost, by whatever the options say.
    pub(super) fn find_losses(&mut self, progress: &mut Progress) {
        if self.board.out() == 0 {
            return;
        }
        if !self.has_sack() {
            self.detect_by_duplicates(progress);
        } else if self.has_rack() {
            let again_at = self.detect_by_time(progress.now, Some(progress));
            if let Some(at) = again_at {
                self.timer.arm_reordering(at);
                progress.rearm = false;
            }
        } else {
            progress.lost |= self.detect_by_count();
        }
    }

    /// RFC 5681 section 3.2 step 2, and RFC 6582 section 3.2 step 5 for a partial acknowledgement.
    fn detect_by_duplicates(&mut self, progress: &mut Progress) {
        let una = self.board.una();
        let is_partial = self.state == State::Recovery && progress.advanced;
        let is_fast = self.state < State::Recovery
            && self.board.sacked_out >= self.options.dup_thresh
            && !self.is_echo_of_recovery();
        if is_partial || is_fast {
            progress.lost |= self.lose(una);
        }
    }

    /// Whether duplicates may be those of a recovery's own retransmissions (RFC 6582 section 3.2 step 2).
    fn is_echo_of_recovery(&self) -> bool {
        let recover = self
            .repair
            .recover
            .filter(|_| self.options.recovery == Recovery::NewReno);
        recover.is_some_and(|recover| self.board.una() <= recover)
    }

    /// `IsLost` (RFC 6675 section 4): `DupThresh` segments above have arrived. Each segment is passed once.
    fn detect_by_count(&mut self) -> bool {
        let mut any = false;
        let threshold = self.options.dup_thresh.max(1);
        let counted = &mut self.repair.counted;
        if counted.edge < self.board.una() {
            (counted.edge, counted.above) = (self.board.una(), self.board.sacked_out);
        }
        while self.repair.counted.above >= threshold {
            let edge = self.repair.counted.edge;
            let Some(entry) = self.board.get(edge) else {
                break;
            };
            if entry.sacked {
                self.repair.counted.above -= 1;
            } else if !entry.ever_resent {
                any |= self.lose(edge);
            }
            self.repair.counted.edge += 1;
        }
        any
    }

    /// Without SACK each duplicate stands for a segment that arrived (RFC 5681 section 3.2 steps 3 and 4).
    pub(super) fn count_duplicate(&mut self, progress: &mut Progress) {
        let room = self.board.out().saturating_sub(self.board.lost_out.max(1));
        if progress.is_duplicate_ack() && self.board.sacked_out < room {
            self.board.sacked_out += 1;
            progress.delivered += 1;
        }
    }

    /// A new acknowledgement takes the duplicates back but for the one segment that filled the gap (RFC 6582 section 3.2
    /// step 5), outside of a recovery all of them.
    pub(super) fn take_duplicates_back(&mut self, progress: &mut Progress) {
        let counted = self.board.sacked_out;
        progress.delivered += progress.in_order.saturating_sub(counted).max(1);
        let is_partial = self.state >= State::Recovery && self.board.una() < self.high;
        let rest = if is_partial {
            (counted + 1).saturating_sub(progress.in_order)
        } else {
            0
        };
        self.board.sacked_out = rest.min(self.board.out());
    }
}
