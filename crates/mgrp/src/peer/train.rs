//! A transaction on its way.
//!
//! The plan is absolute: each probe is due a fixed time after the first one left, so that the small delays of single probes do not add up
//! and the train keeps its rate. (T waits the gap anew after each probe; its example in section 4.5.2 ends 30 us late after 29 gaps.) After a probe that
//! left late the next gap is therefore too short by as much; the audit tells both.
//!
//! Of a train in [`Ranges`] the plan is made as it goes: with a fixed gap its probes are due as those of a list are, as long as there is something
//! to carry; else each is due when the packet that waits first is to leave.

use crate::buffer::Cargo;
use crate::transaction::{Gap, MOST_TIME, Offered, Outcome, Ranges, Request, Sent, Spacing};
use std::time::Duration;
use units::Instant;

#[derive(Debug)]
pub(super) struct Train {
    number: u64,
    request: Request,
    outcome: Outcome,
    /// Probes that have left.
    left: usize,
    /// Whether it is over before its most probes have left: there was nothing to carry.
    is_ended: bool,
    /// Until when the first probe waits for something to carry.
    patience: Instant,
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
    pub(super) fn new(number: u64, request: Request, handover: Duration, now: Instant) -> Self {
        let (planned, patience) = match &request {
            Request::Listed(transaction) => (transaction.duration(), Duration::ZERO),
            Request::Ranges(ranges) => (Duration::ZERO, ranges.patience),
        };
        let outcome = Outcome {
            handover,
            planned,
            ..Outcome::default()
        };
        Self {
            number,
            request,
            outcome,
            left: 0,
            is_ended: false,
            patience: now + patience,
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
        match &self.request {
            Request::Listed(transaction) => transaction.channel,
            Request::Ranges(ranges) => ranges.channel,
        }
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.left > 0
    }

    pub(super) fn is_over(&self) -> bool {
        let (left, most) = self.progress();
        self.is_ended || left >= most
    }

    /// Whether it begins when there is something to carry, and not before.
    pub(super) fn waits(&self) -> bool {
        let waits = |ranges: &Ranges| ranges.count[0] == 0;
        !self.has_begun() && self.ranges().is_some_and(waits)
    }

    /// Whether it has begun and need not go on.
    pub(super) fn yields(&self) -> bool {
        let is_enough = |ranges: &Ranges| self.left >= ranges.count[0] as usize;
        self.has_begun() && self.ranges().is_some_and(is_enough)
    }

    /// Whether its probes are due at moments of its own, and not when packets are.
    pub(super) fn keeps_time(&self) -> bool {
        let is_fixed = |ranges: &Ranges| matches!(ranges.spacing, Spacing::Fixed(_));
        self.ranges().is_none_or(is_fixed) && !self.waits()
    }

    /// Of all its probes, which is next, and how many there are at most.
    pub(super) const fn progress(&self) -> (usize, usize) {
        let most = match &self.request {
            Request::Listed(transaction) => transaction.probes.len(),
            Request::Ranges(ranges) => ranges.count[1] as usize,
        };
        (self.left, most)
    }

    const fn ranges(&self) -> Option<&Ranges> {
        match &self.request {
            Request::Listed(_) => None,
            Request::Ranges(ranges) => Some(ranges),
        }
    }

    /// When something is to be done: the next probe is due, or it is over. `head` is when the packet that waits first is to leave.
    pub(super) fn due(&self, head: Option<Instant>) -> Instant {
        if self.is_over() {
            return Instant::ZERO;
        }
        match (&self.request, self.start) {
            (Request::Ranges(ranges), _) => self.due_between(ranges, head),
            (Request::Listed(_), Some(start)) => start + self.offset.saturating_add(self.gap()),
            (Request::Listed(_), None) => Instant::ZERO,
        }
    }

    fn due_between(&self, ranges: &Ranges, head: Option<Instant>) -> Instant {
        match (self.start, ranges.spacing) {
            (None, _) if ranges.count[0] > 0 => Instant::ZERO,
            (None, Spacing::Fixed(_)) if head.is_some() => Instant::ZERO,
            (Some(start), Spacing::Fixed(gap)) => start + self.offset.saturating_add(gap),
            _ => head.map_or_else(|| self.until(ranges), |head| head.min(self.until(ranges))),
        }
    }

    /// The last moment at which the next packet may be due.
    fn until(&self, ranges: &Ranges) -> Instant {
        let next = |start| (self.last[0] + ranges.spacing.gap()).min(start + MOST_TIME);
        self.start.map_or(self.patience, next)
    }

    /// The gap before the next probe, of a list.
    fn gap(&self) -> Duration {
        match &self.request {
            Request::Listed(transaction) => {
                let probe = transaction.probes.get(self.left);
                probe.map_or(Duration::ZERO, |probe| probe.gap)
            }
            Request::Ranges(_) => Duration::ZERO,
        }
    }

    /// The next probe, which is due, as it is to leave; none when there is none any more.
    pub(super) fn ask(&mut self, head: Option<Instant>) -> Option<Asked> {
        let (is_first, listed_gap) = (!self.has_begun(), self.gap());
        let until = self.ranges().map(|ranges| self.until(ranges));
        let planned = self.start.unwrap_or(Instant::ZERO) + self.offset;
        let (mut asked, gap) = match &mut self.request {
            Request::Listed(transaction) => {
                let probe = transaction.probes.get_mut(self.left)?;
                let asked = Asked {
                    header: std::mem::take(&mut probe.header),
                    octets: Some(probe.octets),
                    may_carry: probe.may_carry,
                    must_leave: true,
                    gap: Duration::ZERO,
                };
                (asked, listed_gap)
            }
            Request::Ranges(ranges) => {
                let must_leave = self.left < ranges.count[0] as usize;
                let gap = match ranges.spacing {
                    Spacing::Fixed(gap) => gap,
                    Spacing::UpTo(_) if head > until => return None,
                    Spacing::UpTo(_) => head?.since(planned),
                };
                (Asked::of(ranges, must_leave), gap)
            }
        };
        asked.gap = if is_first { Duration::ZERO } else { gap };
        Some(asked)
    }

    /// How the probe at this place is paid for.
    pub(super) fn pays(&self, place: usize) -> Pays {
        match self.ranges() {
            None => Pays::Before,
            Some(ranges) if place < ranges.count[0] as usize => Pays::Back,
            Some(_) => Pays::Now,
        }
    }

    /// There is nothing more to carry, or it does not carry all.
    pub(super) const fn end(&mut self) {
        self.is_ended = true;
    }

    /// The probe that was asked for leaves in the packet with this number and so many octets.
    pub(super) fn leave(
        &mut self,
        planned: Duration,
        sent: Sent,
        rider: Option<&Cargo>,
        now: Instant,
    ) {
        self.offset = self.offset.saturating_add(planned);
        self.left += 1;
        self.outcome.gaps.push(Gap {
            planned,
            actual: Duration::ZERO,
        });
        if self.ranges().is_some() {
            self.outcome.sent.push(sent);
            self.outcome.planned = self.offset;
        }
        self.last = [now, self.last[0]];
        self.sequence = sent.sequence;
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
        // What came before this probe of a train in ranges came before its last.
        let end = match &self.request {
            Request::Listed(_) => start + self.outcome.planned,
            Request::Ranges(_) => Instant::FAR_FUTURE,
        };
        self.outcome.riders.add(cargo.octets());
        if cargo.competes([start, end]) {
            self.outcome.competing.add(cargo.octets());
        }
    }

    /// A packet of so many octets leaves, headers included, and it has no probe.
    pub(super) const fn pass(&mut self, octets: usize) {
        if self.has_begun() {
            self.outcome.beside = self.outcome.beside.saturating_add(octets as u64);
        }
    }

    /// What came of it, once applications have offered so many octets.
    pub(super) fn finish(self, is_called_off: bool, octets: u64) -> Outcome {
        let transmission = self.start.map(|start| self.last[0].since(start));
        Outcome {
            is_called_off,
            offered: Offered {
                octets,
                at: self.last[0],
            },
            transmission: transmission.unwrap_or_default(),
            ..self.outcome
        }
    }
}

/// How a probe is paid for out of the path's budget.
#[derive(Clone, Copy)]
pub(super) enum Pays {
    /// It was, whatever it carries.
    Before,
    /// It was, and what it carries is paid back.
    Back,
    /// What it adds is paid for when it leaves.
    Now,
}

/// A probe as it is to leave.
pub(super) struct Asked {
    pub(super) header: Vec<u8>,
    /// Octets of its packet; none for as many as what it carries takes.
    pub(super) octets: Option<u16>,
    pub(super) may_carry: bool,
    /// Whether it leaves without anything to carry, too.
    pub(super) must_leave: bool,
    /// Planned, since the one before it.
    pub(super) gap: Duration,
}

impl Asked {
    const fn of(ranges: &Ranges, must_leave: bool) -> Self {
        Self {
            header: Vec::new(),
            octets: ranges.octets,
            may_carry: true,
            must_leave,
            gap: Duration::ZERO,
        }
    }
}
