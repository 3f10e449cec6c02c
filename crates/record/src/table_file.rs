//! A table in a file of its own, outside any record: what `isobath trace` hands on.

use crate::error::Error;
use crate::parquet_file::ParquetFile;
use crate::parquet_writer::ParquetWriter;
use crate::table::Row;
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
    file: ParquetWriter,
    rows: Vec<T>,
}

impl<T: Row> TableWriter<T> {
    /// Begins the file at `path`.
    ///
    /// # Errors
    /// [`Error::Write`] or [`Error::Table`] when it cannot be written; so in all methods.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            file: ParquetWriter::create(path, Arc::new(T::schema()), GROUP_ROWS)?,
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
        self.file.finish()
    }

    fn flush(&mut self) -> Result<(), Error> {
        let batch = T::batch(&self.rows).map_err(Error::table(&self.path))?;
        self.rows.clear();
        self.file.write(&batch)
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
    use std::fs;
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
