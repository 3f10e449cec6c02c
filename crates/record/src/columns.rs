//! A table whose columns are known only when it is written.

use crate::cell::Cell;
use crate::error::Error;
use crate::parquet_file::properties;
use crate::table::field;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

/// A column: its cells, one a row, of which each may be null.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Yes or no.
    Switch(Vec<Option<bool>>),
    /// Words.
    Text(Vec<Option<String>>),
}

impl Column {
    fn field(&self, name: &str) -> Field {
        match self {
            Self::Whole(_) => field::<Option<i64>>(name, "", ""),
            Self::Number(_) => field::<Option<f64>>(name, "", ""),
            Self::Switch(_) => field::<Option<bool>>(name, "", ""),
            Self::Text(_) => field::<Option<String>>(name, "", ""),
        }
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Whole(cells) => Cell::to_array(cells.iter()),
            Self::Number(cells) => Cell::to_array(cells.iter()),
            Self::Switch(cells) => Cell::to_array(cells.iter()),
            Self::Text(cells) => Cell::to_array(cells.iter()),
        }
    }
}

/// Writes the Parquet file `path` of these columns, all of the same length, each with its name. It appears when it is whole.
///
/// # Errors
/// [`Error::Write`], or [`Error::Table`] when the columns are of different lengths.
pub fn write_columns(path: &Path, columns: &[(String, Column)]) -> Result<(), Error> {
    let fields: Vec<_> = columns
        .iter()
        .map(|(name, column)| column.field(name))
        .collect();
    let arrays = columns.iter().map(|(_, column)| column.array()).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(Error::table(path))?;
    let unfinished = path.with_extension("parquet.tmp");
    let file = File::create(&unfinished).map_err(Error::write(&unfinished))?;
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties().build()))
        .map_err(Error::table(&unfinished))?;
    writer.write(&batch).map_err(Error::table(&unfinished))?;
    let file = writer.into_inner().map_err(Error::table(&unfinished))?;
    file.sync_all().map_err(Error::write(&unfinished))?;
    fs::rename(&unfinished, path).map_err(Error::write(path))
}
