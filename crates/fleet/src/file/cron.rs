//! Instants by the calendar, as crontabs state them.

use crate::name::text_deserialize;
use crate::{Day, Moment};
use cronexpr::{Crontab, FallbackTimezoneOption, ParseOptions};
use std::str::FromStr;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

/// The five fields of a crontab: minute, hour, day of the month, month, day of the week. They are of Universal Time: the rules of other time
/// zones change, and hosts do not all have the same.
#[derive(Clone, Debug)]
pub struct Cron {
    text: String,
    fields: Crontab,
    /// Instants of each day that has any.
    a_day: usize,
    shortest: Duration,
}

impl Cron {
    /// Its instants in `day`.
    pub fn of(&self, day: Day) -> Vec<Moment> {
        let instants = instants(&self.fields, day.begins());
        instants.take_while(|at| *at < day.ends()).collect()
    }

    /// How many instants a day has, if it has any.
    pub const fn a_day(&self) -> usize {
        self.a_day
    }

    /// From an instant to the next, at least.
    pub const fn shortest(&self) -> Duration {
        self.shortest
    }
}

/// What `fields` name from `since` on, in order: nothing where they name nothing in four years.
fn instants(fields: &Crontab, since: Moment) -> impl Iterator<Item = Moment> {
    let before = i64::try_from(since.as_millis()).unwrap_or(i64::MAX) - 1;
    let before = jiff::Timestamp::from_millisecond(before);
    let after = before
        .ok()
        .and_then(|before| fields.iter_after(before).ok());
    after.into_iter().flatten().map_while(|instant| {
        let ms = instant.ok()?.timestamp().as_millisecond();
        u64::try_from(ms).ok().map(Moment::from_millis)
    })
}

impl FromStr for Cron {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fields: Vec<_> = text.split_whitespace().collect();
        if fields.len() != 5 {
            return Err(format!(
                "'{text}' is no crontab of five fields - write minute, hour, day of the month, month and day of the week (UTC), such as */10 8-17 * * MON-FRI"
            ));
        }
        // Of the last days of December the library (1.7.0) knows nothing: it looks for a month of a higher number.
        if [fields[2], fields[4]]
            .iter()
            .any(|days| days.contains(['L', 'l']))
        {
            return Err(format!(
                "'{text}' has a last day (L), which is not supported - write days by their numbers or names"
            ));
        }
        let text = fields.join(" ");
        let mut options = ParseOptions::default();
        options.fallback_timezone_option = FallbackTimezoneOption::UTC;
        let fields = cronexpr::parse_crontab_with(&text, options).map_err(|error| {
            // The last line has what is wrong, below the place.
            let error = error.to_string();
            let what = error.lines().last().unwrap_or_default();
            format!(
                "'{text}' is no crontab: {}",
                what.trim_start_matches([' ', '^'])
            )
        })?;
        let Some(first) = instants(&fields, Moment::default()).next() else {
            return Err(format!(
                "'{text}' has no day in four years - correct its day or month"
            ));
        };
        let day: Vec<_> = instants(&fields, first)
            .take_while(|at| *at < first.day().ends())
            .collect();
        let gaps = day.windows(2).map(|two| two[1].since(two[0]));
        let over_midnight =
            DAY.saturating_sub(day.last().map_or(Duration::ZERO, |last| last.since(first)));
        Ok(Self {
            a_day: day.len(),
            shortest: gaps.chain([over_midnight]).min().unwrap_or(DAY),
            text,
            fields,
        })
    }
}

impl PartialEq for Cron {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

text_deserialize!(Cron);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cron(text: &str) -> Cron {
        text.parse().unwrap()
    }

    /// The times of `day` at which it is.
    fn times(text: &str, day: &str) -> Vec<String> {
        let day = format!("{day}T00:00:00Z").parse::<Moment>().unwrap().day();
        let of = cron(text).of(day);
        of.iter()
            .map(|at| at.to_string()[11..16].to_owned())
            .collect()
    }

    #[test]
    fn it_names_times_of_the_days_of_its_calendar() {
        // A Saturday, a Sunday, and a Monday.
        assert_eq!(
            times("*/20 23,0 * * *", "2026-11-28").join(" "),
            "00:00 00:20 00:40 23:00 23:20 23:40"
        );
        assert_eq!(
            times("30 6 * * MON-FRI", "2026-11-29"),
            Vec::<String>::new()
        );
        assert_eq!(times("30 6 * * MON-FRI", "2026-11-30"), ["06:30"]);
        // Of two restricted days either will do.
        assert_eq!(times("0 12 30 * SAT", "2026-11-28"), ["12:00"]);
        assert_eq!(times("0 12 30 * SAT", "2026-11-30"), ["12:00"]);
        // The weekday nearest a Sunday, and the second Monday.
        assert_eq!(times("0 12 15W * *", "2026-11-16"), ["12:00"]);
        assert_eq!(times("0 12 * * MON#2", "2026-11-09"), ["12:00"]);
        assert_eq!(times("0 12 * * MON#2", "2026-11-16"), Vec::<String>::new());
        assert_eq!(times("0 12 * JUL,DEC MON#5", "2030-12-30"), ["12:00"]);
        assert_eq!(times("0 12 29 FEB *", "2028-02-29"), ["12:00"]);
    }

    #[test]
    fn its_shortest_period_goes_over_midnight_too() {
        let of = |text| (cron(text).a_day(), cron(text).shortest().as_secs() / 60);
        assert_eq!(of("*/10 * * * *"), (144, 10));
        assert_eq!(of("0 0,23 * * *"), (2, 60));
        assert_eq!(of("0 4 1 * *"), (1, 24 * 60));
        assert_eq!(of("*/45 * * * MON"), (48, 15));
    }

    #[test]
    fn what_is_no_crontab_is_told_in_one_line() {
        let said = |text: &str| text.parse::<Cron>().unwrap_err();
        assert!(said("* * * *").contains("five fields"));
        assert!(said("0 9 * * * Europe/Berlin").contains("five fields"));
        assert!(said("@daily").contains("five fields"));
        assert_eq!(
            said("61 * * * *"),
            "'61 * * * *' is no crontab: value must be in range 0..=59; found 61"
        );
        assert!(said("0 0 L * *").contains("a last day (L), which is not supported"));
        assert!(said("0 0 * * FRIL").contains("not supported"));
        assert!(said("H * * * *").contains("no crontab: "));
        assert!(said("0 0 30 FEB *").contains("has no day in four years"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_crontab_or_one_line(text in "[0-9A-Z*/,# -]{0,24}") {
            if let Err(error) = text.parse::<Cron>() {
                prop_assert_eq!(error.lines().count(), 1);
            }
        }

        #[test]
        fn each_of_a_day_is_named_once(minute in 0_u64..60, step in 1_u64..24, day in 20_000_u64..30_000) {
            let day = Moment::from_millis(day * 86_400_000).day();
            let of = cron(&format!("{minute} */{step} * * *")).of(day);
            let expected = (0..24).step_by(usize::try_from(step).unwrap());
            let expected = expected.map(|hour| day.begins() + Duration::from_secs((hour * 60 + minute) * 60));
            prop_assert_eq!(of, expected.collect::<Vec<_>>());
        }
    }
}
