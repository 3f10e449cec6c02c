//! The tables of a run that has no folder of its own: one of thousands, most of which leave no more than a summary.

use crate::error::Error;
use crate::parquet_file::properties;
use crate::table::{Row, field};
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ArrowWriter;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

/// The rows of those tables that are wanted; of others there is nothing.
#[derive(Debug, Default)]
pub struct Kept {
    wanted: Wanted,
    batches: BTreeMap<&'static str, Vec<RecordBatch>>,
}

/// Which tables are kept.
#[derive(Debug)]
enum Wanted {
    All,
    Named(Vec<String>),
}

impl Default for Wanted {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

impl Kept {
    pub(crate) fn new(wanted: &[String]) -> Self {
        Self {
            wanted: Wanted::Named(wanted.to_vec()),
            batches: BTreeMap::new(),
        }
    }

    pub(crate) const fn whole() -> Self {
        Self {
            wanted: Wanted::All,
            batches: BTreeMap::new(),
        }
    }

    pub(crate) fn wants(&self, table: &str) -> bool {
        match &self.wanted {
            Wanted::All => true,
            Wanted::Named(names) => names.iter().any(|wanted| wanted == table),
        }
    }

    /// The tables that have rows, by name in alphabetical order, each batch by batch.
    pub fn into_tables(self) -> impl Iterator<Item = (&'static str, Vec<RecordBatch>)> {
        self.batches.into_iter()
    }

    /// Whether rows of any table are here.
    pub(crate) fn has_rows(&self) -> bool {
        !self.batches.is_empty()
    }

    pub(crate) fn append<T: Row>(&mut self, rows: &[T]) -> Result<(), Error> {
        if self.wants(T::TABLE) {
            let batch = T::batch(rows).map_err(Error::table(Path::new(T::TABLE)))?;
            self.batches.entry(T::TABLE).or_default().push(batch);
        }
        Ok(())
    }

    /// Writes each table as `FOLDER/TABLE/RUN.parquet`, in which the first column, `run`, is the run's number. So a table of
    /// all runs is a folder that any reader of Parquet takes for one.
    ///
    /// # Errors
    /// [`Error::Write`] or [`Error::Table`].
    pub fn write(&self, folder: &Path, run: u64) -> Result<(), Error> {
        for (table, batches) in &self.batches {
            let folder = folder.join(table);
            fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
            let unfinished = folder.join(format!("{run}.parquet.tmp"));
            let written = write(&unfinished, run, batches);
            written.inspect_err(|_| drop(fs::remove_file(&unfinished)))?;
            let path = folder.join(format!("{run}.parquet"));
            fs::rename(&unfinished, &path).map_err(Error::write(&path))?;
        }
        Ok(())
    }
}

fn write(path: &Path, run: u64, batches: &[RecordBatch]) -> Result<(), Error> {
    let Some(first) = batches.first() else {
        return Ok(());
    };
    let own = field::<u64>("run", "", "Number of the run, from 1.");
    let fields = first
        .schema()
        .fields()
        .iter()
        .map(Arc::clone)
        .collect::<Vec<_>>();
    let fields: Vec<_> = std::iter::once(Arc::new(own)).chain(fields).collect();
    let schema = Arc::new(Schema::new(fields));
    let file = File::create(path).map_err(Error::write(path))?;
    let mut writer =
        ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties(&schema).build()))
            .map_err(Error::table(path))?;
    for batch in batches {
        let numbers: ArrayRef = Arc::new(UInt64Array::from_value(run, batch.num_rows()));
        let columns = std::iter::once(numbers).chain(batch.columns().iter().map(Arc::clone));
        let batch: Result<_, ArrowError> =
            RecordBatch::try_new(Arc::clone(&schema), columns.collect());
        let batch = batch.map_err(Error::table(path))?;
        writer.write(&batch).map_err(Error::table(path))?;
    }
    writer.close().map_err(Error::table(path)).map(drop)
}
