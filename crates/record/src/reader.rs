//! Reading a record: finished, cut short, or still being written.

use crate::error::Error;
use crate::input;
use crate::journal::JournalReader;
use crate::parquet_file::{ParquetFile, settle};
use crate::run::{Run, SCHEMA};
use crate::table::{Row, is_table_name};
use crate::writer::{first_error, lock};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An opened record. Tables are read from the files when they are asked for.
#[derive(Clone, Debug)]
pub struct Record {
    dir: PathBuf,
    run: Run,
    tables: BTreeSet<String>,
}

impl Record {
    /// Opens the record in `dir`, whatever state its run left it in.
    ///
    /// # Errors
    /// [`Error::NoRecord`], [`Error::Schema`] for another major version, [`Error::Run`] for a damaged `run.json`, or
    /// [`Error::Read`].
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let run = read_run(dir)?;
        let tables = files(dir)?
            .into_iter()
            .filter_map(|path| table_of(&path, "parquet").or_else(|| table_of(&path, "arrows")))
            .collect();
        Ok(Self {
            dir: dir.to_owned(),
            run,
            tables,
        })
    }

    /// The record's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What `run.json` holds.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The names of its tables in alphabetical order, known to this program or not.
    pub fn table_names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(String::as_str)
    }

    /// All rows of a table; none when the record does not have it.
    ///
    /// # Errors
    /// [`Error::Table`] for a damaged file, [`Error::Column`] for a table of another make, [`Error::Read`].
    pub fn rows<T: Row>(&self) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        if self.tables.contains(T::TABLE) {
            for batch in self.batches(T::TABLE)? {
                rows.extend(T::from_batch(&batch?)?);
            }
        }
        Ok(rows)
    }

    /// A table batch by batch, for those that do not know its rows.
    ///
    /// # Errors
    /// [`Error::NoTable`], [`Error::Table`] or [`Error::Read`].
    pub fn batches(&self, table: &str) -> Result<Batches, Error> {
        if !self.tables.contains(table) {
            let known: Vec<_> = self.table_names().collect();
            return Err(Error::NoTable {
                path: self.dir.clone(),
                table: table.to_owned(),
                known: known.join(", "),
            });
        }
        Batches::open(&self.dir, table)
    }
}

/// The record batches of a table in the order of writing. Ends after the first error.
pub struct Batches(Source);

enum Source {
    Parquet(ParquetFile),
    Journal(JournalReader),
    Ended,
}

impl Batches {
    /// The table in the Parquet file at `path`, which may be any.
    ///
    /// # Errors
    /// [`Error::Read`], or [`Error::Table`] when it is damaged.
    pub fn of_file(path: &Path) -> Result<Self, Error> {
        Ok(Self(Source::Parquet(ParquetFile::open(path)?)))
    }

    fn open(dir: &Path, table: &str) -> Result<Self, Error> {
        // A table that has both was killed between becoming Parquet and losing its journal.
        let parquet = dir.join(format!("{table}.parquet"));
        if parquet.exists() {
            return Ok(Self(Source::Parquet(ParquetFile::open(&parquet)?)));
        }
        let journal = JournalReader::open(&dir.join(format!("{table}.arrows")))?;
        Ok(Self(journal.map_or(Source::Ended, Source::Journal)))
    }

    /// The table's columns; none when its writer was killed before it wrote them.
    pub fn schema(&self) -> SchemaRef {
        match &self.0 {
            Source::Parquet(file) => file.schema(),
            Source::Journal(journal) => journal.schema(),
            Source::Ended => Arc::new(Schema::empty()),
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match &mut self.0 {
            Source::Parquet(file) => file.next()?,
            Source::Journal(journal) => journal.next()?,
            Source::Ended => return None,
        };
        if batch.is_err() {
            self.0 = Source::Ended;
        }
        Some(batch)
    }
}

/// Tidies up a record whose process died: every journal becomes Parquet, leftovers go. `run.json` stays as it is.
///
/// # Errors
/// [`Error::Busy`] while the process lives; otherwise as [`Record::open`], or the first error of any table, whose
/// journal is then kept.
pub fn recover(dir: &Path) -> Result<Record, Error> {
    Record::open(dir)?;
    let _lock = lock(dir)?;
    settle_journals(dir)?;
    for path in files(dir)? {
        if table_of(&path, "parquet.tmp").is_some() || path.ends_with("run.json.tmp") {
            fs::remove_file(&path).map_err(Error::write(&path))?;
        }
    }
    Record::open(dir)
}

/// Turns every journal in `dir` into Parquet; all are tried.
pub(crate) fn settle_journals(dir: &Path) -> Result<(), Error> {
    let journals = files(dir)?
        .into_iter()
        .filter(|path| table_of(path, "arrows").is_some());
    first_error(journals.map(|journal| settle(&journal, &journal.with_extension("parquet"))))
}

fn files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(dir).map_err(Error::read(dir))?;
    entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(Error::read(dir))
}

/// Whether a file of this name is part of a record.
pub(crate) fn is_part(name: &str) -> bool {
    let is_table = |extension| table_of(Path::new(name), extension).is_some();
    name == "run.json" || is_table("parquet") || is_table("arrows")
}

/// The table that the file `path` holds, if it is one with this extension.
fn table_of(path: &Path, extension: &str) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let table = name.strip_suffix(extension)?.strip_suffix('.')?;
    is_table_name(table).then(|| table.to_owned())
}

/// Octets of the longest `run.json`: a hundred times as many as any has.
const LONGEST_RUN: u64 = 64 << 20;

fn read_run(dir: &Path) -> Result<Run, Error> {
    /// What every version of `run.json` has.
    #[derive(Deserialize)]
    struct AnyRun {
        schema: String,
    }
    let path = dir.join("run.json");
    let json = input::read(&path, LONGEST_RUN).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::NoRecord {
            path: dir.to_owned(),
        },
        _ => Error::read(&path)(source),
    })?;
    let damaged = |source| Error::Run {
        path: path.clone(),
        source,
    };
    let AnyRun { schema } = serde_json::from_slice(&json).map_err(damaged)?;
    if schema != SCHEMA {
        return Err(Error::Schema {
            path,
            found: schema,
        });
    }
    serde_json::from_slice(&json).map_err(damaged)
}
