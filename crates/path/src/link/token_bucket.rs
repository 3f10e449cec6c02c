//! A shaper.

use super::Service;
use units::{Bytes, Instant, Rate, Transmitter};

/// Nanoseconds in a second: tokens are counted in billionths of a bit, so that `rate` of them come
/// in each nanosecond and nothing is rounded.
const NS_PER_S: u128 = 1_000_000_000;

/// A token bucket: tokens come at `rate` up to `burst`, and a packet leaves when there are tokens
/// for all of it. Over any span t, what leaves is at most `burst` + `rate` t; a burst leaves at
/// once, or at the peak rate where there is one.
///
/// The packet at the head is taken off the queue before its tokens are there and waits for them
/// outside, so the queue's delay ends when the packet before it has left. A packet larger than the
/// bucket waits until its own size in tokens has come.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate: u128,
    burst: u128,
    peak: Option<Transmitter>,
    tokens: u128,
    /// When `tokens` was true.
    since: Instant,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(rate: Rate, burst: Bytes, peak: Option<Rate>) -> Self {
        let burst = cost(burst.get());
        Self {
            rate: u128::from(rate.as_bps()),
            burst,
            peak: peak.map(Transmitter::new),
            tokens: burst,
            since: Instant::ZERO,
        }
    }

    /// The first instant from `start` on with `cost` tokens.
    fn affordable(&self, cost: u128, start: Instant) -> Instant {
        // What has come up to now the bucket holds as far as it can; a packet larger than the bucket waits for the rest.
        let from = start.max(self.since);
        let missing = cost.saturating_sub(self.held(from, self.burst));
        let ns = u64::try_from(missing.div_ceil(self.rate)).unwrap_or(u64::MAX);
        from + std::time::Duration::from_nanos(ns)
    }

    fn take(&mut self, cost: u128, at: Instant) {
        self.tokens = self.held(at, self.burst.max(cost)).saturating_sub(cost);
        self.since = at;
    }

    /// The tokens at `at`, at most `most`.
    fn held(&self, at: Instant, most: u128) -> u128 {
        let come = self.rate * at.since(self.since).as_nanos();
        self.tokens.saturating_add(come).min(most)
    }
}

fn cost(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * NS_PER_S
}

impl Service for TokenBucket {
    fn start(&mut self, ready: Instant) -> Instant {
        ready
    }

    fn finish(&mut self, size: u32, start: Instant) -> Instant {
        let cost = cost(u64::from(size));
        let mut at = self.affordable(cost, start);
        if let Some(peak) = &mut self.peak {
            at = at.max(start + peak.transmit(u64::from(size)));
        }
        self.take(cost, at);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bucket(peak: Option<&str>) -> TokenBucket {
        let peak = peak.map(|peak| peak.parse().unwrap());
        TokenBucket::new("8Mbit".parse().unwrap(), Bytes::new(3_000), peak)
    }

    /// Departures in microseconds of `count` packets of 1,000 octets that wait from the start.
    fn departures(mut bucket: TokenBucket, count: usize) -> Vec<u64> {
        let mut at = Instant::ZERO;
        (0..count)
            .map(|_| {
                at = bucket.finish(1_000, at);
                at.as_nanos() / 1_000
            })
            .collect()
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        assert_eq!(departures(bucket(None), 5), [0, 0, 0, 1_000, 2_000]);
    }

    #[test]
    fn a_burst_leaves_at_the_peak_rate_where_there_is_one() {
        // At 80 Mbit/s a packet lasts 100 us. While the first one lasts the bucket is full; in the
        // 200 us after it 200 octets come, and the fourth packet needs 800 more.
        let peaked = departures(bucket(Some("80Mbit")), 5);
        assert_eq!(peaked, [100, 200, 300, 1_100, 2_100]);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_waits_for_its_own_size() {
        let mut bucket = bucket(None);
        // 6,000 octets need 3,000 more than the full bucket: 3 ms at 8 Mbit/s.
        assert_eq!(bucket.finish(6_000, Instant::ZERO), Instant::from_millis(3));
        assert_eq!(
            bucket.finish(1_000, Instant::from_millis(3)),
            Instant::from_millis(4)
        );
    }

    #[test]
    fn idleness_saves_up_no_more_than_the_bucket_holds() {
        let mut bucket = bucket(None);
        let second = Instant::from_millis(1_000);
        assert_eq!(bucket.finish(6_000, second), Instant::from_millis(1_003));
    }

    proptest! {
        #[test]
        fn no_window_carries_more_than_burst_plus_rate_times_time(
            bps in 1_000_u64..1_000_000_000,
            burst in 1_500_u64..100_000,
            packets in proptest::collection::vec((40_u32..1_500, 0_u64..3_000_000), 1..120),
        ) {
            let rate = Rate::from_bps(bps).unwrap();
            let mut bucket = TokenBucket::new(rate, Bytes::new(burst), None);
            let (mut at, mut arrival) = (Instant::ZERO, 0);
            let left: Vec<(u64, u64)> = packets
                .iter()
                .map(|&(size, gap)| {
                    arrival += gap;
                    at = bucket.finish(size, at.max(Instant::from_nanos(arrival)));
                    (at.as_nanos(), u64::from(size))
                })
                .collect();
            for first in 0..left.len() {
                let mut sum = 0;
                for &(until, size) in &left[first..] {
                    sum += size;
                    let come = u128::from(bps) * u128::from(until - left[first].0);
                    prop_assert!(cost(sum) <= cost(burst) + come);
                }
            }
        }
    }
}
