//! Measurements in virtual time, in this process.

use crate::errors::{failed, of_failure};
use crate::table::Table;
use crate::work::interruptible;
use isobath::embed;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What came of it: the JSON of its run.json, and its tables where it has no folder.
type Simulated = (String, BTreeMap<String, Table>);

/// Carries out `isobath sim ARGUMENTS`: in memory, or with a record in the new folder `out`.
#[pyfunction]
#[pyo3(signature = (arguments, out=None))]
pub(crate) fn simulate(
    py: Python<'_>,
    arguments: Vec<String>,
    out: Option<PathBuf>,
) -> PyResult<Simulated> {
    let work = |interrupt: &_| embed::simulate(&arguments, out.as_deref(), interrupt);
    let simulated = interruptible(py, work, || Ok(()))?;
    let simulated = simulated.map_err(|failure| of_failure(&failure))?;
    let json = serde_json::to_string(&simulated.run).map_err(failed)?;
    let tables = simulated.kept.into_tables();
    let tables = tables.filter_map(|(name, batches)| {
        Table::of_batches(batches).map(|table| (name.to_owned(), table))
    });
    Ok((json, tables.collect()))
}
