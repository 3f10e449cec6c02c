//! A Parquet file while it is written. Under its name it appears when it is whole, and not before.

use crate::error::Error;
use crate::parquet_file::properties;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The writing end. Dropped before it has finished, it leaves nothing.
pub(crate) struct ParquetWriter {
    path: PathBuf,
    unfinished: PathBuf,
    /// None once it is finished.
    writer: Option<ArrowWriter<File>>,
}

impl ParquetWriter {
    /// Begins the file at `path`, in groups of so many rows, which are what it holds in memory.
    ///
    /// # Errors
    /// [`Error::Write`] or [`Error::Table`] when it cannot be written; so in all methods.
    pub(crate) fn create(path: &Path, schema: SchemaRef, group: usize) -> Result<Self, Error> {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".tmp");
        let unfinished = PathBuf::from(unfinished);
        let file = File::create(&unfinished).map_err(Error::write(&unfinished))?;
        let properties = properties(&schema).set_max_row_group_row_count(Some(group));
        let writer = ArrowWriter::try_new(file, schema, Some(properties.build()));
        Ok(Self {
            path: path.to_owned(),
            writer: Some(writer.map_err(Error::table(&unfinished))?),
            unfinished,
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let writer = self.writer.as_mut();
        let written = writer.map_or(Ok(()), |writer| writer.write(batch));
        written.map_err(Error::table(&self.unfinished))
    }

    /// Ends the file, safely on disk.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let settled = self.settle();
        if settled.is_err() {
            let _ = fs::remove_file(&self.unfinished);
        }
        settled
    }

    fn settle(&mut self) -> Result<(), Error> {
        if let Some(writer) = self.writer.take() {
            let file = writer.into_inner();
            let file = file.map_err(Error::table(&self.unfinished))?;
            file.sync_all().map_err(Error::write(&self.unfinished))?;
        }
        fs::rename(&self.unfinished, &self.path).map_err(Error::write(&self.path))
    }
}

impl Drop for ParquetWriter {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}
