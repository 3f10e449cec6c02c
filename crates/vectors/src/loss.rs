//! A loss rate.

use core::fmt;
use core::str::FromStr;

const WHOLE: u32 = 1_000_000;

/// The share of segments that were lost, in millionths.
///
/// Files have six digits after the point, so this is as fine as they are, and what was read is written again digit by digit.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Loss(u32);

impl Loss {
    /// Nothing was lost.
    pub const NONE: Self = Self(0);

    /// That many millionths; more than all of them count as all.
    pub const fn from_millionths(millionths: u32) -> Self {
        Self(if millionths < WHOLE {
            millionths
        } else {
            WHOLE
        })
    }

    /// `lost` of `sent`, rounded; nothing of nothing is no loss.
    pub fn of(lost: u64, sent: u64) -> Self {
        if sent == 0 {
            return Self::NONE;
        }
        let share =
            (u128::from(lost) * u128::from(WHOLE) + u128::from(sent) / 2) / u128::from(sent);
        Self::from_millionths(u32::try_from(share).unwrap_or(WHOLE))
    }

    /// A number from 0 to 1, rounded to millionths; `None` of any other.
    pub fn from_share(share: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 1,000,000"
        )]
        let whole = |millionths: f64| millionths as u32;
        let millionths = (share * f64::from(WHOLE)).round();
        let is_share = (0.0..=f64::from(WHOLE)).contains(&millionths);
        is_share.then(|| Self(whole(millionths)))
    }

    /// In millionths, at most a million.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// From 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }
}

impl fmt::Display for Loss {
    /// With six digits: `0.157900`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / WHOLE, self.0 % WHOLE)
    }
}

impl FromStr for Loss {
    type Err = ();

    /// A decimal number from 0 to 1, rounded to millionths.
    fn from_str(text: &str) -> Result<Self, ()> {
        let share = text.parse().map_err(|_| ())?;
        Self::from_share(share).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_share_is_rounded_and_has_six_digits() {
        assert_eq!(Loss::of(1, 3).to_string(), "0.333333");
        assert_eq!(Loss::of(2, 3).to_string(), "0.666667");
        assert_eq!(Loss::of(5, 5).to_string(), "1.000000");
        assert_eq!(Loss::of(9, 5), Loss::of(5, 5));
        assert_eq!(Loss::of(0, 0), Loss::NONE);
        assert_eq!(Loss::of(u64::MAX, u64::MAX).millionths(), 1_000_000);
        assert!((Loss::of(1, 4).share() - 0.25).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in ["", "-0.1", "1.1", "NaN", "inf", "x"] {
            assert_eq!(text.parse::<Loss>(), Err(()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(millionths in 0_u32..=1_000_000) {
            let loss = Loss::from_millionths(millionths);
            prop_assert_eq!(loss.to_string().parse(), Ok(loss));
        }
    }
}
