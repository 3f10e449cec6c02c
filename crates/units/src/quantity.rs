//! A number with its unit, as a person types it.

use thiserror::Error;

/// Why a typed quantity was refused. The message says what was typed and what is accepted.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("'{input}' is not {what} - write {examples}")]
pub struct QuantityError {
    /// What was typed.
    pub input: String,
    /// What was wanted, with its article: "a rate".
    pub what: &'static str,
    /// Accepted forms, for the message.
    pub examples: &'static str,
}

/// A kind of quantity: what it is called and which units it takes.
pub(crate) struct Kind {
    pub(crate) what: &'static str,
    pub(crate) examples: &'static str,
    /// Lower-case unit and its worth in the base unit.
    pub(crate) units: &'static [(&'static str, u64)],
}

impl Kind {
    /// Parses `input` to the nearest whole number of base units.
    ///
    /// Whole numbers are exact up to `u64::MAX`; a fraction is rounded to the nearest base unit.
    pub(crate) fn parse(&self, input: &str) -> Result<u64, QuantityError> {
        self.parse_exact(input).ok_or_else(|| QuantityError {
            input: input.to_owned(),
            what: self.what,
            examples: self.examples,
        })
    }

    fn parse_exact(&self, input: &str) -> Option<u64> {
        let text = input.trim();
        let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, unit) = text.split_at(split);
        let unit = unit.trim_start().to_lowercase();
        let scale = self.units.iter().find(|(name, _)| *name == unit)?.1;
        scale_decimal(number, scale)
    }
}

/// Writes `value` with the first of `names` (largest unit first) that divides it without a fraction.
pub(crate) fn format(value: u64, names: &[(&str, u64)]) -> String {
    let exact = names
        .iter()
        .find(|(_, scale)| value != 0 && value.is_multiple_of(*scale));
    let (name, scale) = exact.or_else(|| names.last()).unwrap_or(&("", 1));
    format!("{}{name}", value / scale)
}

/// What [`format()`] wrote as prose has it, with a space before the unit.
pub(crate) fn spaced(text: &str) -> String {
    let unit = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    format!("{number} {unit}")
}

/// `"1.5"` times `scale`, rounded to the nearest; `None` when it is no number or does not fit.
fn scale_decimal(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.len() > 18 || !fraction.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let whole = u128::from(whole.parse::<u64>().ok()?) * u128::from(scale);
    let digits = u128::from(if fraction.is_empty() {
        0
    } else {
        fraction.parse::<u64>().ok()?
    });
    let power = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let part = (digits * u128::from(scale) + power / 2) / power;
    u64::try_from(whole + part).ok()
}
