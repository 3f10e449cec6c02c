//! A data file in memory: what version 4 holds, whichever version it was read from.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The version that is written.
pub(crate) const VERSION: u32 = 4;

/// A data file.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct DataFile {
    pub(crate) metadata: Map<String, Value>,
    pub(crate) raw_values: BTreeMap<String, Vec<Point>>,
    pub(crate) results: BTreeMap<String, Vec<Option<f64>>>,
    pub(crate) version: u32,
    pub(crate) x_values: Vec<f64>,
    /// Names of the raw keys from [`Key::FIRST_OTHER`] on.
    #[serde(skip)]
    pub(crate) other_keys: Vec<String>,
}

/// What a number of a raw value is. Names are kept once a file, not once a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Key(pub(crate) u16);

impl Key {
    /// Seconds since 1970.
    pub(crate) const T: Self = Self(0);
    /// The value, in the series' unit.
    pub(crate) const VAL: Self = Self(1);
    /// Number of the probe.
    pub(crate) const SEQ: Self = Self(2);
    /// Seconds that the value is the mean of; they end at `t`.
    pub(crate) const DUR: Self = Self(3);
    /// One-way delay up in ms.
    pub(crate) const OWD_UP: Self = Self(4);
    /// One-way delay down in ms.
    pub(crate) const OWD_DOWN: Self = Self(5);
    /// Not zero: never answered.
    pub(crate) const LOST: Self = Self(6);
    /// Keys from here on have their names in [`DataFile::other_keys`].
    pub(crate) const FIRST_OTHER: u16 = 7;

    const NAMES: [&str; Self::FIRST_OTHER as usize] =
        ["t", "val", "seq", "dur", "owd_up", "owd_down", "lost"];

    /// The key of that name, if it is one.
    pub(crate) fn known(name: &str, other: &[String]) -> Option<Self> {
        let names = Self::NAMES
            .into_iter()
            .chain(other.iter().map(String::as_str));
        let at = names.into_iter().position(|known| known == name)?;
        u16::try_from(at).ok().map(Self)
    }
}

/// One raw value: its numbers by key. What is null or no number is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Point(pub(crate) Vec<(Key, f64)>);

impl Point {
    pub(crate) fn get(&self, key: Key) -> Option<f64> {
        let found = self.0.iter().find(|(other, _)| *other == key);
        found.map(|&(_, number)| number)
    }

    /// Sets a number; one that is not finite is none.
    pub(crate) fn set(&mut self, key: Key, number: Option<f64>) {
        self.0.retain(|(other, _)| *other != key);
        self.0
            .extend(number.filter(|x| x.is_finite()).map(|x| (key, x)));
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.get(Key::LOST).is_some_and(|lost| lost != 0.0)
    }
}

/// As Flent writes it: keys of unknown name are left out, `lost` is a truth value.
impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for &(key, number) in &self.0 {
            match (key, Key::NAMES.get(usize::from(key.0))) {
                (Key::LOST, Some(name)) => map.serialize_entry(name, &(number != 0.0))?,
                (Key::SEQ, Some(name)) => map.serialize_entry(name, &whole(number))?,
                (_, Some(name)) => map.serialize_entry(name, &number)?,
                (_, None) => {}
            }
        }
        map.end()
    }
}

/// The number as an integer in JSON when it is one.
pub(crate) fn whole(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        return Value::from(number as i64);
    }
    Value::from(number)
}
