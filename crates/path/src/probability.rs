//! Numbers from 0 to 1.

use crate::Error;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A probability, checked to be from 0 to 1.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Probability(f64);

impl Probability {
    /// What always happens.
    pub const ONE: Self = Self(1.0);

    /// The probability `value`, which must be from 0 to 1: for constants.
    pub(crate) const fn new_const(value: f64) -> Self {
        assert!(value >= 0.0 && value <= 1.0, "a constant outside 0 to 1");
        Self(value)
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Probability {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self, Error> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(Error::Probability(value))
        }
    }
}

impl From<Probability> for f64 {
    fn from(probability: Probability) -> Self {
        probability.0
    }
}

impl fmt::Display for Probability {
    /// In per cent, to at most six decimals: `1 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.0 * 1e8).round() / 1e6;
        write!(f, "{percent} %")
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        "Probability".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}
