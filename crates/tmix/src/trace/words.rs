//! Figures as words: three digits and a unit.

use vectors::describe::Unit;

/// A value in the unit of its measure: `460 B`, `1.65 s`, `0.42 %`.
pub fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::One => digits(value),
        Unit::Octets => octets(value),
        Unit::Milliseconds if value >= 1e3 => format!("{} s", digits(value / 1e3)),
        Unit::Milliseconds if value > 0.0 && value < 1.0 => format!("{} us", digits(value * 1e3)),
        Unit::Milliseconds => format!("{} ms", digits(value)),
        Unit::Share => share(value),
    }
}

/// Powers of 1,000, as in every figure about traffic.
pub fn octets(value: f64) -> String {
    const NAMES: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let found = NAMES.iter().find(|(size, _)| value >= *size);
    found.map_or_else(
        || format!("{} B", digits(value)),
        |(size, name)| format!("{} {name}", digits(value / size)),
    )
}

/// A share from 0 to 1.
pub fn share(value: f64) -> String {
    format!("{} %", digits(value * 100.0))
}

/// Bits per second.
pub fn rate(bps: f64) -> String {
    format!("{} Mbit/s", digits(bps / 1e6))
}

/// A number of things, in groups of three.
pub fn count(number: u64) -> String {
    let text = number.to_string();
    let mut grouped = String::with_capacity(text.len() + text.len() / 3);
    for (at, digit) in text.chars().enumerate() {
        if at > 0 && (text.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Three of them where a number has no more before its point; none behind the point of one that is whole.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 99.95 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturating, and not below zero"
        )]
        let whole = count(size.round() as u64);
        return if value < 0.0 {
            format!("-{whole}")
        } else {
            whole
        };
    }
    let places = match size {
        // 0.56 x 100 is not quite 56.
        size if (size - size.round()).abs() < 1e-9 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.0995 => 2,
        _ => return small(value),
    };
    format!("{value:.places$}")
}

/// Two digits behind the zeros.
fn small(value: f64) -> String {
    let zeros = -value.abs().log10().floor();
    let places = (2..=9).find(|&places| f64::from(places) > zeros);
    format!(
        "{value:.*}",
        usize::try_from(places.unwrap_or(9)).unwrap_or(9)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        for (number, unit, words) in [
            (460.0, Unit::Octets, "460 B"),
            (13_100.0, Unit::Octets, "13.1 kB"),
            (2.14e11, Unit::Octets, "214 GB"),
            (47.25, Unit::Milliseconds, "47.2 ms"),
            (0.04, Unit::Milliseconds, "40 us"),
            (3_100.0, Unit::Milliseconds, "3.10 s"),
            (4_711_000.0, Unit::Milliseconds, "4,711 s"),
            (0.0, Unit::Milliseconds, "0 ms"),
            (0.1566, Unit::Share, "15.7 %"),
            (0.000_012, Unit::Share, "0.0012 %"),
            (0.012_34, Unit::One, "0.012"),
            (1e-12, Unit::One, "0"),
            (3.0, Unit::One, "3"),
            (0.56, Unit::Share, "56 %"),
            (12_345.6, Unit::One, "12,346"),
        ] {
            assert_eq!(value(number, unit), words);
        }
        assert_eq!(rate(471e6), "471 Mbit/s");
        assert_eq!(count(4_683_892), "4,683,892");
        assert_eq!(digits(-1_234.0), "-1,234");
    }
}
