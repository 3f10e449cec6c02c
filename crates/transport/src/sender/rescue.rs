//! What is sent again in a recovery though it is not known to be lost, when nothing else can be sent (RFC 6675 section 4,
//! `NextSeg` rules 3 and 4). Only without RACK, whose probes do this better.

use super::{Sender, State};
use crate::Segment;
use units::Instant;

/// The counters of one recovery.
#[derive(Debug)]
pub(super) struct Rescue {
    /// `HighRxt`, and one: what is before it has been sent again or need not be.
    resent_to: u64,
    /// `RescueRxt` is set.
    is_used: bool,
    /// Segments that were lost and are sent again, each once.
    pub(super) repaired: u32,
}

impl Rescue {
    /// At the beginning.
    pub(super) const NONE: Self = Self {
        resent_to: 0,
        is_used: false,
        repaired: 0,
    };

    pub(super) fn note_resent(&mut self, number: u64) {
        self.resent_to = self.resent_to.max(number + 1);
    }
}

impl Sender {
    pub(super) fn send_rescue(&mut self, now: Instant) -> Option<Segment> {
        let has_room = self.board.in_flight() < self.window.cwnd;
        let may = self.state == State::Recovery && self.has_sack() && !self.has_rack();
        if !may || !has_room {
            return None;
        }
        let number = self.next_doubtful().or_else(|| self.last_missing())?;
        self.send_again(number, now)
    }

    /// Rule 3: the next segment before one that has arrived.
    fn next_doubtful(&mut self) -> Option<u64> {
        let from = self.repair.rescue.resent_to.max(self.board.una());
        let to = self.board.highest_sacked();
        let board = &self.board;
        let is_open = |number: &u64| {
            let entry = board.get(*number);
            entry.is_some_and(|entry| !entry.sacked && !entry.ever_resent)
        };
        let found = (from..to).find(is_open);
        self.repair.rescue.resent_to = found.unwrap_or(to).max(from);
        found
    }

    /// Rule 4: the highest segment that has not arrived, once, so that its arrival tells of all others.
    /// *Deviation:* not when it has been sent again already.
    fn last_missing(&mut self) -> Option<u64> {
        if std::mem::replace(&mut self.repair.rescue.is_used, true) {
            return None;
        }
        let mut numbers = (self.board.una()..self.board.next()).rev();
        let number =
            numbers.find(|number| self.board.get(*number).is_some_and(|entry| !entry.sacked))?;
        let entry = self.board.get(number)?;
        (!entry.ever_resent).then_some(number)
    }
}
