//! The same delay for all.

use super::DelayModel;
use std::time::Duration;
use units::{FlowId, Instant};

/// Every packet takes the same time: propagation on a wire.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    delay: Duration,
}

impl Fixed {
    /// A delay of `delay`.
    pub const fn new(delay: Duration) -> Self {
        Self { delay }
    }
}

impl DelayModel for Fixed {
    #[inline]
    fn departure(&mut self, _: FlowId, at: Instant) -> Instant {
        at + self.delay
    }

    fn least(&self) -> Duration {
        self.delay
    }
}
