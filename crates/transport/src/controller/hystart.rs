//! `HyStart`: leaves slow start before the queue overflows (Ha and Rhee, "Taming the elephants", 2011), as the Linux kernel
//! does it. RFC 9406 is its successor in the standards, without the first of the two signs.
//!
//! 1. *Train*: acknowledgements that follow each other closely (2 ms) have been arriving for half of the least round trip:
//!    the network delivers as much as fits into it.
//! 2. *Delay*: the least of a round's first round trips is above the least of all by an eighth, 4 ms at least, 16 ms at most.

use super::Growing;
use std::num::NonZeroU64;
use std::time::Duration;
use units::{Instant, nanos};

/// Below this window nothing is decided.
const LEAST_WINDOW: u32 = 16;
/// Acknowledgements this close belong to one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// What the sender's own bursts may add to a train.
const TRAIN_SLACK: Duration = Duration::from_millis(1);
/// Samples of a round before its least counts.
const SAMPLES: u8 = 8;
const LEAST_RISE: Duration = Duration::from_millis(4);
const MOST_RISE: Duration = Duration::from_millis(16);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct HyStart {
    round_start: Instant,
    last_ack: Instant,
    /// None before the first round.
    round_end: Option<NonZeroU64>,
    /// The least of its round trips so far, nanoseconds; none where there are no `samples`.
    least: u64,
    samples: u8,
    found: bool,
}

impl HyStart {
    /// A round begins, and ends when all that is out now has been acknowledged.
    fn begin_round(&mut self, growing: &Growing) {
        *self = Self {
            found: self.found,
            round_start: growing.now,
            last_ack: growing.now,
            round_end: NonZeroU64::new(growing.next),
            least: 0,
            samples: 0,
        };
    }

    /// Whether slow start has gone far enough, after a round trip of `rtt` where the least is `min`.
    pub(super) fn should_leave(
        &mut self,
        cwnd: u32,
        rtt: Duration,
        min: Duration,
        growing: &Growing,
    ) -> bool {
        if self.found {
            return false;
        }
        if self.round_end.is_none_or(|end| growing.una > end.get()) {
            self.begin_round(growing);
        }
        if cwnd < LEAST_WINDOW {
            return false;
        }
        self.found = self.is_long_train(min, growing.now) | self.has_risen(rtt, min);
        self.found
    }

    fn is_long_train(&mut self, min: Duration, now: Instant) -> bool {
        if now.since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        now.since(self.round_start) > (min + TRAIN_SLACK) / 2
    }

    fn has_risen(&mut self, rtt: Duration, min: Duration) -> bool {
        let rtt = nanos(rtt);
        self.least = match self.samples {
            0 => rtt,
            _ => self.least.min(rtt),
        };
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least > nanos(min + (min / 8).clamp(LEAST_RISE, MOST_RISE))
    }
}
