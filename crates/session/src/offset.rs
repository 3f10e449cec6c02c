//! How far two monotonic clocks are apart.
//!
//! The exchange of NTP (RFC 5905 section 8): a question that leaves at `t1` on our clock arrives at
//! `t2` on theirs, and the answer leaves at `t3` and arrives at `t4`. If both directions took as
//! long, the clocks differ by `((t2 - t1) + (t3 - t4)) / 2`; the error is at most half the round
//! trip `(t4 - t1) - (t3 - t2)`. Of several exchanges the one with the shortest round trip has the
//! least queueing in it and is kept.

use serde::{Deserialize, Serialize};
use units::Instant;

/// The far end's monotonic clock minus ours, and how well that is known.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ClockOffset {
    /// Nanoseconds to add to one of our instants to get the far end's.
    pub offset_ns: i64,
    /// The round trip of the exchange it comes from; the error is at most half of it.
    pub rtt_ns: u64,
}

impl ClockOffset {
    /// The offset by one exchange: `sent` and `arrived` on our clock, `received` and `replied` on
    /// theirs. Any four numbers give a result; extremes are held at the ends of the range.
    pub fn from_exchange(
        sent: Instant,
        received: Instant,
        replied: Instant,
        arrived: Instant,
    ) -> Self {
        let [t1, t2, t3, t4] =
            [sent, received, replied, arrived].map(|at| i128::from(at.as_nanos()));
        let offset = i128::midpoint(t2 - t1, t3 - t4);
        let rtt = ((t4 - t1) - (t3 - t2)).max(0);
        Self {
            offset_ns: i64::try_from(offset).unwrap_or(if offset < 0 {
                i64::MIN
            } else {
                i64::MAX
            }),
            rtt_ns: u64::try_from(rtt).unwrap_or(u64::MAX),
        }
    }

    /// The better of two: the one with the shorter round trip.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other.rtt_ns < self.rtt_ns {
            other
        } else {
            self
        }
    }

    /// One of the far end's instants on our clock.
    pub fn to_ours(self, theirs: Instant) -> Instant {
        theirs.offset(self.offset_ns.saturating_neg())
    }

    /// One of our instants on the far end's clock.
    pub fn to_theirs(self, ours: Instant) -> Instant {
        ours.offset(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn an_even_path_gives_the_exact_offset() {
        let offset = ClockOffset::from_exchange(at(1_000), at(51_500), at(51_700), at(2_200));
        assert_eq!(
            offset,
            ClockOffset {
                offset_ns: 50_000,
                rtt_ns: 1_000
            }
        );
        assert_eq!(offset.to_theirs(at(1_500)), at(51_500));
        assert_eq!(offset.to_ours(at(51_700)), at(1_700));
    }

    #[test]
    fn the_shorter_round_trip_wins() {
        let long = ClockOffset {
            offset_ns: 1,
            rtt_ns: 9,
        };
        let short = ClockOffset {
            offset_ns: 2,
            rtt_ns: 8,
        };
        assert_eq!(long.or(short), short);
        assert_eq!(short.or(long), short);
    }

    proptest! {
        #[test]
        fn the_error_is_at_most_half_the_round_trip(
            true_offset in -1_000_000_000_i64..1_000_000_000,
            start in 2_000_000_000_u64..4_000_000_000,
            there in 0_u64..1_000_000_000, wait in 0_u64..1_000, back in 0_u64..1_000_000_000,
        ) {
            let received = at(start + there).offset(true_offset);
            let replied = at(start + there + wait).offset(true_offset);
            let seen = ClockOffset::from_exchange(
                at(start), received, replied, at(start + there + wait + back),
            );
            prop_assert_eq!(seen.rtt_ns, there + back);
            prop_assert!((seen.offset_ns - true_offset).unsigned_abs() <= seen.rtt_ns / 2 + 1);
        }

        #[test]
        fn any_four_numbers_are_survived(t1: u64, t2: u64, t3: u64, t4: u64) {
            let seen = ClockOffset::from_exchange(at(t1), at(t2), at(t3), at(t4));
            let _ = seen.to_ours(at(t2));
        }
    }
}
