//! A link that sends at one rate.

use super::Service;
use units::{Instant, Rate, Transmitter};

/// Sends one packet after the other at a constant rate. The part of a nanosecond that each
/// transmission time is rounded by is carried to the next, so the rate is exact over any time.
#[derive(Clone, Copy, Debug)]
pub struct ConstantRate {
    transmitter: Transmitter,
}

impl ConstantRate {
    /// A link at `rate`.
    pub const fn new(rate: Rate) -> Self {
        Self {
            transmitter: Transmitter::new(rate),
        }
    }
}

impl Service for ConstantRate {
    #[inline]
    fn start(&mut self, ready: Instant) -> Instant {
        ready
    }

    #[inline]
    fn finish(&mut self, size: u32, start: Instant) -> Instant {
        self.transmitter.finish(u64::from(size), start)
    }
}
