//! A table in a file of its own, outside any record: what `isobath trace` hands on.

use crate::error::Error;
use crate::parquet_file::{ParquetFile, properties};
use crate::table::Row;
use parquet::arrow::ArrowWriter;
use std::fs::{self, File};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are handed to the encoder at a time.
const BATCH_ROWS: usize = 16_384;
/// Rows of a row group, which is what the encoder holds in memory.
const GROUP_ROWS: usize = 262_144;

/// Writes a Parquet file row by row. Under its name it appears when it is whole, and not before.
pub struct TableWriter<T> {
    path: PathBuf,
    unfinished: PathBuf,
    /// None once it is finished.
    writer: Option<ArrowWriter<File>>,
    rows: Vec<T>,
}

impl<T: Row> TableWriter<T> {
    /// Begins the file at `path`.
    ///
    /// # Errors
    /// [`Error::Write`] or [`Error::Table`] when it cannot be written; so in all methods.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".tmp");
        let unfinished = PathBuf::from(unfinished);
        let file = File::create(&unfinished).map_err(Error::write(&unfinished))?;
        let schema = Arc::new(T::schema());
        let properties = properties(&schema).set_max_row_group_row_count(Some(GROUP_ROWS));
        let writer = ArrowWriter::try_new(file, schema, Some(properties.build()));
        Ok(Self {
            path: path.to_owned(),
            writer: Some(writer.map_err(Error::table(&unfinished))?),
            unfinished,
            rows: Vec::with_capacity(BATCH_ROWS),
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// See [`TableWriter::create`].
    pub fn push(&mut self, row: T) -> Result<(), Error> {
        self.rows.push(row);
        if self.rows.len() >= BATCH_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// See [`TableWriter::create`].
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        let settled = self.settle();
        if settled.is_err() {
            let _ = fs::remove_file(&self.unfinished);
        }
        settled
    }

    fn settle(&mut self) -> Result<(), Error> {
        if let Some(writer) = self.writer.take() {
            let file = writer
                .into_inner()
                .map_err(Error::table(&self.unfinished))?;
            file.sync_all().map_err(Error::write(&self.unfinished))?;
        }
        fs::rename(&self.unfinished, &self.path).map_err(Error::write(&self.path))
    }

    fn flush(&mut self) -> Result<(), Error> {
        let batch = T::batch(&self.rows).map_err(Error::table(&self.unfinished))?;
        self.rows.clear();
        let written = self
            .writer
            .as_mut()
            .map_or(Ok(()), |writer| writer.write(&batch));
        written.map_err(Error::table(&self.unfinished))
    }
}

impl<T> Drop for TableWriter<T> {
    /// What was not finished is nothing.
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            let _ = fs::remove_file(&self.unfinished);
        }
    }
}

/// The rows of a Parquet file, some at a time.
pub struct TableReader<T> {
    batches: ParquetFile,
    row: PhantomData<T>,
}

impl<T: Row> TableReader<T> {
    /// Opens the file at `path`; columns that a `T` does not have are not read.
    ///
    /// # Errors
    /// [`Error::Read`], or [`Error::Table`] when it is damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            batches: ParquetFile::open_columns(path, &T::fields())?,
            row: PhantomData,
        })
    }
}

impl<T: Row> Iterator for TableReader<T> {
    type Item = Result<Vec<T>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        Some(batch.and_then(|batch| T::from_batch(&batch)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use tempfile::tempdir;

    table! {
        /// What left a link.
        struct Counters in "counters" {
            /// When.
            t_ns: u64 => "ns",
            /// Which link.
            link: crate::Label,
            /// Packets.
            packets: u64,
            /// Their octets.
            bytes: u64 => "bytes",
        }
    }

    fn row(number: u64) -> Counters {
        Counters {
            t_ns: number,
            link: "a-b".into(),
            packets: number % 7,
            bytes: number,
        }
    }

    #[test]
    fn rows_come_back_and_the_file_appears_when_it_is_whole() {
        let dir = tempdir().unwrap();
        let path = dir.path().join("some.parquet");
        let mut writer = TableWriter::create(&path).unwrap();
        let rows = BATCH_ROWS as u64 + 5;
        (0..rows)
            .try_for_each(|number| writer.push(row(number)))
            .unwrap();
        assert!(!path.exists());
        drop(TableWriter::<Counters>::create(&dir.path().join("other.parquet")).unwrap());
        writer.finish().unwrap();
        let reader = TableReader::<Counters>::open(&path).unwrap();
        let read: Vec<_> = reader.flat_map(Result::unwrap).collect();
        assert!(read.into_iter().eq((0..rows).map(row)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let dir = tempdir().unwrap();
        let path = dir.path().join("some.parquet");
        assert!(TableReader::<Counters>::open(&path).is_err());
        fs::write(&path, "hello").unwrap();
        assert!(TableReader::<Counters>::open(&path).is_err());
    }
}
