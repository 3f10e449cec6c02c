//! What probing may take from a path: a bucket of octets that fills at a constant rate.
//!
//! A list of probes takes all its octets at once when it is accepted, whatever of them turns out to carry an application's packets. A train
//! in ranges takes those of its least count, gets back what of them rode, and beyond it pays for what each probe adds; with the probe that takes
//! the last of it such a train is over, so it may overdraw by less than one probe.
//! With as much room as comes in a second, no second and no longer time sees more than twice the rate, and the mean over a
//! long time is at most the rate.

use std::time::Duration;
use units::Instant;

/// What probing may take.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Budget {
    /// In the long run, in octets of IP packets.
    pub octets_per_second: u64,
    /// At once, after a pause: no transaction can be larger.
    pub burst: u64,
}

/// What is left of it.
#[derive(Debug)]
pub(super) struct Bucket {
    budget: Budget,
    /// In octets times nanoseconds, so that nothing is rounded.
    level: u128,
    at: Instant,
}

impl Bucket {
    /// A full one.
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            level: parts(budget.burst),
            at: Instant::ZERO,
        }
    }

    /// Takes so many octets, or else says what the budget is.
    pub(super) fn take(&mut self, octets: u64, now: Instant) -> Result<(), u64> {
        let came = now.since(self.at).as_nanos() * u128::from(self.budget.octets_per_second);
        self.level = (self.level.saturating_add(came)).min(parts(self.budget.burst));
        self.at = self.at.max(now);
        let left = self.level.checked_sub(parts(octets));
        self.level = left.ok_or(self.budget.octets_per_second)?;
        Ok(())
    }

    /// Takes so many octets, or what is left.
    pub(super) fn spend(&mut self, octets: u64, now: Instant) {
        if self.take(octets, now).is_err() {
            self.level = 0;
        }
    }

    /// Gives back octets that were taken and not needed.
    pub(super) fn give(&mut self, octets: u64) {
        let level = self.level.saturating_add(parts(octets));
        self.level = level.min(parts(self.budget.burst));
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&mut self, now: Instant) -> bool {
        if self.take(1, now).is_err() {
            return true;
        }
        self.give(1);
        false
    }
}

fn parts(octets: u64) -> u128 {
    u128::from(octets) * Duration::from_secs(1).as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_spent_comes_back_with_time() {
        let mut bucket = Bucket::new(Budget {
            octets_per_second: 1_000,
            burst: 500,
        });
        let at = Instant::from_millis;
        assert_eq!(bucket.take(501, at(0)), Err(1_000));
        assert_eq!(bucket.take(500, at(0)), Ok(()));
        assert_eq!(bucket.take(100, at(99)), Err(1_000));
        assert_eq!(bucket.take(100, at(100)), Ok(()));
        assert_eq!(
            bucket.take(501, at(90_000)),
            Err(1_000),
            "no more than fits"
        );
    }

    proptest! {
        #[test]
        fn no_time_sees_more_than_the_rate_and_one_burst(
            rate in 1_u64..1_000_000,
            burst in 1_u64..100_000,
            asked in prop::collection::vec((0_u64..50_000, 0_u64..500), 1..60),
        ) {
            let mut bucket = Bucket::new(Budget { octets_per_second: rate, burst });
            let (mut now, mut spent) = (0, 0);
            for (octets, later) in asked {
                now += later;
                if bucket.take(octets, Instant::from_millis(now)).is_ok() {
                    spent += octets;
                }
                prop_assert!(spent * 1_000 <= burst * 1_000 + rate * now);
            }
        }
    }
}
