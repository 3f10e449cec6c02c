//! A share of something, as it is typed.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// Part of a whole, or a multiple of it, above 0: `1/4`, `25%`, `0.25`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let share = if let Some((part, whole)) = text.split_once('/') {
            number(part)
                .zip(number(whole))
                .map(|(part, whole)| part / whole)
        } else if let Some(percent) = text.strip_suffix('%') {
            number(percent).map(|percent| percent / 100.0)
        } else {
            number(text)
        };
        let share = share.filter(|share| share.is_finite() && *share > 0.0);
        share
            .map(Self)
            .ok_or_else(|| "a share above 0, as 1/4, 25% or 0.25".to_owned())
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_people_write_them() {
        for text in ["1/4", "25%", "0.25", "25 %"] {
            assert_eq!(text.parse(), Ok(Share(0.25)), "{text}");
        }
        assert_eq!("2".parse(), Ok(Share(2.0)));
        for text in ["", "1/0", "0", "-1", "nan", "x%", "1/2/3", "inf"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }
}
