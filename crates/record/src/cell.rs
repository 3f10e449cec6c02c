//! What a column can hold, and how it lies in Arrow.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, StringArray};
use arrow_schema::DataType;
use std::borrow::Cow;
use std::sync::Arc;

/// A word out of a few: a direction, a clock, a link's name. Costs no allocation where the word is in the program.
///
/// Parquet stores each distinct word of a column once.
pub type Label = Cow<'static, str>;

/// A type that a column is made of: `u8`, `u16`, `u32`, `u64`, `i64`, `f64`, `bool`, [`String`], [`Label`].
pub trait Value: Clone + Sized {
    /// Its type in Arrow.
    const TYPE: DataType;

    /// The values as one array, `None` as null.
    fn to_array<'a>(values: impl Iterator<Item = Option<&'a Self>>) -> ArrayRef
    where
        Self: 'a;

    /// The values as one array without nulls.
    fn array_of_all<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a,
    {
        Self::to_array(values.map(Some))
    }

    /// The array's values; `None` when it holds another type.
    fn from_array(array: &dyn Array) -> Option<Vec<Option<Self>>>;

    /// The values of an array without nulls; `None` when it holds another type, or a null.
    fn all_of(array: &dyn Array) -> Option<Vec<Self>> {
        Self::from_array(array)?.into_iter().collect()
    }
}

/// A [`Value`] or an `Option` of one, which makes the column nullable.
pub trait Cell: Sized {
    /// Its type in Arrow.
    const TYPE: DataType;
    /// Whether the column may hold nulls, and may be absent from records of other versions.
    const NULLABLE: bool;

    /// The cells of a column as one array.
    fn to_array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a;

    /// The cells of a column; `None` when the array holds another type, or nulls where none may be.
    fn from_array(array: &dyn Array) -> Option<Vec<Self>>;

    /// The cells of a column that the record does not have; `None` when it must have it.
    fn absent(rows: usize) -> Option<Vec<Self>>;
}

impl<T: Value> Cell for T {
    const TYPE: DataType = T::TYPE;
    const NULLABLE: bool = false;

    fn to_array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        T: 'a,
    {
        T::array_of_all(cells)
    }

    fn from_array(array: &dyn Array) -> Option<Vec<Self>> {
        T::all_of(array)
    }

    fn absent(_: usize) -> Option<Vec<Self>> {
        None
    }
}

impl<T: Value> Cell for Option<T> {
    const TYPE: DataType = T::TYPE;
    const NULLABLE: bool = true;

    fn to_array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        T: 'a,
    {
        Value::to_array(cells.map(Self::as_ref))
    }

    fn from_array(array: &dyn Array) -> Option<Vec<Self>> {
        if *array.data_type() == T::TYPE && array.null_count() == array.len() {
            return Self::absent(array.len());
        }
        <T as Value>::from_array(array)
    }

    fn absent(rows: usize) -> Option<Vec<Self>> {
        Some(vec![None; rows])
    }
}

macro_rules! number {
    ($($native:ty: $arrow:ident $type:ident),+) => {$(
        impl Value for $native {
            const TYPE: DataType = DataType::$type;

            fn to_array<'a>(values: impl Iterator<Item = Option<&'a Self>>) -> ArrayRef {
                Arc::new(values.map(Option::<&Self>::copied).collect::<PrimitiveArray<$arrow>>())
            }

            fn array_of_all<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(PrimitiveArray::<$arrow>::from_iter_values(values.copied()))
            }

            fn from_array(array: &dyn Array) -> Option<Vec<Option<Self>>> {
                Some(array.as_primitive_opt::<$arrow>()?.iter().collect())
            }

            fn all_of(array: &dyn Array) -> Option<Vec<Self>> {
                let array = array.as_primitive_opt::<$arrow>()?;
                (array.null_count() == 0).then(|| array.values().to_vec())
            }
        }
    )+};
}

number!(
    u8: UInt8Type UInt8,
    u16: UInt16Type UInt16,
    u32: UInt32Type UInt32,
    u64: UInt64Type UInt64,
    i64: Int64Type Int64,
    f64: Float64Type Float64
);

impl Value for bool {
    const TYPE: DataType = DataType::Boolean;

    fn to_array<'a>(values: impl Iterator<Item = Option<&'a Self>>) -> ArrayRef {
        Arc::new(
            values
                .map(Option::<&Self>::copied)
                .collect::<BooleanArray>(),
        )
    }

    fn from_array(array: &dyn Array) -> Option<Vec<Option<Self>>> {
        Some(array.as_boolean_opt()?.iter().collect())
    }
}

/// Words that are in most tables row by row; they are read without an allocation each.
const COMMON: [&str; 12] = [
    "up",
    "down",
    "initiator",
    "acceptor",
    "sequential",
    "concurrent",
    "tcp",
    "udp",
    "client",
    "server",
    "forward",
    "back",
];

fn label(word: &str) -> Label {
    let common = COMMON.iter().find(|common| **common == word);
    common.map_or_else(
        || Cow::Owned(word.to_owned()),
        |common| Cow::Borrowed(*common),
    )
}

macro_rules! text {
    ($($native:ty: $make:expr),+) => {$(
        impl Value for $native {
            const TYPE: DataType = DataType::Utf8;

            fn to_array<'a>(values: impl Iterator<Item = Option<&'a Self>>) -> ArrayRef {
                Arc::new(values.collect::<StringArray>())
            }

            fn array_of_all<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(StringArray::from_iter_values(values))
            }

            fn from_array(array: &dyn Array) -> Option<Vec<Option<Self>>> {
                let texts = array.as_string_opt::<i32>()?;
                Some(texts.iter().map(|text| text.map($make)).collect())
            }
        }
    )+};
}

text!(String: str::to_owned, Label: label);
