//! When an acknowledgement is due: at once, or after a while for several segments (RFC 5681 section 4.2).

use crate::DelayedAck;
use units::Instant;

/// Segments that are acknowledged at once after a duplicate, as the kernel does; the sender's window is small then.
const QUICK_AFTER_DUPLICATE: u32 = 16;

/// The state of one delay.
#[derive(Debug)]
pub(super) struct Delay {
    /// Acknowledgements that are still sent at once.
    quick: u32,
    /// Segments that wait for one.
    waiting: u32,
    /// [`Instant::FAR_FUTURE`] when none does.
    until: Instant,
    is_due: bool,
}

impl Delay {
    /// All methods take the same `rule`.
    pub(super) const fn new(rule: DelayedAck) -> Self {
        Self {
            quick: rule.quick,
            waiting: 0,
            until: Instant::FAR_FUTURE,
            is_due: false,
        }
    }

    /// A segment in order arrived.
    pub(super) fn wait(&mut self, rule: DelayedAck, now: Instant) {
        self.waiting += 1;
        if self.waiting >= rule.every || self.quick > 0 {
            self.is_due = true;
        }
        if self.until == Instant::FAR_FUTURE {
            self.until = now + rule.interval.0;
        }
    }

    /// Something arrived that the sender must hear of now.
    pub(super) const fn hurry(&mut self) {
        self.is_due = true;
    }

    /// A duplicate: the sender is in trouble, and wants to hear of every segment.
    pub(super) fn be_quick(&mut self, rule: DelayedAck) {
        if rule.quick > 0 {
            self.quick = self.quick.max(QUICK_AFTER_DUPLICATE);
        }
        self.is_due = true;
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.is_due |= self.until <= now;
    }

    /// Takes the acknowledgement that is due, if one is.
    pub(super) const fn take(&mut self) -> bool {
        if !self.is_due {
            return false;
        }
        (self.is_due, self.until, self.waiting) = (false, Instant::FAR_FUTURE, 0);
        self.quick = self.quick.saturating_sub(1);
        true
    }

    /// Takes the acknowledgement that is due or will be: something is about to leave that can carry it.
    pub(super) fn take_early(&mut self) -> bool {
        self.is_due |= self.until < Instant::FAR_FUTURE;
        self.take()
    }

    /// No more acknowledgements at once: what arrives is answered with data soon.
    pub(super) const fn be_patient(&mut self) {
        self.quick = 0;
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        (self.until < Instant::FAR_FUTURE).then_some(self.until)
    }
}
