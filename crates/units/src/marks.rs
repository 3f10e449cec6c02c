//! The marks in an IP header's traffic-class octet: DSCP (RFC 2474) and ECN (RFC 3168).

use crate::quantity::QuantityError;
use core::fmt;
use core::str::FromStr;

/// Named code points: RFC 2474 (class selectors), RFC 2597 (AF), RFC 3246 (EF), RFC 5865
/// (VOICE-ADMIT), RFC 8622 (LE).
const NAMED: &[(&str, u8)] = &[
    ("CS0", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VOICE-ADMIT", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

/// A differentiated-services code point, 0 to 63 (RFC 2474 section 3).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Dscp(u8);

impl Dscp {
    /// Best effort.
    pub const CS0: Self = Self(0);
    /// Background (RFC 3662).
    pub const CS1: Self = Self(8);
    /// Signalling and video class of the RRUL family.
    pub const CS5: Self = Self(40);
    /// Expedited forwarding: voice (RFC 3246).
    pub const EF: Self = Self(46);

    /// The code point `value`; `None` above 63.
    pub const fn new(value: u8) -> Option<Self> {
        if value < 64 { Some(Self(value)) } else { None }
    }

    /// The six bits as a number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl FromStr for Dscp {
    type Err = QuantityError;

    /// Parses a name (`EF`, `cs1`, `AF41`, `BE`) or a number from 0 to 63.
    fn from_str(input: &str) -> Result<Self, Self::Err> {
        let name = input.trim().to_ascii_uppercase();
        if name == "BE" {
            return Ok(Self::CS0);
        }
        let named = NAMED
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| Self(*value));
        named
            .or_else(|| Self::new(name.parse().ok()?))
            .ok_or_else(|| QuantityError {
                input: input.to_owned(),
                what: "a DSCP",
                examples: "a name such as EF, CS0, CS1 or AF41, or a number from 0 to 63",
            })
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMED.iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => f.pad(name),
            None => f.pad(&self.0.to_string()),
        }
    }
}

crate::span::text_serde!(Dscp, "A DSCP by name (EF, CS1, AF41) or number (0 to 63).");

/// The ECN field (RFC 3168 section 5; ECT(1) as RFC 9331 uses it).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not speak ECN.
    #[default]
    NotEct = 0,
    /// ECN-capable, L4S.
    Ect1 = 1,
    /// ECN-capable, classic.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// The low two bits of `octet`.
    pub const fn from_bits(octet: u8) -> Self {
        match octet & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether a queue may mark instead of dropping.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// The whole traffic-class octet: DSCP above, ECN below.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TrafficClass {
    /// The upper six bits.
    pub dscp: Dscp,
    /// The lower two bits.
    pub ecn: Ecn,
}

impl TrafficClass {
    /// Splits the octet as it stands in the IP header.
    pub const fn from_octet(octet: u8) -> Self {
        Self {
            dscp: Dscp(octet >> 2),
            ecn: Ecn::from_bits(octet),
        }
    }

    /// The octet as it stands in the IP header.
    pub const fn octet(self) -> u8 {
        self.dscp.0 << 2 | self.ecn as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_octet_survives_splitting_and_joining() {
        for octet in 0..=255 {
            assert_eq!(TrafficClass::from_octet(octet).octet(), octet);
        }
    }

    #[test]
    fn names_and_numbers_are_read() {
        assert_eq!("ef".parse(), Ok(Dscp::EF));
        assert_eq!("46".parse(), Ok(Dscp::EF));
        assert_eq!("BE".parse(), Ok(Dscp::CS0));
        assert_eq!(Dscp::new(3).unwrap().to_string(), "3");
        assert!("64".parse::<Dscp>().is_err());
        assert!(
            "GOLD"
                .parse::<Dscp>()
                .unwrap_err()
                .to_string()
                .contains("'GOLD' is not a DSCP")
        );
    }
}
