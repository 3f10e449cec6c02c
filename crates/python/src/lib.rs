//! The extension module of the Python package: what Rust does for it, without any convenience.
//!
//! Python is the other face of the same crates. Tables cross as Arrow (the C data interface, nothing is copied), numbers as arrays,
//! and everything with a structure (plans, specifications, summaries) as the JSON that records hold. What takes time runs in a thread
//! of its own while Python's lock is let go, and ends early when the user interrupts ([`interruptible`](work::interruptible)).
//! What users see is Python on top of this: `python/isobath`.
#![expect(
    clippy::needless_pass_by_value,
    reason = "what is made of Python's objects is the function's own, whether it consumes it or not"
)]

mod arrays;
mod captures;
mod connection;
mod errors;
mod estimators;
mod machines;
mod pipeline;
mod records;
mod simulations;
mod sweeps;
mod table;
mod work;

use pyo3::prelude::*;

/// Isobath's machinery. Use the package `isobath`, which is built on it.
#[pymodule]
mod _isobath {
    #[pymodule_export]
    use crate::captures::extract;
    #[pymodule_export]
    use crate::connection::Connection;
    #[pymodule_export]
    use crate::estimators::{Probing, estimate};
    #[pymodule_export]
    use crate::machines::{Ack, Receiver, Segment, Sender};
    #[pymodule_export]
    use crate::pipeline::Pipeline;
    #[pymodule_export]
    use crate::records::{new_folder, read_parquet, read_record};
    #[pymodule_export]
    use crate::simulations::simulate;
    #[pymodule_export]
    use crate::sweeps::{Maker, Sweep};
    #[pymodule_export]
    use crate::table::Table;

    use pyo3::prelude::*;

    /// Says which version this is.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
