//! Data rates, and the arithmetic that keeps them exact.
//!
//! At 1 Gbit/s a 1,500-byte packet lasts 12,000 ns, but at 7 Gbit/s it lasts 1,714.28... ns. Rounding each
//! packet alone would let a link drift by a part in ten thousand, so [`Transmitter`] carries the part of a
//! nanosecond that was rounded off into the next packet: after any number of packets the total
//! error stays below one nanosecond.

use crate::Instant;
use crate::quantity::{Kind, QuantityError, format, spaced};
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

const NS_PER_S: u128 = 1_000_000_000;
/// What an octet takes at 1 bit/s.
const OCTET_NS: u64 = 8_000_000_000;

const KIND: Kind = Kind {
    what: "a rate",
    examples: "a number and a unit, such as 10Mbit, 1.5Gbit, 64kbit, 300bit",
    units: &[
        ("bit", 1),
        ("kbit", 1_000),
        ("mbit", 1_000_000),
        ("gbit", 1_000_000_000),
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("mbit/s", 1_000_000),
        ("gbit/s", 1_000_000_000),
        ("bps", 1),
        ("kbps", 1_000),
        ("mbps", 1_000_000),
        ("gbps", 1_000_000_000),
    ],
};
const NAMES: &[(&str, u64)] = &[
    ("Gbit", 1_000_000_000),
    ("Mbit", 1_000_000),
    ("kbit", 1_000),
    ("bit", 1),
];

/// A data rate in bits per second; never zero.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Rate(core::num::NonZeroU64);

impl Rate {
    /// A rate of `bits` per second; `None` when that is zero.
    pub const fn from_bps(bits: u64) -> Option<Self> {
        match core::num::NonZeroU64::new(bits) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }

    /// The rate that carries `bytes` in `time`, to the nearest bit per second; `None` when the
    /// result is zero or does not fit.
    pub fn from_transfer(bytes: u64, time: Duration) -> Option<Self> {
        let ns = time.as_nanos();
        let bits = (u128::from(bytes) * 8 * NS_PER_S + ns / 2).checked_div(ns)?;
        Self::from_bps(u64::try_from(bits).ok()?)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0.get()
    }

    /// Megabits (10^6 bits) per second.
    pub fn as_mbps(self) -> f64 {
        self.as_bps() as f64 / 1e6
    }

    /// As prose has it: `10 Mbit/s`.
    pub fn words(self) -> String {
        spaced(&self.to_string()) + "/s"
    }

    /// The time that `bytes` last at this rate, rounded down to a nanosecond.
    pub fn time_for(self, bytes: u64) -> Duration {
        let ns = u128::from(bytes) * 8 * NS_PER_S / u128::from(self.as_bps());
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// The whole bytes that pass in `time`.
    pub fn bytes_in(self, time: Duration) -> u64 {
        let bits = time.as_nanos().saturating_mul(u128::from(self.as_bps()));
        u64::try_from(bits / (8 * NS_PER_S)).unwrap_or(u64::MAX)
    }
}

impl FromStr for Rate {
    type Err = QuantityError;

    /// Parses `10Mbit`, `10Mbit/s` or `10Mbps` (powers of 1,000); letter case does not matter.
    fn from_str(input: &str) -> Result<Self, Self::Err> {
        let refused = |what| QuantityError {
            input: input.to_owned(),
            what,
            examples: KIND.examples,
        };
        // `MBps` is megabytes to most people: better refused than wrong by eight.
        if input.contains("Bp") || input.contains("BP") {
            return Err(refused("a rate in bits"));
        }
        Self::from_bps(KIND.parse(input)?).ok_or_else(|| refused("a rate above zero"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format(self.as_bps(), NAMES))
    }
}

crate::span::text_serde!(Rate, "A rate with its unit: 10Mbit, 1.5Gbit, 64kbit.");

/// Turns packet sizes into transmission times at a rate, without drift.
#[derive(Clone, Copy, Debug)]
pub struct Transmitter {
    rate: Rate,
    /// What the last division left over, in units of 1/rate ns: always below `rate`.
    remainder: u64,
}

impl Transmitter {
    /// A transmitter at `rate`.
    pub const fn new(rate: Rate) -> Self {
        Self { rate, remainder: 0 }
    }

    /// The rate it transmits at.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// The time that the next `bytes` take; the sub-nanosecond rest is carried to the next call.
    #[inline]
    pub fn transmit(&mut self, bytes: u64) -> Duration {
        Duration::from_nanos(self.nanos(bytes))
    }

    /// When the next `bytes`, begun at `start`, have been transmitted; the rest is carried likewise.
    #[inline]
    pub fn finish(&mut self, bytes: u64, start: Instant) -> Instant {
        start.later(self.nanos(bytes))
    }

    #[inline]
    fn nanos(&mut self, bytes: u64) -> u64 {
        let rate = self.rate.as_bps();
        let work = bytes
            .checked_mul(OCTET_NS)
            .and_then(|work| work.checked_add(self.remainder));
        // Packets fit into half of the bits, whose division is much faster.
        if let Some(work) = work {
            self.remainder = work % rate;
            return work / rate;
        }
        let work = u128::from(bytes) * u128::from(OCTET_NS) + u128::from(self.remainder);
        let rate = u128::from(rate);
        self.remainder = u64::try_from(work % rate).unwrap_or_default();
        u64::try_from(work / rate).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn forms_of_the_same_rate_agree() {
        assert_eq!(rate("10Mbit"), rate("10000 kbit/s"));
        assert_eq!(rate("1.5Gbps").as_bps(), 1_500_000_000);
        assert_eq!(rate("10Mbit").to_string(), "10Mbit");
    }

    #[test]
    fn zero_and_bare_numbers_are_refused() {
        assert!(
            "0Mbit"
                .parse::<Rate>()
                .unwrap_err()
                .to_string()
                .contains("a rate above zero")
        );
        assert!("10".parse::<Rate>().is_err());
        for bytes in ["10MB", "10MBps", "1GBps"] {
            assert!(
                bytes.parse::<Rate>().is_err(),
                "{bytes}: bytes are not a rate"
            );
        }
        assert_eq!(rate("10MBit/s"), rate("10Mbit"));
    }

    #[test]
    fn a_full_packet_at_ten_megabits_lasts_1200_microseconds() {
        assert_eq!(rate("10Mbit").time_for(1_500), Duration::from_micros(1_200));
        assert_eq!(rate("10Mbit").bytes_in(Duration::from_micros(1_200)), 1_500);
        assert_eq!(
            Rate::from_transfer(1_500, Duration::from_micros(1_200)),
            Some(rate("10Mbit"))
        );
    }

    proptest! {
        #[test]
        fn carried_remainders_keep_any_sequence_within_a_nanosecond(
            bps in 1_u64..400_000_000_000,
            sizes in proptest::collection::vec(1_u64..65_536, 1..200),
        ) {
            let rate = Rate::from_bps(bps).unwrap();
            let mut transmitter = Transmitter::new(rate);
            let total: Duration = sizes.iter().map(|&size| transmitter.transmit(size)).sum();
            prop_assert_eq!(total, rate.time_for(sizes.iter().sum()));
        }

        #[test]
        fn display_parses_back(bps in 1_u64..) {
            let rate = Rate::from_bps(bps).unwrap();
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }
    }
}
