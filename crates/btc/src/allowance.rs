//! How many datagrams a session may exchange in a second, by the limit that its server told.
//!
//! Both ends keep to it. The sender spends the limit in equal parts, so that no second of the receiver's has much more
//! than the limit in it, wherever that second begins; the receiver takes an eighth more before it drops any, so what it
//! drops came from a sender that does not keep to what it was told.

use std::time::Duration;
use units::Instant;

/// A sender's part of a second.
const PART: Duration = Duration::from_millis(10);
/// Parts in a second.
const PARTS: u32 = 100;
/// A receiver counts over this long.
const SECOND: Duration = Duration::from_secs(1);

/// Datagrams that may still pass in the present window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    window: Duration,
    most: u32,
    used: u32,
    ends: Instant,
}

impl Allowance {
    /// What may be sent at `per_s` datagrams a second; as much as one likes without a limit.
    pub(crate) fn to_send(per_s: Option<u32>) -> Self {
        Self::new(PART, per_s.map(|most| (most / PARTS).max(1)))
    }

    /// What may be taken at `per_s` datagrams a second.
    pub(crate) fn to_take(per_s: Option<u32>) -> Self {
        Self::new(SECOND, per_s.map(|most| most.saturating_add(most / 8)))
    }

    fn new(window: Duration, most: Option<u32>) -> Self {
        Self {
            window,
            most: most.unwrap_or(u32::MAX),
            used: 0,
            ends: Instant::ZERO,
        }
    }

    /// Time has come to `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        if now >= self.ends {
            self.ends = now + self.window;
            self.used = 0;
        }
    }

    /// Whether one more may pass.
    pub(crate) const fn has_room(&self) -> bool {
        self.used < self.most
    }

    /// One passes; false when it may not.
    pub(crate) fn take(&mut self) -> bool {
        let room = self.has_room();
        self.used += u32::from(room);
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Datagrams that pass in each millisecond of `ms`, of as many as one likes.
    fn passed(mut allowance: Allowance, ms: u64) -> Vec<u32> {
        let each = |t| {
            allowance.advance(Instant::from_nanos(t * 1_000_000));
            u32::try_from(std::iter::from_fn(|| allowance.take().then_some(())).count()).unwrap()
        };
        (1..=ms).map(each).collect()
    }

    #[test]
    fn a_sender_that_keeps_to_it_loses_nothing_wherever_the_second_begins() {
        let sent = passed(Allowance::to_send(Some(100_000)), 4_000);
        for start in (0..3_000).step_by(7) {
            let second: u32 = sent[start..start + 1_000].iter().sum();
            assert!(
                (99_000..=101_000).contains(&second),
                "{second} from {start} ms"
            );
        }
    }

    #[test]
    fn a_receiver_drops_what_is_far_above() {
        let taken: u32 = passed(Allowance::to_take(Some(1_000)), 3_000).iter().sum();
        assert_eq!(taken, 3 * 1_125);
    }

    #[test]
    fn without_a_limit_all_pass() {
        let mut allowance = Allowance::to_send(None);
        assert!((0..1_000_000).all(|_| allowance.take()));
    }
}
