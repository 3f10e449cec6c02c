//! A transaction on its way.
//!
//! The plan is absolute: each probe is due a fixed time after the first one left, so that the small delays of single probes do not add up
//! and the train keeps its rate. (T waits the gap anew after each probe; its example in section 4.5.2 ends 30 us late after 29 gaps.) After a probe that
//! left late the next gap is therefore too short by as much; the audit tells both.

use crate::buffer::Cargo;
use crate::transaction::{Gap, Outcome, Probe, Transaction};
use std::time::Duration;
use units::Instant;

#[derive(Debug)]
pub(super) struct Train {
    number: u64,
    transaction: Transaction,
    outcome: Outcome,
    /// Probes that have left.
    left: usize,
    /// When the first did.
    start: Option<Instant>,
    /// When the last one was due, after the start.
    offset: Duration,
    /// When the last one left, and the one before it.
    last: [Instant; 2],
    /// The number of the last one's packet.
    sequence: u64,
}

impl Train {
    pub(super) fn new(number: u64, transaction: Transaction, handover: Duration) -> Self {
        let outcome = Outcome {
            handover,
            planned: transaction.duration(),
            ..Outcome::default()
        };
        Self {
            number,
            transaction,
            outcome,
            left: 0,
            start: None,
            offset: Duration::ZERO,
            last: [Instant::ZERO; 2],
            sequence: 0,
        }
    }

    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    pub(super) const fn channel(&self) -> u8 {
        self.transaction.channel
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.left > 0
    }

    pub(super) const fn is_over(&self) -> bool {
        self.left >= self.transaction.probes.len()
    }

    /// Of all its probes, how many there are, and which is next.
    pub(super) const fn progress(&self) -> (usize, usize) {
        (self.left, self.transaction.probes.len())
    }

    /// When something is to be done: the next probe is due, or it is over.
    pub(super) fn due(&self) -> Instant {
        let next = self.transaction.probes.get(self.left);
        match (self.start, next) {
            (Some(start), Some(probe)) => start + self.offset.saturating_add(probe.gap),
            _ => Instant::ZERO,
        }
    }

    /// The next probe, if it is due.
    pub(super) fn poll(&mut self, now: Instant) -> Option<&mut Probe> {
        let is_due = self.due() <= now;
        self.transaction
            .probes
            .get_mut(self.left)
            .filter(|_| is_due)
    }

    /// The probe that was polled leaves in the packet with this number.
    pub(super) fn leave(&mut self, sequence: u64, rider: Option<&Cargo>, now: Instant) {
        let probe = self.transaction.probes.get(self.left);
        let planned = probe.filter(|_| self.has_begun());
        let planned = planned.map_or(Duration::ZERO, |probe| probe.gap);
        self.offset = self.offset.saturating_add(planned);
        self.left += 1;
        self.outcome.gaps.push(Gap {
            planned,
            actual: Duration::ZERO,
        });
        self.last = [now, self.last[0]];
        self.sequence = sequence;
        self.left_at(now);
        if let Some(cargo) = rider {
            self.carry(cargo);
        }
    }

    /// The probe in the packet with this number left at this moment; of no effect unless it is the last one.
    pub(super) fn tell(&mut self, sequence: u64, at: Instant) {
        if self.has_begun() && self.sequence == sequence {
            self.left_at(at);
        }
    }

    fn left_at(&mut self, at: Instant) {
        self.last[0] = at;
        if self.left == 1 {
            self.start = Some(at);
            self.last[1] = at;
        }
        if let Some(gap) = self.outcome.gaps.last_mut() {
            gap.actual = at.since(self.last[1]);
        }
    }

    fn carry(&mut self, cargo: &Cargo) {
        let Some(start) = self.start else {
            return;
        };
        self.outcome.riders.add(cargo.octets());
        if cargo.competes([start, start + self.outcome.planned]) {
            self.outcome.competing.add(cargo.octets());
        }
    }

    pub(super) fn finish(self, is_called_off: bool) -> Outcome {
        let transmission = self.start.map(|start| self.last[0].since(start));
        Outcome {
            is_called_off,
            transmission: transmission.unwrap_or_default(),
            ..self.outcome
        }
    }
}
