//! Points in time.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};
use core::time::Duration;

/// A point in time: nanoseconds on a monotonic clock whose zero is the world's own.
///
/// In the lab and live worlds it is `CLOCK_MONOTONIC` of the host that read it; in sim it is the
/// virtual clock. Instants of two hosts are not comparable: see [`Stamp`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant(u64);

impl Instant {
    /// The clock's zero.
    pub const ZERO: Self = Self(0);
    /// Later than anything.
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// The instant `ns` nanoseconds after the clock's zero.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// The instant `ms` milliseconds after the clock's zero.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the clock's zero.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time since `earlier`; zero when `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The time since `earlier` in nanoseconds, negative when `earlier` is later.
    pub const fn signed_since(self, earlier: Self) -> i64 {
        self.0.wrapping_sub(earlier.0).cast_signed()
    }

    /// `ns` nanoseconds later; saturates at [`Instant::FAR_FUTURE`]. Where each packet passes, a [`Duration`] would cost a division.
    #[inline]
    #[must_use]
    pub const fn later(self, ns: u64) -> Self {
        Self(self.0.saturating_add(ns))
    }

    /// This instant moved by `ns` nanoseconds, earlier when negative.
    #[must_use]
    pub const fn offset(self, ns: i64) -> Self {
        Self(self.0.saturating_add_signed(ns))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// Saturates at [`Instant::FAR_FUTURE`].
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// Saturates at [`Instant::ZERO`].
    #[inline]
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(span)))
    }
}

/// Nanoseconds of `span`, at most `u64::MAX`. `Duration::as_nanos` has twice as many bits, and this is done for every packet.
#[inline]
pub const fn nanos(span: Duration) -> u64 {
    let whole = span.as_secs().saturating_mul(1_000_000_000);
    whole.saturating_add(span.subsec_nanos() as u64)
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09}s",
            self.0 / 1_000_000_000,
            self.0 % 1_000_000_000
        )
    }
}

/// The same moment on two clocks of one host: the wall clock and the monotonic clock.
///
/// Differences within a host use `mono`; where two hosts meet, `wall` relates them as far as their
/// wall clocks agree. Kernel packet stamps are wall-clock stamps, so a host that takes both at once
/// can move them onto its monotonic clock.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stamp {
    /// Nanoseconds since the Unix epoch.
    pub wall_ns: u64,
    /// The monotonic clock at the same moment.
    pub mono: Instant,
}

impl Stamp {
    /// Moves a wall-clock time near this stamp onto the monotonic clock.
    pub const fn mono_at(&self, wall_ns: u64) -> Instant {
        self.mono
            .offset(wall_ns.wrapping_sub(self.wall_ns).cast_signed())
    }

    /// Moves a monotonic time near this stamp onto the wall clock.
    pub const fn wall_at(&self, mono: Instant) -> u64 {
        self.wall_ns
            .saturating_add_signed(mono.signed_since(self.mono))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_never_underflow() {
        let (early, late) = (Instant::from_nanos(5), Instant::from_nanos(9));
        assert_eq!(early.since(late), Duration::ZERO);
        assert_eq!(early.signed_since(late), -4);
        assert_eq!(late.since(early), Duration::from_nanos(4));
        assert_eq!(early - Duration::from_secs(1), Instant::ZERO);
        assert_eq!(
            Instant::FAR_FUTURE + Duration::from_secs(1),
            Instant::FAR_FUTURE
        );
    }

    #[test]
    fn a_stamp_relates_its_two_clocks_in_both_directions() {
        let stamp = Stamp {
            wall_ns: 1_000_000,
            mono: Instant::from_nanos(500),
        };
        assert_eq!(stamp.mono_at(1_000_100), Instant::from_nanos(600));
        assert_eq!(stamp.mono_at(999_900), Instant::from_nanos(400));
        assert_eq!(stamp.wall_at(Instant::from_nanos(400)), 999_900);
    }
}
