//! Connection vectors out of packet captures.

use crate::errors::{failed, of_failure};
use crate::work::interruptible;
use isobath::embed;
use pyo3::prelude::*;

/// Carries out `isobath trace extract ARGUMENTS`; returns the run as JSON.
#[pyfunction]
pub(crate) fn extract(py: Python<'_>, arguments: Vec<String>) -> PyResult<String> {
    let work = |interrupt: &_| embed::extract(&arguments, interrupt);
    let run = interruptible(py, work, || Ok(()))?;
    let run = run.map_err(|failure| of_failure(&failure))?;
    serde_json::to_string(&run).map_err(failed)
}
