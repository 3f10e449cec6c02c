//! Moments of the wall clock, in milliseconds: what hosts far apart can agree about.

use crate::name::text_serde;
use jiff::Timestamp;
use std::fmt;
use std::ops::Add;
use std::str::FromStr;
use std::time::Duration;

/// Milliseconds of a day; the days of Universal Time have no other length on a computer.
const DAY_MS: u64 = 86_400_000;
/// How a moment is written where only letters and digits may be, after whole seconds.
const COMPACT: &str = "%Y%m%dT%H%M%S";

/// Milliseconds since the Unix epoch, 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Moment(u64);

/// A day of Universal Time: days since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Day(u32);

/// The text is no moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a date and time - write 20261125T080000000Z, or 2026-11-25T08:00:00Z")]
pub struct MomentError;

impl Moment {
    /// The moment `ms` milliseconds after the epoch.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The time since `earlier`; none when that is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The day that it lies in.
    pub fn day(self) -> Day {
        Day(u32::try_from(self.0 / DAY_MS).unwrap_or(u32::MAX))
    }

    /// Time since the day's beginning.
    pub const fn time_of_day(self) -> Duration {
        Duration::from_millis(self.0 % DAY_MS)
    }

    fn timestamp(self) -> Timestamp {
        let ms = i64::try_from(self.0).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
    }

    /// In letters and digits alone, for subjects and names of folders: `20261125T080000000Z`.
    pub fn compact(self) -> String {
        let seconds = self.timestamp().strftime(COMPACT);
        format!("{seconds}{:03}Z", self.0 % 1_000)
    }
}

impl Day {
    /// Its first moment.
    pub fn begins(self) -> Moment {
        Moment(u64::from(self.0) * DAY_MS)
    }

    /// The first moment of the next one.
    pub fn ends(self) -> Moment {
        Moment((u64::from(self.0) + 1) * DAY_MS)
    }

    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        let ms = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(ms))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.timestamp())
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.begins().timestamp().strftime("%Y-%m-%d"))
    }
}

impl FromStr for Moment {
    type Err = MomentError;

    /// Reads either form.
    fn from_str(text: &str) -> Result<Self, MomentError> {
        let of = |timestamp: Timestamp| {
            let ms = timestamp.as_millisecond();
            u64::try_from(ms).map(Self).map_err(|_| MomentError)
        };
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return of(timestamp);
        }
        let digits = text.strip_suffix('Z').ok_or(MomentError)?;
        let at = digits.len().checked_sub(3).ok_or(MomentError)?;
        let (seconds, ms) = digits.split_at_checked(at).ok_or(MomentError)?;
        let is_digits = ms.bytes().all(|octet| octet.is_ascii_digit());
        let ms: u64 = ms.parse().map_err(|_| MomentError)?;
        let seconds = jiff::civil::DateTime::strptime(COMPACT, seconds);
        let seconds = seconds.and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::UTC));
        let seconds = of(seconds.map_err(|_| MomentError)?.timestamp())?;
        is_digits.then_some(Self(seconds.0 + ms)).ok_or(MomentError)
    }
}

text_serde!(Moment);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_begin_at_midnight_of_universal_time() {
        let moment: Moment = "2026-11-25T08:00:00.123Z".parse().unwrap();
        assert_eq!(moment.compact(), "20261125T080000123Z");
        assert_eq!(moment.day().to_string(), "2026-11-25");
        assert_eq!(moment.day().begins().to_string(), "2026-11-25T00:00:00Z");
        assert_eq!(moment.day().ends(), moment.day().next().begins());
        assert_eq!(moment.time_of_day(), Duration::from_millis(28_800_123));
    }

    proptest! {
        #[test]
        fn both_forms_are_read_back(ms in 0_u64..4_000_000_000_000) {
            let moment = Moment::from_millis(ms);
            prop_assert_eq!(moment.compact().parse(), Ok(moment));
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
        }

        #[test]
        fn any_text_is_a_moment_or_an_error(text in "[0-9]{4}[0-9TZ:.+-]{0,26}") {
            if let Ok(moment) = text.parse::<Moment>() {
                prop_assert_eq!(moment.compact().parse(), Ok(moment));
            }
        }
    }
}
