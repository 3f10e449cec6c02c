//! When an acknowledgement is due: at once, or after a while for several segments (RFC 5681 section 4.2).

use crate::DelayedAck;
use std::time::Duration;
use units::Instant;

/// Segments that are acknowledged at once after a duplicate, as the kernel does; the sender's window is small then.
const QUICK_AFTER_DUPLICATE: u32 = 16;

/// The state of one delay.
#[derive(Debug)]
pub(super) struct Delay {
    rule: DelayedAck,
    /// Acknowledgements that are still sent at once.
    quick: u32,
    /// Segments that wait for one.
    waiting: u32,
    until: Option<Instant>,
    is_due: bool,
}

impl Delay {
    pub(super) const fn new(rule: DelayedAck) -> Self {
        Self {
            rule,
            quick: rule.quick,
            waiting: 0,
            until: None,
            is_due: false,
        }
    }

    /// A segment in order arrived.
    pub(super) fn wait(&mut self, now: Instant) {
        self.waiting += 1;
        if self.waiting >= self.rule.every || self.quick > 0 {
            self.is_due = true;
        }
        self.until.get_or_insert(now + self.rule.interval.0);
    }

    /// Something arrived that the sender must hear of now.
    pub(super) const fn hurry(&mut self) {
        self.is_due = true;
    }

    /// A duplicate: the sender is in trouble, and wants to hear of every segment.
    pub(super) fn be_quick(&mut self) {
        if self.rule.quick > 0 {
            self.quick = self.quick.max(QUICK_AFTER_DUPLICATE);
        }
        self.is_due = true;
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.is_due |= self.until.is_some_and(|until| until <= now);
    }

    /// Takes the acknowledgement that is due, if one is.
    pub(super) const fn take(&mut self) -> bool {
        if !self.is_due {
            return false;
        }
        (self.is_due, self.until, self.waiting) = (false, None, 0);
        self.quick = self.quick.saturating_sub(1);
        true
    }

    /// Takes the acknowledgement that is due or will be: something is about to leave that can carry it.
    pub(super) const fn take_early(&mut self) -> bool {
        self.is_due |= self.until.is_some();
        self.take()
    }

    /// How long an acknowledgement waits at most.
    pub(super) const fn longest(&self) -> Duration {
        self.rule.interval.0
    }

    /// No more acknowledgements at once: what arrives is answered with data soon.
    pub(super) const fn be_patient(&mut self) {
        self.quick = 0;
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.until
    }
}
