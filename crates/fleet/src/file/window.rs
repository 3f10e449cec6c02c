//! Times of the day.

use crate::name::text_deserialize;
use std::str::FromStr;
use std::time::Duration;

/// A time of each day, of Universal Time: from its first minute up to, and without, its last. `22:00-06:00` goes over midnight.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Window {
    from: Duration,
    to: Duration,
}

impl Window {
    /// Whether the time that has passed since midnight lies in it.
    pub fn holds(self, time_of_day: Duration) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&time_of_day)
        } else {
            time_of_day >= self.from || time_of_day < self.to
        }
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (from, to) = text.split_once('-')?;
            let (from, to) = (time(from)?, time(to)?);
            (from != to).then_some(Self { from, to })
        };
        parse().ok_or_else(|| {
            format!("'{text}' is no window - write two times of the day, such as 08:00-18:00")
        })
    }
}

/// Since midnight; 24:00 is the end of the day.
fn time(text: &str) -> Option<Duration> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let number = |text: &str| -> Option<u64> {
        let is_two_digits = text.len() == 2 && text.bytes().all(|octet| octet.is_ascii_digit());
        text.parse().ok().filter(|_| is_two_digits)
    };
    let minutes = number(hours)? * 60 + number(minutes).filter(|minutes| *minutes < 60)?;
    (minutes <= 24 * 60).then(|| Duration::from_secs(minutes * 60))
}

text_deserialize!(Window);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_may_go_over_midnight() {
        let holds = |window: &str, hours: u64| {
            let window: Window = window.parse().unwrap();
            window.holds(Duration::from_secs(hours * 3_600))
        };
        assert!(holds("08:00-18:00", 8) && !holds("08:00-18:00", 18));
        assert!(holds("22:00-06:00", 23) && holds("22:00-06:00", 0) && !holds("22:00-06:00", 6));
        assert!(holds("20:00-24:00", 23) && !holds("20:00-24:00", 0));
    }

    #[test]
    fn what_is_no_window_is_refused() {
        for text in [
            "",
            "8:00-18:00",
            "08:00",
            "08:00-25:00",
            "08:60-09:00",
            "08:00-08:00",
            "a-b",
        ] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }
}
