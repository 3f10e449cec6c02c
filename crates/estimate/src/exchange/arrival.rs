//! A reply as a probe that came back.

use far_ends::Stamps;
use probe::train::{Arrival, Back};
use units::Instant;

/// A probe that came back, as a train has it. The far end's times are moved by what our wall clock was ahead of the monotonic one at the
/// origin, so that delays are off by no more than the two wall clocks are.
pub(super) fn arrival(
    number: u32,
    sent: Instant,
    returned: Instant,
    stamps: Option<Stamps>,
    (origin, origin_wall): (Instant, u64),
) -> Arrival {
    let moved = |wall_ns: u64| {
        let since = i128::from(wall_ns) - i128::from(origin_wall);
        let ns = since + i128::from(origin.as_nanos());
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    };
    let sent_ns = sent.as_nanos();
    // Who tells no times is taken for one who replies at once, and at no distance.
    let (arrived_ns, left_ns) = stamps.map_or((sent_ns, sent_ns), |stamps| {
        (moved(stamps.received_ns), moved(stamps.replied_ns))
    });
    Arrival {
        number,
        sent_ns,
        arrived_ns,
        back: Some(Back {
            left_ns,
            returned_ns: returned.as_nanos(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_those_of_two_wall_clocks() {
        let at = Instant::from_nanos;
        let origin = (at(1_000), 1_795_000_000_000_000_000);
        let stamps = Stamps {
            received_ns: origin.1 + 700,
            replied_ns: origin.1 + 800,
        };
        let told = arrival(3, at(1_500), at(2_000), Some(stamps), origin);
        assert_eq!((told.delay_ns(), told.back_ns()), (200, Some(200)));
        // Before the origin, by a clock that is decades behind.
        let early = Stamps {
            received_ns: 5,
            replied_ns: 6,
        };
        assert_eq!(
            arrival(3, at(1_500), at(2_000), Some(early), origin).arrived_ns,
            0
        );
    }

    #[test]
    fn without_time_stamps_the_round_trip_is_all_there_is() {
        let at = Instant::from_nanos;
        let told = arrival(3, at(1_500), at(2_000), None, (at(0), 0));
        assert_eq!(told.round_trip_ns(), Some(500));
    }
}
