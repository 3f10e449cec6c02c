//! What programs ask of a service by a URL: the property in its path, the rest behind its question mark.
//!
//! Errors are one line: what is wrong, and what is accepted.

use clap::ValueEnum;
use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

/// Characters of what was asked that are said again.
const SHOWN: usize = 40;

/// The names and values of a query, decoded as those of a form are: `+` is a space, `%35` a five. What is not encoded well stays as it is.
pub fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(query.as_bytes())
}

/// What has this name on the command line.
///
/// # Errors
/// When nothing has.
pub fn named<T: ValueEnum>(name: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let all = T::value_variants().iter();
        let all = all.filter_map(ValueEnum::to_possible_value);
        let all: Vec<_> = all.map(|value| value.get_name().to_owned()).collect();
        let all = all.join(", ");
        format!("unknown property '{}' - use {all}", shown(name))
    })
}

/// The value of the parameter `name`.
///
/// # Errors
/// When it is none.
pub fn parsed<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|error| format!("{name}: {error}"))
}

/// A share in percent that bounds an interval: `10`, or `10%`.
///
/// # Errors
/// When it is none, or not positive.
pub fn percent(text: &str) -> Result<f64, String> {
    let share = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let share = share.filter(|share: &f64| share.is_finite() && *share > 0.0);
    let wrong = || {
        let text = shown(text);
        format!("'{text}' is not a percentage - write a positive number, such as 10")
    };
    share.ok_or_else(wrong)
}

/// Foreign words in a line of ours: short, and nothing that moves a cursor.
pub fn shown(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, ValueEnum)]
    enum Colour {
        Red,
        DarkBlue,
    }

    #[test]
    fn a_query_is_decoded_as_a_form() {
        let read: Vec<_> = pairs("to=m%35&from=a+b&&odd=%f&last").collect();
        let plain = [("to", "m5"), ("from", "a b"), ("odd", "%f"), ("last", "")];
        assert_eq!(read, plain.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn what_there_is_has_the_command_lines_names() {
        assert_eq!(named("dark-blue"), Ok(Colour::DarkBlue));
        let said = named::<Colour>("\u{1b}[2Jgreen").unwrap_err();
        assert_eq!(said, "unknown property '[2Jgreen' - use red, dark-blue");
    }

    #[test]
    fn a_share_is_a_positive_number_of_percent() {
        assert_eq!((percent("10"), percent("2.5%")), (Ok(10.0), Ok(2.5)));
        for wrong in ["", "0", "-1", "NaN", "inf", "10%%", "ten"] {
            let said = percent(wrong).unwrap_err();
            assert!(said.contains("such as 10"), "{said}");
        }
    }
}
