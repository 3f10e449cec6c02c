//! One raw value: the numbers of an object, whatever else is in it.
//!
//! Flent's runners differ in what they keep. Numbers are taken by their keys, truth values as 0 and 1; lists and objects
//! (what each station or core has to say) are passed over. Only text where the time or the value should be is refused.

use super::parse::Budget;
use crate::data::Point;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::fmt;

/// Reads a raw value.
pub(super) struct PointSeed<'a>(pub(super) &'a Budget);

impl<'de> DeserializeSeed<'de> for PointSeed<'_> {
    type Value = Point;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Point, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PointSeed<'_> {
    type Value = Point;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a raw value, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Point, A::Error> {
        let mut numbers = Vec::new();
        while let Some(name) = entries.next_key::<String>()? {
            match entries.next_value()? {
                Scalar::Number(number) => {
                    self.0.charge(1)?;
                    numbers.push((self.0.key(&name)?, number));
                }
                Scalar::Text if name == "t" || name == "val" => {
                    return Err(A::Error::custom("a raw value's t or val is text"));
                }
                Scalar::Text | Scalar::Other => {}
            }
        }
        numbers.shrink_to_fit();
        Ok(Point(numbers))
    }
}

/// What is kept of a value of a raw value: a number or truth value. Null, lists and objects (what each station or core
/// has to say) are not.
enum Scalar {
    Number(f64),
    Text,
    Other,
}

impl<'de> serde::Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Number(f64::from(u8::from(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value))
    }

    fn visit_str<E>(self, _: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text)
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Scalar, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Scalar, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}
