//! Records on disk.

use crate::errors::failed;
use crate::table::Table;
use jiff::Timestamp;
use pyo3::prelude::*;
use record::{Batches, Record};
use std::path::{Path, PathBuf};

/// Reads the record in `folder`: the JSON of its run.json, and the names of its tables.
#[pyfunction]
pub(crate) fn read_record(folder: PathBuf) -> PyResult<(String, Vec<String>)> {
    let record = Record::open(&folder).map_err(failed)?;
    let json = serde_json::to_string(record.run()).map_err(failed)?;
    Ok((json, record.table_names().map(str::to_owned).collect()))
}

/// Reads a table: of the record in `path`, or the Parquet file `path` when there is no `name`.
#[pyfunction]
#[pyo3(signature = (path, name=None))]
pub(crate) fn read_parquet(py: Python<'_>, path: PathBuf, name: Option<String>) -> PyResult<Table> {
    py.detach(|| {
        let batches = match name {
            Some(name) => Record::open(&path).and_then(|record| record.batches(&name)),
            None => Batches::of_file(&path),
        };
        let batches = batches?;
        let schema = batches.schema();
        Ok(Table::new(schema, batches.collect::<Result<_, _>>()?))
    })
    .map_err(|error: record::Error| failed(error))
}

/// A folder that does not exist yet, in `isobath-runs`, named as the program names those of its records.
#[pyfunction]
pub(crate) fn new_folder(verb: &str, towards: &str) -> PyResult<PathBuf> {
    let name = record::folder_name(Timestamp::now(), verb, towards);
    record::new_folder(Path::new("isobath-runs"), &name).map_err(failed)
}
