//! Spans of time as a person types them. Inside Rust a span is [`Duration`].

use crate::quantity::{Kind, QuantityError, format, spaced};
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

const KIND: Kind = Kind {
    what: "a time",
    examples: "a number and a unit, such as 50ms, 1.5s, 200us, 10min",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ],
};
const NAMES: &[(&str, u64)] = &[
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// A span of time that is read from and written to text with its unit: `50ms`.
///
/// This is the form for command lines and TOML; code computes with the [`Duration`] inside.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Span(pub Duration);

impl Span {
    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    /// As prose has it: `80 ms`.
    pub fn words(self) -> String {
        spaced(&self.to_string())
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        span.0
    }
}

impl FromStr for Span {
    type Err = QuantityError;

    fn from_str(input: &str) -> Result<Self, Self::Err> {
        KIND.parse(input).map(|ns| Self(Duration::from_nanos(ns)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX);
        f.pad(&format(ns, NAMES))
    }
}

/// Serde and JSON Schema by way of `FromStr` and `Display`.
macro_rules! text_serde {
    ($type:ty, $description:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                let text = String::deserialize(source)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $description })
            }
        }
    };
}
pub(crate) use text_serde;

text_serde!(Span, "A time with its unit: 50ms, 1.5s, 10min.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_fractions_are_read() {
        assert_eq!("50ms".parse(), Ok(Span::from_millis(50)));
        assert_eq!("1.5s".parse(), Ok(Span::from_millis(1_500)));
        assert_eq!("0.0005 ms".parse(), Ok(Span(Duration::from_nanos(500))));
        assert_eq!("10min".parse(), Ok(Span(Duration::from_secs(600))));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "50",
            "",
            "ms",
            ".5s",
            "-1s",
            "1e3s",
            "1.2.3s",
            "5 parsecs",
            "99999999999h",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn json_carries_the_unit() {
        let json = serde_json::to_string(&Span::from_millis(50)).unwrap();
        assert_eq!(json, "\"50ms\"");
        assert_eq!(
            serde_json::from_str::<Span>(&json).unwrap(),
            Span::from_millis(50)
        );
    }
}
