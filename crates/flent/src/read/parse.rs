//! The five keys of a data file, each value of the type that the format has there.

use super::metadata::Bounded;
use super::point::PointSeed;
use crate::data::{DataFile, Key, Point};
use crate::error::Error;
use crate::limits::Limits;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::Read;
use std::marker::PhantomData;

/// Longest name of a series or of a raw key: the longest in Flent's tests have some 60 octets, a host's name in them.
const MAX_NAME: usize = 512;
/// Distinct names of raw keys. A qdisc has some 20, a processor one a core.
const MAX_KEYS: usize = 4_096;
/// What a raw value costs beside its numbers, in numbers.
const POINT: usize = 4;

/// A file as it was read: what is missing is not there.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) version: Option<Value>,
    pub(super) file: DataFile,
    pub(super) has_x_values: bool,
    pub(super) has_results: bool,
}

/// What the limits still allow.
pub(super) struct Budget {
    series: usize,
    numbers: Cell<usize>,
    metadata: Cell<usize>,
    keys: RefCell<HashMap<String, u16>>,
}

impl Budget {
    pub(super) fn charge<E: serde::de::Error>(&self, numbers: usize) -> Result<(), E> {
        let left = self.numbers.get().checked_sub(numbers);
        self.numbers
            .set(left.ok_or_else(|| E::custom("it holds too many numbers"))?);
        Ok(())
    }

    pub(super) fn key<E: serde::de::Error>(&self, name: &str) -> Result<Key, E> {
        if let Some(known) = Key::known(name, &[]) {
            return Ok(known);
        }
        let mut keys = self.keys.borrow_mut();
        if let Some(&number) = keys.get(name) {
            return Ok(Key(number));
        }
        if keys.len() == MAX_KEYS || name.len() > MAX_NAME {
            return Err(E::custom("its raw values have too many or too long keys"));
        }
        let number = Key::FIRST_OTHER + u16::try_from(keys.len()).unwrap_or(u16::MAX);
        keys.insert(name.to_owned(), number);
        Ok(Key(number))
    }

    /// The names that were met, in the order of their keys.
    fn key_names(self) -> Vec<String> {
        let mut names: Vec<_> = self.keys.into_inner().into_iter().collect();
        names.sort_unstable_by_key(|&(_, number)| number);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

pub(super) fn parse(input: impl Read, limits: &Limits) -> Result<Parsed, Error> {
    let budget = Budget {
        series: limits.series,
        numbers: Cell::new(limits.numbers),
        metadata: Cell::new(limits.metadata_bytes),
        keys: RefCell::default(),
    };
    let mut json = serde_json::Deserializer::from_reader(input);
    let parsed = json.deserialize_map(TopLevel(&budget));
    let mut parsed: Parsed = parsed.map_err(Error::json)?;
    json.end().map_err(Error::json)?;
    parsed.file.other_keys = budget.key_names();
    Ok(parsed)
}

struct TopLevel<'a>(&'a Budget);

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object that a Flent data file is")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Parsed, A::Error> {
        let mut parsed = Parsed::default();
        while let Some(key) = entries.next_key::<String>()? {
            self.entry(&key, &mut entries, &mut parsed)?;
        }
        Ok(parsed)
    }
}

impl TopLevel<'_> {
    fn entry<'de, A: MapAccess<'de>>(
        &self,
        key: &str,
        entries: &mut A,
        parsed: &mut Parsed,
    ) -> Result<(), A::Error> {
        let left = &self.0.metadata;
        match key {
            "version" => parsed.version = Some(entries.next_value_seed(Bounded { left })?),
            "metadata" => match entries.next_value_seed(Bounded { left })? {
                Value::Object(metadata) => parsed.file.metadata = metadata,
                _ => return Err(A::Error::custom("the metadata is no object")),
            },
            "x_values" => {
                let values: Vec<Option<f64>> = entries.next_value_seed(numbers(self.0))?;
                let all: Option<_> = values.into_iter().collect();
                let missing = || A::Error::custom("a value of x_values is no number");
                parsed.file.x_values = all.ok_or_else(missing)?;
                parsed.has_x_values = true;
            }
            "results" => {
                parsed.file.results = entries.next_value_seed(BySeries(self.0, numbers))?;
                parsed.has_results = true;
            }
            "raw_values" => {
                parsed.file.raw_values = entries.next_value_seed(BySeries(self.0, points))?;
            }
            _ => drop(entries.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

/// A map from the names of series to what `.1` reads.
struct BySeries<'a, S>(&'a Budget, fn(&'a Budget) -> S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for BySeries<'_, S> {
    type Value = BTreeMap<String, S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for BySeries<'_, S> {
    type Value = BTreeMap<String, S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list for each series")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut series = BTreeMap::new();
        while let Some(name) = entries.next_key::<String>()? {
            if series.len() == self.0.series {
                return Err(A::Error::custom("it holds too many series"));
            }
            if name.len() > MAX_NAME {
                return Err(A::Error::custom("the name of a series is too long"));
            }
            series.insert(name, entries.next_value_seed((self.1)(self.0))?);
        }
        Ok(series)
    }
}

/// A list of what `T` is made of.
struct List<'a, T>(&'a Budget, PhantomData<T>);

fn numbers(budget: &Budget) -> List<'_, Option<f64>> {
    List(budget, PhantomData)
}

fn points(budget: &Budget) -> List<'_, Point> {
    List(budget, PhantomData)
}

impl<'de, T: Item> DeserializeSeed<'de> for List<'_, T> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Vec<T>, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de, T: Item> Visitor<'de> for List<'_, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", T::WHAT)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = T::next(&mut items, self.0)? {
            list.push(item);
        }
        Ok(list)
    }
}

/// What lists are of.
trait Item: Sized {
    const WHAT: &'static str;

    fn next<'de, A: SeqAccess<'de>>(
        items: &mut A,
        budget: &Budget,
    ) -> Result<Option<Self>, A::Error>;
}

impl Item for Option<f64> {
    const WHAT: &'static str = "numbers and nulls";

    fn next<'de, A: SeqAccess<'de>>(
        items: &mut A,
        budget: &Budget,
    ) -> Result<Option<Self>, A::Error> {
        budget.charge(1)?;
        items.next_element::<Self>()
    }
}

impl Item for Point {
    const WHAT: &'static str = "raw values";

    fn next<'de, A: SeqAccess<'de>>(
        items: &mut A,
        budget: &Budget,
    ) -> Result<Option<Self>, A::Error> {
        budget.charge(POINT)?;
        items.next_element_seed(PointSeed(budget))
    }
}
