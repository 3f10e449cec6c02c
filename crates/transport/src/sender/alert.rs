//! Which state follows from an acknowledgement that is not plain progress.
//!
//! The order of the steps is the Linux kernel's: leave a state that has been repaired, undo what was needless, find what is
//! lost, enter the next state.

use super::progress::Progress;
use super::rescue::Rescue;
use super::{Cause, Event, Sender, State};
use crate::Recovery;

impl Sender {
    /// Whether more than growth may follow.
    pub(super) fn is_dubious(&self, progress: &Progress) -> bool {
        let is_alarm = progress.sacked > 0 || progress.ece || progress.duplicate;
        is_alarm || progress.is_duplicate_ack() || self.state != State::Open
    }

    pub(super) fn alert(&mut self, progress: &mut Progress) {
        if progress.ece {
            self.repair.undo.forget_window();
        }
        if !self.has_sack() {
            self.count_duplicate(progress);
        }
        if self.state == State::Open {
            self.forget_resent();
        } else if self.board.una() >= self.high {
            self.leave(progress);
        }
        match self.state {
            State::Recovery => self.alert_in_recovery(progress),
            State::Loss => self.alert_in_loss(progress),
            State::Open | State::Disorder | State::Cwr => {
                if self.state != State::Cwr {
                    self.try_undo_duplicates();
                }
                self.find_losses(progress);
                self.enter_recovery_or_stay(progress);
            }
        }
    }

    /// All that was out at the cut has been acknowledged.
    fn leave(&mut self, progress: &Progress) {
        match self.state {
            // A mark's needs more, so that the receiver hears of it (RFC 3168 section 6.1.2).
            State::Cwr if self.board.una() > self.high || !self.options.ecn => self.end_reduction(),
            State::Recovery => {
                self.try_undo_recovery(progress);
                self.end_recovery();
            }
            _ => {}
        }
    }

    fn end_recovery(&mut self) {
        self.end_reduction();
        self.events.push(Event::Recovered);
    }

    fn alert_in_recovery(&mut self, progress: &mut Progress) {
        if progress.advanced {
            if self.options.recovery == Recovery::Reno {
                // RFC 5681 section 3.2 step 6: any new acknowledgement ends it.
                self.end_recovery();
                self.keep_open();
                return;
            }
            if self.try_undo_partial(progress) {
                return;
            }
        }
        if self.try_undo_duplicates() {
            self.state = State::Open;
            self.try_to_open(progress);
        }
        self.find_losses(progress);
        if self.state != State::Recovery {
            self.enter_recovery_or_stay(progress);
        }
    }

    fn alert_in_loss(&mut self, progress: &mut Progress) {
        self.repair_loss(progress);
        self.find_losses(progress);
        if self.state == State::Open || progress.lost_again {
            self.enter_recovery_or_stay(progress);
        }
    }

    fn enter_recovery_or_stay(&mut self, progress: &Progress) {
        if self.board.lost_out == 0 {
            self.try_to_open(progress);
            return;
        }
        if self.state == State::Recovery {
            return;
        }
        self.enter_recovery(progress.ece);
    }

    /// Fast recovery begins. `is_marked`: congestion is certain, so there will be nothing to undo.
    pub(super) fn enter_recovery(&mut self, is_marked: bool) {
        self.repair
            .undo
            .begin(self.board.una(), self.board.resent_out);
        if self.state != State::Cwr {
            self.begin_reduction(Cause::Loss, !is_marked);
        }
        self.state = State::Recovery;
        self.forced = !self.options.prr;
        self.repair.rescue = Rescue::NONE;
        // What is undone from here on is this.
        self.repair.undo.lost_window = false;
        self.repair.sent.recoveries += 1;
    }

    /// No loss is known: a mark may still cut the window; else the state follows from what is missing.
    pub(super) fn try_to_open(&mut self, progress: &Progress) {
        if self.board.resent_out == 0 {
            self.forget_resent();
        }
        if progress.ece {
            self.enter_cwr(Cause::Mark);
        }
        if self.state != State::Cwr {
            self.keep_open();
        }
    }

    /// Open, or disorder while something is missing.
    pub(super) fn keep_open(&mut self) {
        let is_missing = self.board.left() > 0 || self.board.resent_out > 0;
        let state = if is_missing {
            State::Disorder
        } else {
            State::Open
        };
        if state != self.state {
            self.state = state;
            self.high = self.board.next();
        }
    }

    /// A cut without anything to repair (RFC 3168 section 6.1.2).
    fn enter_cwr(&mut self, cause: Cause) {
        if self.state >= State::Cwr {
            return;
        }
        self.repair.undo.marker = None;
        self.begin_reduction(cause, false);
        self.state = State::Cwr;
        self.repair.sent.marks += 1;
    }
}
