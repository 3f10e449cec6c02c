//! Numbers between Python's arrays and Arrow's columns.

use crate::errors::{failed, usage};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The values of a column that lies in several parts: a format of `struct` and the octets, or a list of words.
pub(crate) fn column<'py>(
    py: Python<'py>,
    field: &Field,
    parts: &[&ArrayRef],
) -> PyResult<Bound<'py, PyAny>> {
    match field.data_type() {
        DataType::UInt8 => numbers::<UInt8Type>(py, "B", parts),
        DataType::UInt16 => numbers::<UInt16Type>(py, "H", parts),
        DataType::UInt32 => numbers::<UInt32Type>(py, "I", parts),
        DataType::UInt64 => numbers::<UInt64Type>(py, "Q", parts),
        DataType::Int64 => numbers::<Int64Type>(py, "q", parts),
        DataType::Float64 => numbers::<Float64Type>(py, "d", parts),
        DataType::Boolean => {
            let values = parts.iter().flat_map(|part| part.as_boolean().iter());
            octets(
                py,
                "?",
                &whole(field, values)?.map(u8::from).collect::<Vec<_>>(),
            )
        }
        DataType::Utf8 => {
            let values = parts.iter().flat_map(|part| part.as_string::<i32>().iter());
            values
                .collect::<Vec<_>>()
                .into_pyobject(py)
                .map(Bound::into_any)
        }
        other => Err(failed(format!(
            "column '{}' is {other} - take it by to_polars() or to_pandas()",
            field.name()
        ))),
    }
}

/// Values of which none is null.
fn whole<T>(
    field: &Field,
    values: impl Iterator<Item = Option<T>>,
) -> PyResult<impl Iterator<Item = T>> {
    let values: Option<Vec<_>> = values.collect();
    let values = values.ok_or_else(|| {
        let name = field.name();
        failed(format!(
            "column '{name}' has nulls - take it by to_polars() or to_pandas()"
        ))
    })?;
    Ok(values.into_iter())
}

/// Numbers as they are; where some are null, as floating-point numbers in which those are none.
fn numbers<'py, T>(
    py: Python<'py>,
    format: &str,
    parts: &[&ArrayRef],
) -> PyResult<Bound<'py, PyAny>>
where
    T: ArrowPrimitiveType,
    T::Native: Octets,
{
    let values = parts.iter().flat_map(|part| part.as_primitive::<T>());
    let mut bytes = Vec::new();
    if parts.iter().any(|part| part.null_count() > 0) {
        let floats = values.map(|value| value.map_or(f64::NAN, Octets::float));
        floats.for_each(|value| value.put(&mut bytes));
        return octets(py, "d", &bytes);
    }
    values.flatten().for_each(|value| value.put(&mut bytes));
    octets(py, format, &bytes)
}

fn octets<'py>(py: Python<'py>, format: &str, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let pair = (format, PyBytes::new(py, bytes));
    pair.into_pyobject(py).map(Bound::into_any)
}

/// A number in this machine's order of octets.
trait Octets: Sized {
    fn put(self, to: &mut Vec<u8>);
    /// As close as a floating-point number comes to it.
    fn float(self) -> f64;
}

macro_rules! octets_of {
    ($($kind:ty),*) => {
        $(impl Octets for $kind {
            fn put(self, to: &mut Vec<u8>) {
                to.extend(self.to_ne_bytes());
            }

            #[allow(clippy::cast_lossless, reason = "one text for all kinds")]
            fn float(self) -> f64 {
                self as f64
            }
        })*
    };
}

octets_of!(u8, u16, u32, u64, i64, f64);

/// What a caller gives for each of many: an array, or one number for all.
pub(crate) enum Many<T> {
    /// One each.
    Each(Vec<T>),
    /// The same for all.
    All(T),
}

impl<T: Element + Copy> Many<T> {
    /// The number of element `at`; the array was checked to have it.
    pub(crate) fn get(&self, at: usize) -> T {
        match self {
            Self::Each(values) => values[at],
            Self::All(value) => *value,
        }
    }

    /// Of an argument called `name`, which if it is an array has `count` elements.
    pub(crate) fn of(value: &Bound<'_, PyAny>, name: &str, count: usize) -> PyResult<Self>
    where
        for<'a, 'py> T: FromPyObject<'a, 'py>,
    {
        if let Ok(one) = value.extract::<T>() {
            return Ok(Self::All(one));
        }
        let values = array(value, name)?;
        if values.len() == count {
            Ok(Self::Each(values))
        } else {
            let length = values.len();
            Err(usage(format!("{name} has {length} elements, not {count}")))
        }
    }
}

/// The elements of an argument called `name`: anything with a buffer of this type, or a sequence.
pub(crate) fn array<T>(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>>
where
    T: Element + Copy,
    for<'a, 'py> T: FromPyObject<'a, 'py>,
{
    if let Ok(buffer) = PyBuffer::<T>::get(value) {
        return buffer.to_vec(value.py());
    }
    value.extract::<Vec<T>>().map_err(|_| {
        let kind = std::any::type_name::<T>();
        usage(format!(
            "{name} is no array of {kind} - write numpy.asarray({name}, dtype='{kind}')"
        ))
    })
}
