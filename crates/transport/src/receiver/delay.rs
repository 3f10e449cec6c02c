//! When an acknowledgement is due: at once, or after a while for several segments (RFC 5681 section 4.2).
//!
//! By the RFCs at the second full segment, and at the latest after an interval. As the Linux kernel does it, besides at once:
//!
//! - the first few segments of a transfer, and as many after a pause or a duplicate, when the sender's window is small: up to half of those
//!   that fit into the receive window, and those with which this still grows;
//! - a segment that is shorter than the others, for the sender may have no more.
//!
//! But where the ends take turns, an acknowledgement waits for the answer, which can carry it. And of many duplicates one may stand for the rest
//! ([`super::compression`]).

use super::compression::Compression;
use super::offer::Offer;
use crate::DelayedAck;
use std::time::Duration;
use units::Instant;

/// Segments that are acknowledged at once after a duplicate, as the kernel does; the sender's window is small then.
const QUICK_AFTER_DUPLICATE: u32 = 16;
/// What is held to be a full segment before one has come, and the least that two shorter ones must have to be held for full (the
/// kernel's `TCP_MSS_DEFAULT`).
const USUAL: u16 = 536;
/// Duplicates wait for this part of the RTT (the kernel's 5 %).
const PART_OF_RTT: u32 = 20;

/// The state of one delay. All its methods are given the same rule.
#[derive(Debug)]
pub(super) struct Delay {
    /// When the latest segment in order came; [`Instant::FAR_FUTURE`] before the first.
    received: Instant,
    /// When an acknowledgement is due at the latest; [`Instant::FAR_FUTURE`] when none waits.
    until: Instant,
    /// After so many microseconds the sender begins anew.
    pause_us: u32,
    /// The RTT as far as it is known; zero is unknown.
    rtt_us: u32,
    /// Acknowledgements that are still sent at once.
    quick: u32,
    /// Octets that wait for one.
    waiting: u32,
    /// Octets of a full segment, and of the latest shorter one that had as many as is usual.
    full: u16,
    short: u16,
    /// What arrives is answered with data (the kernel's ping-pong mode).
    takes_turns: bool,
    is_due: bool,
    compression: Compression,
    offer: Offer,
}

impl Delay {
    /// Nothing has come. After a pause of `rto` without data the sender begins anew; its segments have up to `mss` octets.
    pub(super) fn new(rto: Duration, mss: u16) -> Self {
        Self {
            received: Instant::FAR_FUTURE,
            until: Instant::FAR_FUTURE,
            pause_us: microseconds(rto),
            rtt_us: 0,
            quick: 0,
            waiting: 0,
            full: USUAL.min(mss),
            short: 0,
            takes_turns: false,
            is_due: false,
            compression: Compression::new(),
            offer: Offer::UNLIMITED,
        }
    }

    pub(super) fn set_round_trip(&mut self, rtt: Duration, rto: Duration) {
        (self.rtt_us, self.pause_us) = (microseconds(rtt), microseconds(rto));
    }

    pub(super) const fn set_offer(&mut self, offer: Offer) {
        self.offer = offer;
    }

    /// A segment in order arrived, with `len` octets, which makes `bytes` in all.
    pub(super) fn wait(&mut self, rule: DelayedAck, len: u16, bytes: u64, now: Instant) {
        let pause = Duration::from_micros(self.pause_us.into());
        let is_short = self.is_short(len);
        if self.received == Instant::FAR_FUTURE || now.since(self.received) > pause {
            self.hasten(rule.quick);
        }
        let rtt = Duration::from_micros(self.rtt_us.into());
        if self.offer.grows((len, self.full), bytes, rtt, now) {
            // As the kernel does it: one more, of an even number.
            self.quick |= 1;
        }
        self.received = now;
        self.waiting = self.waiting.saturating_add(len.into());
        let is_prompt = rule.quick > 0 && (self.quick > 0 || is_short) && !self.takes_turns;
        let allowed = u32::from(self.full).saturating_mul(rule.every.saturating_sub(1));
        self.is_due |= is_prompt || self.waiting > allowed;
        if self.until == Instant::FAR_FUTURE {
            self.until = now + rule.interval.0;
        }
    }

    /// At least so many acknowledgements go at once: `most`, or half as many as segments fit into the window (the kernel's
    /// `tcp_incr_quickack`).
    fn hasten(&mut self, most: u32) {
        let half = match self.offer.window() / (2 * u32::from(self.full.max(1))) {
            0 => 2,
            half => half,
        };
        self.quick = self.quick.max(half.min(most));
    }

    /// Whether a segment is shorter than a full one: than the longest so far, or what two of at least 536 octets have had (the kernel's
    /// `tcp_measure_rcv_mss`).
    const fn is_short(&mut self, len: u16) -> bool {
        if len == 0 {
            return false;
        }
        if len >= self.full || len == self.short {
            self.full = len;
            return false;
        }
        if len >= USUAL {
            self.short = len;
        }
        true
    }

    /// A segment came beyond `next`, the number expected, or brought it one further with something still missing.
    pub(super) fn miss(&mut self, rule: DelayedAck, next: u64, now: Instant) {
        let is_quick = rule.quick > 0 && self.quick > 0 && !self.takes_turns;
        if self.is_due || is_quick {
            self.is_due = true;
            return;
        }
        let part = Duration::from_micros((self.rtt_us / PART_OF_RTT).into());
        let delay = part.min(rule.compression.0);
        self.is_due = self.compression.is_at_once(next, delay, now);
    }

    /// Something arrived that the sender must hear of now.
    pub(super) const fn hurry(&mut self) {
        self.is_due = true;
    }

    /// A duplicate: the sender is in trouble, and wants to hear of every segment.
    pub(super) fn be_quick(&mut self, rule: DelayedAck) {
        if rule.quick > 0 {
            self.hasten(QUICK_AFTER_DUPLICATE);
        }
        self.takes_turns = false;
        self.is_due = true;
    }

    /// No more acknowledgements at once: what arrives is answered with data soon.
    pub(super) const fn take_turns(&mut self) {
        self.takes_turns = true;
    }

    /// Data leave at `now`, which are an answer if something has come lately.
    pub(super) fn answer(&mut self, rule: DelayedAck, now: Instant) {
        let has_come = self.received < Instant::FAR_FUTURE;
        self.takes_turns |= has_come && now.since(self.received) < rule.interval.0;
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.until <= now {
            self.is_due = true;
            // No answer came.
            self.takes_turns = false;
        }
        self.is_due |= self.compression.deadline() <= now;
    }

    /// Takes the acknowledgement that is due, if one is.
    pub(super) const fn take(&mut self) -> bool {
        if !self.is_due {
            return false;
        }
        (self.is_due, self.until, self.waiting) = (false, Instant::FAR_FUTURE, 0);
        self.quick = self.quick.saturating_sub(1);
        self.compression.end();
        true
    }

    /// Takes the acknowledgement that is due or will be: something is about to leave that can carry it.
    pub(super) fn take_early(&mut self) -> bool {
        self.is_due |= self.deadline().is_some();
        self.take()
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        let first = self.until.min(self.compression.deadline());
        (first < Instant::FAR_FUTURE).then_some(first)
    }
}

fn microseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    const RULE: DelayedAck = DelayedAck {
        every: 2,
        interval: Span::from_millis(40),
        quick: 1,
        compression: Span::from_millis(1),
    };

    fn begun() -> Delay {
        let mut delay = Delay::new(Duration::from_millis(300), 1_448);
        assert!(comes(&mut delay, 1_448, 1), "the first");
        delay
    }

    /// Whether a segment is acknowledged at once.
    fn comes(delay: &mut Delay, len: u16, ms: u64) -> bool {
        delay.wait(RULE, len, 0, Instant::from_millis(ms));
        delay.take()
    }

    #[test]
    fn a_segment_that_is_shorter_than_the_others_does_not_wait_for_a_second() {
        let mut delay = begun();
        assert!(!comes(&mut delay, 1_448, 2));
        assert!(comes(&mut delay, 1_448, 3));
        assert!(comes(&mut delay, 100, 4));
        // The second as long as the one before is a full one.
        assert!(comes(&mut delay, 1_000, 5));
        assert!(comes(&mut delay, 100, 6));
        assert!(!comes(&mut delay, 1_000, 7));
        assert!(comes(&mut delay, 1_000, 8));
        // None is as short as that by the rules of the RFCs alone.
        let plain = DelayedAck { quick: 0, ..RULE };
        delay.wait(plain, 100, 0, Instant::from_millis(9));
        assert!(!delay.take());
    }

    #[test]
    fn every_second_is_acknowledged_however_small_full_segments_are() {
        for quick in [0, 1] {
            let rule = DelayedAck { quick, ..RULE };
            let mut delay = Delay::new(Duration::from_secs(1), 100);
            let at_once = (1..8).filter(|ms| {
                delay.wait(rule, 100, 0, Instant::from_millis(*ms));
                delay.take()
            });
            let expected = if quick == 0 { [2, 4, 6] } else { [1, 3, 5] };
            assert_eq!(at_once.take(3).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn who_takes_turns_waits_for_the_answer_until_none_comes() {
        let mut delay = begun();
        delay.answer(RULE, Instant::from_millis(10));
        assert!(!comes(&mut delay, 100, 50));
        assert!(delay.take_early(), "on the answer");
        assert!(!comes(&mut delay, 100, 100));
        delay.handle_timeout(Instant::from_millis(140));
        assert!(delay.take(), "no answer came");
        assert!(comes(&mut delay, 100, 150));
        // What leaves long after the latest arrival is no answer to it.
        delay.answer(RULE, Instant::from_millis(190));
        assert!(comes(&mut delay, 100, 200));
    }

    /// As Linux 6.18 was seen to do it: 22 of a window that grows six times, 17, 11 and 7 of windows that grow once.
    #[test]
    fn a_window_bounds_what_is_acknowledged_at_once_and_what_it_grows_with_is_too() {
        let rule = DelayedAck { quick: 16, ..RULE };
        let bounds = [
            (None, 22),
            (Some(65_535), 17),
            (Some(30_000), 11),
            (Some(20_000), 7),
        ];
        for (bound, singles) in bounds {
            let mut delay = Delay::new(Duration::from_millis(300), 1_448);
            delay.set_offer(Offer::new(bound, Instant::ZERO));
            let at_once = (1..60).take_while(|ms| {
                delay.wait(rule, 1_448, ms * 1_448, Instant::from_millis(*ms));
                delay.take()
            });
            assert_eq!(at_once.count(), singles, "{bound:?}");
        }
    }

    #[test]
    fn after_a_pause_the_first_is_acknowledged_at_once() {
        let mut delay = begun();
        assert!(!comes(&mut delay, 1_448, 301));
        assert!(comes(&mut delay, 1_448, 302), "the second");
        assert!(comes(&mut delay, 1_448, 603), "300 ms and one later");
        assert!(!comes(&mut delay, 1_448, 604));
    }
}
