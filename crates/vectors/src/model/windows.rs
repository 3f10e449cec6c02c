//! How large the receive windows are (D, sections 3.1.4.2 and 6.3).

use crate::Vector;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// The largest window that the field can say without scaling.
const UNSCALED: u32 = 65_535;

/// Which windows a replay uses. As text: `empirical`, or kilobytes: `8KB`, `16KB`, `64KB`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Windows {
    /// Each end's own, as it was measured: what D does in all experiments but those about windows.
    #[default]
    Empirical,
    /// The same for both ends of all connections, in units of 1,024 octets; D has 8, 16 and 64. 64 means 65,535 octets:
    /// D knows no window scaling.
    Fixed(u16),
}

impl Windows {
    /// The windows of initiator and acceptor, in octets.
    pub fn of(self, vector: &Vector) -> [u32; 2] {
        match self {
            Self::Empirical => vector.windows,
            Self::Fixed(64) => [UNSCALED; 2],
            Self::Fixed(kib) => [u32::from(kib) * 1_024; 2],
        }
    }

    /// Rewrites a vector.
    pub fn apply(self, vector: &mut Vector) {
        vector.windows = self.of(vector);
    }
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empirical => f.pad("empirical"),
            Self::Fixed(kib) => f.pad(&format!("{kib}KB")),
        }
    }
}

/// No windows are called this.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is neither `empirical` nor a size from 1KB to 65535KB")]
pub struct UnknownWindows(String);

impl FromStr for Windows {
    type Err = UnknownWindows;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "empirical" {
            return Ok(Self::Empirical);
        }
        let number = text.strip_suffix("KiB").or_else(|| text.strip_suffix("KB"));
        let kib = number.and_then(|kib| kib.parse().ok());
        let kib = kib.filter(|&kib| kib > 0);
        kib.map(Self::Fixed)
            .ok_or_else(|| UnknownWindows(text.to_owned()))
    }
}

impl TryFrom<String> for Windows {
    type Error = UnknownWindows;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Windows> for String {
    fn from(windows: Windows) -> Self {
        windows.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{a, sequential, vector};
    use super::*;

    /// Holds tmix/empirical-windows, tmix/fixed-windows.
    #[test]
    fn windows_are_the_ends_own_or_the_same_for_all() {
        let mut vector = vector(sequential(&[a(1, 0)], None));
        assert_eq!(Windows::default().of(&vector), [65_535, 8_192]);
        assert_eq!(Windows::Fixed(16).of(&vector), [16_384; 2]);
        Windows::Fixed(64).apply(&mut vector);
        assert_eq!(vector.windows, [65_535; 2]);
    }

    #[test]
    fn names_are_read_and_written() {
        for text in ["empirical", "8KB", "64KB", "2048KB"] {
            assert_eq!(text.parse::<Windows>().unwrap().to_string(), text);
        }
        for text in ["", "8", "0KB", "-1KB", "65536KB", "Empirical"] {
            assert!(text.parse::<Windows>().is_err(), "{text}");
        }
    }
}
