//! Round trips and the retransmission timeout (RFC 6298).
//!
//! Two estimators of the variation. With [`RtoFloor::Timeout`] it is RFC 6298 to the letter. With [`RtoFloor::Variation`],
//! the default, it is what the Linux kernel does: the floor is under the variation, not under the timeout, so that
//! RTO >= SRTT + `rto_min`; the variation is the largest mean deviation seen in a window, falls slowly, and a round trip that
//! got shorter raises it by little.

use crate::{Options, RtoFloor};
use std::time::Duration;
use units::{Instant, nanos};

/// A minimum of round trips is at most so old, and at least half of it.
const MIN_RTT_AGE: Duration = Duration::from_secs(300);
/// The timeout after a handshake that was sent again (RFC 6298 section 5.7).
const CAUTIOUS: Duration = Duration::from_secs(3);

/// The estimator; everything in nanoseconds.
#[derive(Debug)]
pub(crate) struct RoundTrips {
    /// SRTT; zero before the first sample.
    srtt: i64,
    /// Mean deviation, and the largest in this window.
    mdev: i64,
    mdev_max: i64,
    /// RTTVAR.
    rttvar: i64,
    /// The window over which `mdev_max` is taken ends here.
    window_end: u64,
    /// The timeout, before and after it was backed off.
    base: u64,
    rto: u64,
    backoff: u32,
    /// The least of this half of the age, and of the one before; `u64::MAX` is none.
    min: [u64; 2],
    min_since: Instant,
}

impl RoundTrips {
    pub(crate) fn new(options: &Options) -> Self {
        let mut round_trips = Self {
            srtt: 0,
            mdev: 0,
            mdev_max: 0,
            rttvar: 0,
            window_end: 0,
            base: nanos(options.rto_initial.0),
            rto: 0,
            backoff: 0,
            min: [u64::MAX; 2],
            min_since: Instant::ZERO,
        };
        round_trips.set_timeout(options);
        round_trips
    }

    /// A round trip took `sample`; `una` and `next` are the sender's. Ends the back-off (RFC 6298 section 5, last paragraph).
    pub(crate) fn sample(&mut self, options: &Options, sample: Duration, una: u64, next: u64) {
        let sample = bounded(sample).max(1);
        let (floor, rto_min) = (options.rto_floor, bounded(options.rto_min.0));
        let least_variation = match floor {
            RtoFloor::Timeout => 0,
            RtoFloor::Variation => rto_min / 4,
        };
        if self.srtt == 0 {
            self.first(sample, least_variation, next);
        } else {
            match floor {
                RtoFloor::Timeout => self.by_rfc(sample),
                RtoFloor::Variation => self.by_kernel(sample, least_variation, [una, next]),
            }
        }
        self.backoff = 0;
        let variation = self.rttvar.saturating_mul(4);
        let rto = match floor {
            RtoFloor::Timeout => (self.srtt + variation).max(rto_min),
            RtoFloor::Variation => self.srtt + variation.max(rto_min),
        };
        self.base = rto.unsigned_abs();
        self.set_timeout(options);
    }

    /// RFC 6298 section 2.2.
    fn first(&mut self, sample: i64, least_variation: i64, next: u64) {
        self.srtt = sample;
        self.mdev = sample / 2;
        self.rttvar = least_variation.max(self.mdev);
        self.mdev_max = self.rttvar;
        self.window_end = next;
    }

    /// RFC 6298 section 2.3.
    fn by_rfc(&mut self, sample: i64) {
        self.rttvar += ((self.srtt - sample).abs() - self.rttvar) / 4;
        self.srtt += (sample - self.srtt) / 8;
    }

    fn by_kernel(&mut self, sample: i64, least_variation: i64, [una, next]: [u64; 2]) {
        let error = sample - self.srtt;
        self.srtt += error / 8;
        let surplus = error.abs() - self.mdev;
        // A shorter round trip says nothing of the next long one: it counts an eighth.
        let gain = if error < 0 && surplus > 0 { 32 } else { 4 };
        self.mdev += surplus / gain;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if una > self.window_end {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) / 4;
            }
            self.window_end = next;
            self.mdev_max = least_variation;
        }
    }

    /// A round trip that may be the least; RACK's and `HyStart`'s measure, without the receiver's delay.
    pub(crate) fn sample_min(&mut self, sample: Duration, now: Instant) {
        let sample = nanos(sample);
        if now.since(self.min_since) > MIN_RTT_AGE / 2 {
            self.min = [sample, self.min[0]];
            self.min_since = now;
        }
        self.min[0] = self.min[0].min(sample);
    }

    /// The timeout is that of RFC 6298 section 5.7 until there is a sample.
    pub(crate) fn be_cautious(&mut self, options: &Options) {
        self.base = self.base.max(nanos(CAUTIOUS));
        self.set_timeout(options);
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self, options: &Options) {
        self.backoff = self.backoff.saturating_add(1);
        self.set_timeout(options);
    }

    fn set_timeout(&mut self, options: &Options) {
        let factor = 1_u64.checked_shl(self.backoff).unwrap_or(u64::MAX);
        let most = nanos(options.rto_max.0).max(1_000_000);
        self.rto = self.base.saturating_mul(factor).min(most);
    }

    /// The timeout, backed off as it is.
    #[inline]
    pub(crate) const fn rto(&self) -> Duration {
        Duration::from_nanos(self.rto)
    }

    /// The same in nanoseconds.
    #[inline]
    pub(crate) const fn rto_ns(&self) -> u64 {
        self.rto
    }

    /// SRTT in nanoseconds; zero before the first sample.
    #[inline]
    pub(crate) const fn srtt_ns(&self) -> u64 {
        self.srtt.unsigned_abs()
    }

    /// SRTT, after the first sample.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        (self.srtt > 0).then(|| Duration::from_nanos(self.srtt.unsigned_abs()))
    }

    /// RTTVAR.
    pub(crate) const fn rttvar(&self) -> Duration {
        Duration::from_nanos(self.rttvar.unsigned_abs())
    }

    /// The least round trip of the last minutes.
    pub(crate) fn min(&self) -> Option<Duration> {
        let min = self.min[0].min(self.min[1]);
        (min < u64::MAX).then(|| Duration::from_nanos(min))
    }
}

/// At most an hour, so that sums of a few cannot overflow.
const fn bounded(span: Duration) -> i64 {
    const HOUR: i64 = 3_600_000_000_000;
    if span.as_secs() >= 3_600 {
        return HOUR;
    }
    nanos(span).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    const MS: Duration = Duration::from_millis(1);

    fn round_trips(rto_floor: RtoFloor) -> (Options, RoundTrips) {
        let options = Options {
            rto_floor,
            rto_max: Span::from_millis(60_000),
            ..Options::default()
        };
        let round_trips = RoundTrips::new(&options);
        (options, round_trips)
    }

    /// Holds btc/timeout-details, btc/cap-timestamps.
    #[test]
    fn the_first_sample_and_the_second_are_as_in_rfc_6298() {
        let (options, mut trips) = round_trips(RtoFloor::Timeout);
        assert_eq!(trips.rto(), 1_000 * MS);
        trips.sample(&options, 400 * MS, 0, 10);
        assert_eq!(
            (trips.srtt(), trips.rttvar(), trips.rto()),
            (Some(400 * MS), 200 * MS, 1_200 * MS)
        );
        trips.sample(&options, 480 * MS, 1, 11);
        // RTTVAR = 3/4 200 + 1/4 80, SRTT = 7/8 400 + 1/8 480.
        assert_eq!(
            (trips.srtt(), trips.rttvar(), trips.rto()),
            (Some(410 * MS), 170 * MS, 1_090 * MS)
        );
    }

    /// Holds btc/timeout-rule.
    #[test]
    fn a_steady_path_has_the_floor_under_its_variation() {
        for (floor, rto) in [
            (RtoFloor::Variation, 250 * MS),
            (RtoFloor::Timeout, 200 * MS),
        ] {
            let (options, mut trips) = round_trips(floor);
            for sent in 0..1_000 {
                trips.sample(&options, 50 * MS, sent, sent + 10);
            }
            assert_eq!(trips.rto(), rto);
        }
    }

    #[test]
    fn the_timeout_doubles_to_its_bound_until_a_sample_comes() {
        let (options, mut trips) = round_trips(RtoFloor::Variation);
        let mut seen = Vec::new();
        for _ in 0..8 {
            seen.push(trips.rto().as_secs());
            trips.back_off(&options);
        }
        assert_eq!(seen, [1, 2, 4, 8, 16, 32, 60, 60]);
        (0..100).for_each(|_| trips.back_off(&options));
        assert_eq!(trips.rto().as_secs(), 60);
        trips.sample(&options, 100 * MS, 0, 1);
        assert_eq!(trips.rto(), 300 * MS);
    }

    #[test]
    fn the_least_round_trip_is_forgotten_when_the_path_has_changed() {
        let (_, mut trips) = round_trips(RtoFloor::Variation);
        trips.sample_min(10 * MS, Instant::from_millis(1));
        for second in 0..700_u64 {
            trips.sample_min(30 * MS, Instant::from_millis(second * 1_000));
            if second < 100 {
                assert_eq!(trips.min(), Some(10 * MS));
            }
        }
        assert_eq!(trips.min(), Some(30 * MS));
    }
}
