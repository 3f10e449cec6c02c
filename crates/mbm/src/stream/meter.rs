//! Rates over the recent past.

use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// Points that a meter keeps, at most.
const MOST_POINTS: u32 = 256;

/// Packets per second over a sliding window of time, from cumulative counts.
#[derive(Clone, Debug)]
pub struct RateMeter {
    window: Duration,
    points: VecDeque<(Instant, u64)>,
}

impl RateMeter {
    /// A meter over the last `window`.
    pub const fn new(window: Duration) -> Self {
        Self {
            window,
            points: VecDeque::new(),
        }
    }

    /// So many packets had been counted at `now`.
    pub fn count(&mut self, packets: u64, now: Instant) {
        let spacing = self.window / (MOST_POINTS / 2);
        let latest = self
            .points
            .len()
            .checked_sub(2)
            .and_then(|i| self.points.get(i));
        // Points closer than that replace each other.
        if latest.is_some_and(|(at, _)| now.since(*at) < spacing) {
            self.points.pop_back();
        }
        self.points.push_back((now, packets));
        while self
            .points
            .get(1)
            .is_some_and(|(at, _)| now.since(*at) >= self.window)
        {
            self.points.pop_front();
        }
        if self.points.len() > MOST_POINTS as usize {
            self.points.pop_front();
        }
    }

    /// Packets per second; `None` before a whole window has passed.
    pub fn packets_per_s(&self) -> Option<f64> {
        let ((from, before), (to, now)) = (self.points.front()?, self.points.back()?);
        let span = to.since(*from);
        (span >= self.window && !span.is_zero())
            .then(|| now.saturating_sub(*before) as f64 / span.as_secs_f64())
    }
}
