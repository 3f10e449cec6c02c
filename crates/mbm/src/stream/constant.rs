//! Constant window: as many packets in flight as carry the target rate (RFC 8337 section 6.2).
//!
//! What a transport does whose window is clamped: each acknowledgement lets one packet leave, so the path itself is the clock. The rate is
//! the window over the path's own round-trip time: with [`test_window`](crate::target::Target::test_window) it is the target's.

use super::flight::{Flight, News};
use super::{Ack, Burst, Shape, Stream};
use std::time::Duration;
use units::Instant;

/// Keeps a constant number of packets in flight. The first window is not sent at once but spread over a round trip, lest it be a burst for ever.
#[derive(Clone, Debug)]
pub struct ConstantWindow {
    clock: Clock,
}

impl ConstantWindow {
    /// `window` packets in flight from `start` on, over a path whose round trip takes about `path_rtt`.
    pub fn new(window: u32, path_rtt: Duration, start: Instant) -> Self {
        Self {
            clock: Clock::new(window, path_rtt, start),
        }
    }
}

impl Stream for ConstantWindow {
    fn poll(&mut self, now: Instant) -> Option<Burst> {
        while self.clock.lost(now).is_some() {}
        self.clock.poll(now)
    }

    fn next_due(&self) -> Option<Instant> {
        self.clock.next_due()
    }

    fn handle_ack(&mut self, ack: Ack, now: Instant) {
        self.clock.acked(ack.seq, now);
    }

    fn is_done(&self) -> bool {
        false
    }

    fn shape(&self) -> Shape {
        Shape {
            burst_packets: 1,
            headway: None,
        }
    }
}

/// The clock of a windowed stream: what may leave by a window that the stream may move.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    flight: Flight,
    window: u32,
    start: Instant,
    /// The first window is spread over this.
    opening: Duration,
    first_window: u32,
}

impl Clock {
    pub(super) fn new(window: u32, path_rtt: Duration, start: Instant) -> Self {
        let window = window.max(1);
        Self {
            flight: Flight::default(),
            window,
            start,
            opening: path_rtt,
            first_window: window,
        }
    }

    pub(super) const fn window(&self) -> u32 {
        self.window
    }

    pub(super) const fn widen(&mut self) {
        self.window = self.window.saturating_add(1);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.flight.open() == 0
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.flight.next()
    }

    pub(super) fn acked(&mut self, seq: u64, now: Instant) -> Option<News> {
        self.flight.acked(seq, now)
    }

    pub(super) fn lost(&mut self, now: Instant) -> Option<News> {
        self.flight.lost(now)
    }

    pub(super) fn poll(&mut self, now: Instant) -> Option<Burst> {
        if self.flight.open() >= self.allowed(now) {
            return None;
        }
        let first = self.flight.send(now, self.window);
        Some(Burst {
            due: now,
            first,
            packets: 1,
        })
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        [self.next_opening(), self.flight.next_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Packets that may be in flight at `now`.
    fn allowed(&self, now: Instant) -> u32 {
        if now < self.start {
            return 0;
        }
        let opened = 1 + self.steps(now.since(self.start));
        if opened >= u128::from(self.first_window) {
            self.window
        } else {
            u32::try_from(opened).unwrap_or(self.window)
        }
    }

    /// Whole parts of the opening that have passed after `elapsed`.
    fn steps(&self, elapsed: Duration) -> u128 {
        let whole = self.opening.as_nanos().max(1);
        elapsed
            .as_nanos()
            .saturating_mul(u128::from(self.first_window))
            / whole
    }

    /// When the next packet of the first window may leave.
    fn next_opening(&self) -> Option<Instant> {
        let sent = self.flight.next();
        if sent >= u64::from(self.first_window) {
            return None;
        }
        let ns = self.opening.as_nanos() * u128::from(sent);
        let ns = ns.div_ceil(u128::from(self.first_window));
        Some(self.start + Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
    }
}
