//! An acknowledgement is worked through: what it covers, what it measures, what follows.

use super::progress::{Departures, Progress};
use super::verify::Claim;
use super::{Sender, State};
use crate::Ack;
use crate::controller;
use crate::scoreboard::Entry;
use units::Instant;

impl Sender {
    pub(super) fn take_ack(&mut self, ack: &Ack, claim: Claim, now: Instant) {
        let mut progress = self.progress(ack, claim, now);
        if progress.is_old && claim.blocks().is_empty() {
            return;
        }
        self.holds = false;
        self.take_window(ack, &mut progress);
        if self.has_sack() {
            self.take_blocks(&mut progress);
        }
        if self.board.out() == 0 {
            self.take_idle_ack(&mut progress);
            return;
        }
        self.take_in_order(&mut progress);
        self.measure(&mut progress);
        self.adapt_reordering_window(&progress);
        self.tail_answered(&progress);
        if self.is_dubious(&progress) {
            self.alert(&mut progress);
        }
        if progress.rearm {
            self.arm_after_ack(now);
        }
        self.control(&progress);
        self.arm_persist(now);
    }

    fn progress(&self, ack: &Ack, claim: Claim, now: Instant) -> Progress {
        let una = self.board.una();
        Progress {
            claim,
            now,
            echo: (ack.echo <= now).then_some(ack.echo),
            una_before: una,
            sacked_before: self.board.highest_sacked(),
            is_old: claim.ack < una,
            advanced: claim.ack > una,
            opened: false,
            in_order: 0,
            sacked: 0,
            delivered: 0,
            lost: false,
            duplicate: false,
            probe_duplicate: false,
            ece: self.options.ecn && ack.ece,
            original: false,
            resent: false,
            lost_again: false,
            rearm: false,
            overtaken: None,
            ordered: Departures::default(),
            selected: Departures::default(),
        }
    }

    /// The window's right edge never moves to the left (RFC 9293 section 3.8.6), so old acknowledgements do no harm.
    fn take_window(&mut self, ack: &Ack, progress: &mut Progress) {
        let edge = progress.claim.ack + u64::from(ack.window);
        if edge > self.edge {
            // What merely slides with `ack` is no update (RFC 5681 section 2 e).
            progress.opened =
                edge - self.edge > progress.claim.ack.saturating_sub(progress.una_before);
            self.edge = edge;
        }
    }

    /// Nothing was out: a probe was answered, or an acknowledgement came twice.
    fn take_idle_ack(&mut self, progress: &mut Progress) {
        if progress.duplicate {
            self.alert(progress);
        }
        self.tail_answered(progress);
        self.arm_persist(progress.now);
    }

    /// RFC 6675 section 4, `Update`.
    fn take_blocks(&mut self, progress: &mut Progress) {
        if progress.claim.blocks().is_empty() {
            return;
        }
        let claim = progress.claim;
        let duplicate = claim.duplicate();
        if let Some(block) = duplicate {
            self.take_duplicate(block, progress);
        }
        let mut fresh = Vec::new();
        let skip = usize::from(duplicate.is_some());
        for &(first, end) in claim.blocks().iter().skip(skip) {
            self.board.add_block(first.max(claim.ack), end, &mut fresh);
        }
        for (first, end) in fresh {
            for number in first..end {
                self.sack(number, progress);
            }
        }
    }

    fn sack(&mut self, number: u64, progress: &mut Progress) {
        let Some(before) = self.board.sack(number) else {
            return;
        };
        progress.sacked += 1;
        progress.delivered += 1;
        if !before.ever_resent {
            if number < progress.sacked_before {
                progress.overtaken(number);
            }
            progress.original |= number < self.high;
            progress.selected.add(before.sent);
        }
        self.repair.counted.arrived(number);
        self.rack_delivered(number, &before, progress);
    }

    fn take_in_order(&mut self, progress: &mut Progress) {
        while self.board.una() < progress.claim.ack {
            let number = self.board.una();
            let Some(entry) = self.board.acknowledge() else {
                break;
            };
            self.acknowledged(number, &entry, progress);
        }
        if !progress.advanced {
            return;
        }
        self.board.forget_acknowledged();
        self.retries = 0;
        progress.rearm = true;
        if self.has_sack() {
            self.note_reordering(progress);
        } else {
            self.take_duplicates_back(progress);
        }
    }

    fn acknowledged(&mut self, number: u64, entry: &Entry, progress: &mut Progress) {
        progress.in_order += 1;
        progress.resent |= entry.ever_resent;
        self.sent.acked += 1;
        self.sent.acked_bytes += u64::from(entry.len);
        if entry.sacked {
            return;
        }
        if !entry.ever_resent {
            progress.ordered.add(entry.sent);
            progress.original |= number < self.high;
            if number < progress.sacked_before {
                progress.overtaken(number);
            }
        }
        if self.has_sack() {
            progress.delivered += 1;
            self.rack_delivered(number, entry, progress);
        }
    }

    /// The window follows: down by PRR while it is being cut, up otherwise.
    fn control(&mut self, progress: &Progress) {
        if matches!(self.state, State::Cwr | State::Recovery) {
            let is_clean = progress.advanced && !progress.lost;
            self.reduce(progress.delivered, is_clean);
            return;
        }
        let may_grow = if self.has_much_reordering() {
            progress.delivered > 0
        } else {
            progress.in_order > 0
        };
        if may_grow && self.is_window_limited() {
            let growing = self.growing(progress);
            let abc = self.options.abc;
            controller::grow(&mut self.window, &mut self.controller, &growing, abc);
        }
    }
}
