//! Numbers as a page needs them: short, and precise to more than a pixel.
//!
//! A figure of 600 pixels shows three digits, a hover value five. Writing all 17 digits of a float would triple the
//! size of the page.

/// Digits that are kept of a measured value.
const DIGITS: i32 = 5;

/// `value` to five significant digits.
pub(crate) fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a decimal exponent of an f64 is below 309"
    )]
    let exponent = value.abs().log10().floor() as i32;
    let places = DIGITS - 1 - exponent;
    if !(-300..300).contains(&places) {
        return value;
    }
    // Dividing by a power of ten, not multiplying by its inexact inverse, gives the shortest decimal.
    if places >= 0 {
        let scale = 10_f64.powi(places);
        (value * scale).round() / scale
    } else {
        let scale = 10_f64.powi(-places);
        (value / scale).round() * scale
    }
}

/// Nanoseconds as seconds, to a millisecond: the places of points on a time axis.
pub(crate) fn seconds(ns: u64) -> f64 {
    ((ns as f64) / 1e6).round() / 1e3
}

/// Nanoseconds as milliseconds.
pub(crate) fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_written(value: f64, text: &str) {
        assert_eq!(serde_json::to_string(&short(value)).unwrap(), text);
    }

    #[test]
    fn five_digits_are_kept_and_written_short() {
        assert_written(24.331_811_23, "24.332");
        assert_written(-0.000_123_456_78, "-0.00012346");
        assert_written(123_456_789.0, "123460000.0");
        assert_written(0.0, "0.0");
        assert_written(9.999_999, "10.0");
    }

    #[test]
    fn times_are_kept_to_a_millisecond() {
        assert!((seconds(12_345_678_901) - 12.346).abs() < 1e-12);
    }
}
