//! Sizes in octets.

use crate::quantity::{Kind, QuantityError, format};
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, SubAssign};
use core::str::FromStr;

const KIND: Kind = Kind {
    what: "a size",
    examples: "a number and a unit, such as 1500B, 64KiB, 200kB, 1MiB, 1GB",
    units: &[
        ("b", 1),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
    ],
};
const NAMES: &[(&str, u64)] = &[
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

/// A number of octets.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Bytes(u64);

impl Bytes {
    /// No octets.
    pub const ZERO: Self = Self(0);

    /// A size of `count` octets.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// The number of octets.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;

    /// Parses `1500B`, `64KiB` (1,024s) or `200kB` (1,000s); letter case does not matter.
    fn from_str(input: &str) -> Result<Self, Self::Err> {
        KIND.parse(input).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format(self.0, NAMES))
    }
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Bytes {
    /// Saturates at zero.
    fn sub_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_sub(other.0);
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

crate::span::text_serde!(Bytes, "A size with its unit: 1500B, 64KiB, 200kB.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_of_prefix_are_read() {
        assert_eq!("64KiB".parse(), Ok(Bytes::new(65_536)));
        assert_eq!("64kB".parse(), Ok(Bytes::new(64_000)));
        assert_eq!("1500 B".parse(), Ok(Bytes::new(1_500)));
        assert_eq!("1.5MB".parse(), Ok(Bytes::new(1_500_000)));
    }

    #[test]
    fn a_bare_number_is_refused_with_the_accepted_forms() {
        let message = "1500".parse::<Bytes>().unwrap_err().to_string();
        assert_eq!(
            message,
            "'1500' is not a size - write a number and a unit, such as 1500B, 64KiB, 200kB, 1MiB, 1GB"
        );
    }

    #[test]
    fn display_is_exact_and_parses_back() {
        for count in [0, 1, 999, 1_000, 1_024, 65_536, 1_500_000, u64::MAX] {
            let text = Bytes::new(count).to_string();
            assert_eq!(text.parse(), Ok(Bytes::new(count)), "{text}");
        }
    }
}
