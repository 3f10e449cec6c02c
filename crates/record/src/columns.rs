//! A table whose columns are known only when it is written, or read.

use crate::cell::Cell;
use crate::error::Error;
use crate::parquet_file::properties;
use crate::reader::Batches;
use crate::table::field;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
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

    /// How many cells there are.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Whole(cells) => cells.len(),
            Self::Number(cells) => cells.len(),
            Self::Switch(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }

    /// The cell of a row; null where there is none.
    pub(crate) fn cell(&self, row: usize) -> Value {
        match self {
            Self::Whole(cells) => cells.get(row).copied().flatten().into(),
            Self::Number(cells) => cells.get(row).copied().flatten().into(),
            Self::Switch(cells) => cells.get(row).copied().flatten().into(),
            Self::Text(cells) => cells.get(row).cloned().flatten().into(),
        }
    }

    /// One without cells; `None` when cells of this type are none of these.
    fn of_type(of: &DataType) -> Option<Self> {
        let all = [
            Self::Whole(Vec::new()),
            Self::Number(Vec::new()),
            Self::Switch(Vec::new()),
            Self::Text(Vec::new()),
        ];
        let is_it = |column: &Self| column.field("").data_type() == of;
        all.into_iter().find(is_it)
    }

    /// Adds the cells of `array`; `None` when it holds another type.
    fn extend(&mut self, array: &dyn Array) -> Option<()> {
        match self {
            Self::Whole(cells) => cells.append(&mut Cell::from_array(array)?),
            Self::Number(cells) => cells.append(&mut Cell::from_array(array)?),
            Self::Switch(cells) => cells.append(&mut Cell::from_array(array)?),
            Self::Text(cells) => cells.append(&mut Cell::from_array(array)?),
        }
        Some(())
    }
}

/// The columns of the Parquet file at `path`, each with its name, as [`write_columns`] wrote them.
///
/// # Errors
/// [`Error::Read`], or [`Error::Table`] when the file is damaged or has a column of another type.
pub fn read_columns(path: &Path) -> Result<Vec<(String, Column)>, Error> {
    let batches = Batches::of_file(path)?;
    let schema = batches.schema();
    let foreign = |field: &Field| {
        let (name, of) = (field.name(), field.data_type());
        Error::table(path)(format!("column '{name}' holds {of}"))
    };
    let empty = schema.fields().iter().map(|field| {
        let column = Column::of_type(field.data_type()).ok_or_else(|| foreign(field))?;
        Ok((field.name().clone(), column))
    });
    let mut columns: Vec<_> = empty.collect::<Result<_, Error>>()?;
    for batch in batches {
        let batch = batch?;
        let fields = schema.fields().iter();
        for (((_, column), array), field) in columns.iter_mut().zip(batch.columns()).zip(fields) {
            column.extend(array).ok_or_else(|| foreign(field))?;
        }
    }
    Ok(columns)
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
    let properties = properties(&schema).build();
    let mut writer =
        ArrowWriter::try_new(file, schema, Some(properties)).map_err(Error::table(&unfinished))?;
    writer.write(&batch).map_err(Error::table(&unfinished))?;
    let file = writer.into_inner().map_err(Error::table(&unfinished))?;
    file.sync_all().map_err(Error::write(&unfinished))?;
    fs::rename(&unfinished, path).map_err(Error::write(path))
}
