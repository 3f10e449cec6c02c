//! Names, and the identity of a run that is made of them.

use crate::Moment;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Characters of a name at most.
const LONGEST: usize = 32;

/// The text is no name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("'{0}' is no name - use 1 to {LONGEST} letters, digits, '-' or '_'")]
pub struct NameError(String);

/// A name of a fleet, a measurement, a host, a site, a tag or a link: what may stand in a subject of NATS, in the name of a folder and
/// between two dots.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Name(Arc<str>);

impl Name {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_';
        if (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_plain) {
            return Ok(Self(text.into()));
        }
        Err(NameError(text.chars().take(2 * LONGEST).collect()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Which run: whose, what, from whom to whom, and the instant that the file asks for it. It may begin later than that; its identity stays
/// the same, so nothing is done twice.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RunId {
    /// The fleet.
    pub fleet: Name,
    /// The measurement, by its name in the fleet file.
    pub measure: Name,
    /// The host that measures.
    pub from: Name,
    /// The host that it measures towards.
    pub to: Name,
    /// When the file asks for it.
    pub instant: Moment,
}

/// The text is no identity of a run.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("'{0}' is not the name of a run - write FLEET.MEASUREMENT.FROM.TO.INSTANT")]
pub struct RunIdError(String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            fleet,
            measure,
            from,
            to,
            instant,
        } = self;
        write!(f, "{fleet}.{measure}.{from}.{to}.{}", instant.compact())
    }
}

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, RunIdError> {
        let parse = || {
            let parts: Vec<&str> = text.split('.').collect();
            let [fleet, measure, from, to, instant] = parts.try_into().ok()?;
            Some(Self {
                fleet: fleet.parse().ok()?,
                measure: measure.parse().ok()?,
                from: from.parse().ok()?,
                to: to.parse().ok()?,
                instant: instant.parse().ok()?,
            })
        };
        parse().ok_or_else(|| RunIdError(text.chars().take(80).collect()))
    }
}

/// Serde by way of `FromStr` and `Display`.
macro_rules! text_serde {
    ($($type:ty),*) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        $crate::name::text_deserialize!($type);
    )*};
}

/// Deserialize by way of `FromStr`.
macro_rules! text_deserialize {
    ($type:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(source)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use {text_deserialize, text_serde};
text_serde!(Name, RunId);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_would_be_something_else_to_nats_or_a_disk_is_no_name() {
        for text in [
            "",
            "a.b",
            "a*",
            ">",
            "..",
            "a b",
            "a/b",
            "ä",
            &"x".repeat(33),
        ] {
            assert!(text.parse::<Name>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_identity_is_read_back() {
        let text = "mesh.rtt.berlin-1.paris_2.20261125T080000123Z";
        let run: RunId = text.parse().unwrap();
        assert_eq!(run.to_string(), text);
        assert_eq!(run.instant.to_string(), "2026-11-25T08:00:00.123Z");
        assert_eq!(serde_json::to_value(&run).unwrap(), text);
    }

    proptest! {
        #[test]
        fn any_text_is_an_identity_or_an_error(text in "[a-z.0-9TZ]{0,60}") {
            if let Ok(run) = text.parse::<RunId>() {
                prop_assert_eq!(run.to_string().parse(), Ok(run));
            }
        }
    }
}
