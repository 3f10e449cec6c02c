//! Failures as Python's exceptions, which `isobath.errors` defines.

use isobath::embed::Failure;
use pyo3::prelude::*;
use std::fmt::Display;

/// An exception of this class of `isobath.errors` with this message.
fn raised(class: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("isobath.errors")
            .and_then(|errors| errors.getattr(class)?.call1((message,)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// The caller asked for what cannot be.
pub(crate) fn usage(message: impl Display) -> PyErr {
    raised("UsageError", &message.to_string())
}

/// Something could not be read, written or measured.
pub(crate) fn failed(message: impl Display) -> PyErr {
    raised("IsobathError", &message.to_string())
}

/// What the program would have said.
pub(crate) fn of_failure(failure: &Failure) -> PyErr {
    if failure.is_usage {
        usage(failure)
    } else {
        failed(failure)
    }
}
