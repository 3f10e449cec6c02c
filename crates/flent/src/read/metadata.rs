//! Free-form JSON of bounded size.
//!
//! A value of one octet in a file takes over thirty in memory, so a limit on the file alone does not bound what its
//! metadata takes. Here each value is charged for as it is read.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// What any value is charged, in octets: its place in a list or map, with room for growth.
const EACH: usize = 96;

/// Reads a [`Value`] and takes its size from `left`.
pub(crate) struct Bounded<'a> {
    pub(crate) left: &'a Cell<usize>,
}

impl Bounded<'_> {
    fn charge<E: Error>(&self, octets: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(octets);
        self.left
            .set(left.ok_or_else(|| E::custom("the metadata is too large"))?);
        Ok(())
    }

    fn again(&self) -> Self {
        Self { left: self.left }
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.charge(EACH)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.charge(value.len())?;
        Ok(Value::from(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.again())? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.charge(key.len())?;
            map.insert(key, entries.next_value_seed(self.again())?);
        }
        Ok(Value::Object(map))
    }
}
