//! A Flent file as a record.
//!
//! The figures are those that `flent -f summary` prints, and beside them the classic ones of `rrul`, so that a record of
//! Isobath and one of Flent can be laid side by side. The tables hold all that the file holds: probes in `samples`,
//! loads in `series`, and every value of every series in `flent_values`.

mod figures;
mod rows;
mod run;
mod summary;
mod times;

use crate::data::DataFile;
use crate::error::Error;
use crate::limits::Limits;
use crate::naming::Role;
use crate::read;
use record::{Record, RecordWriter, Row, Run};
use schema::tables::{Sample, Series, Stream};
use std::io::Read;
use std::path::Path;
use times::Times;

pub(crate) use figures::{Values, unit};
pub use rows::{SeriesName, Value};

/// Rows that are made and written at once.
const BATCH: usize = 16_384;

/// A Flent file that was read. Its rows are made when they are asked for: they take more room than the file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What was run and what came of it; `test` is `flent`.
    pub run: Run,
    /// The series that are streams: loads and round trips.
    pub streams: Vec<Stream>,
    pub(crate) source: Source,
}

/// A file with what its names, metadata and raw values tell about it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) file: DataFile,
    pub(crate) times: Times,
    /// Every series of `results` or `raw_values` with data, by name.
    pub(crate) roles: Vec<(String, Role)>,
}

impl Source {
    fn new(file: DataFile) -> Self {
        let mut names: Vec<&String> = file.results.keys().chain(file.raw_values.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let meta = file.metadata.get("SERIES_META");
        let role = |name: &String| Role::of(name, meta.and_then(|meta| meta.get(name)));
        let roles: Vec<_> = names
            .iter()
            .map(|&name| (name.clone(), role(name)))
            .collect();
        let has_load = roles.iter().any(|(_, role)| role.is_load());
        Self {
            times: Times::of(&file, has_load),
            roles,
            file,
        }
    }

    /// A value of the metadata.
    pub(crate) fn meta(&self, key: &str) -> Option<&serde_json::Value> {
        self.file.metadata.get(key).filter(|value| !value.is_null())
    }

    /// A value of a series' metadata.
    pub(crate) fn series_meta(&self, name: &str, key: &str) -> Option<&serde_json::Value> {
        let meta = self.file.metadata.get("SERIES_META")?.get(name)?.get(key);
        meta.filter(|value| !value.is_null())
    }

    /// A word or name of the metadata, cut to a bearable length.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let text = self.meta(key)?.as_str()?;
        Some(text.chars().take(run::MAX_TEXT).collect()).filter(|text: &String| !text.is_empty())
    }
}

/// Reads a Flent file of version 1 to 4, gzipped or not.
///
/// # Errors
/// [`Error::NotFlent`], [`Error::Truncated`], [`Error::Read`], [`Error::TooLarge`], [`Error::Version`] or
/// [`Error::Damaged`].
pub fn import(input: impl Read, limits: &Limits) -> Result<Imported, Error> {
    let source = Source::new(read::read(input, limits)?);
    let summary = summary::summarise(&source);
    Ok(Imported {
        run: run::run(&source, summary),
        streams: rows::streams(&source),
        source,
    })
}

/// Reads a Flent file within the default [`Limits`] and writes it as a record to `dir`, which must be empty or not
/// exist. Nothing is written when the file is refused.
///
/// # Errors
/// As [`import`], or [`Error::Record`] when the folder cannot be written.
pub fn import_to(input: impl Read, dir: &Path) -> Result<Record, Error> {
    import(input, &Limits::default())?.write(dir)
}

impl Imported {
    pub(crate) const fn source(&self) -> &Source {
        &self.source
    }

    /// Flent's test that the file says it is of.
    pub fn test(&self) -> String {
        self.source.text("NAME").unwrap_or_default()
    }

    /// Round trips, stream by stream.
    pub fn samples(&self) -> impl Iterator<Item = Sample> {
        rows::samples(&self.source)
    }

    /// What loads delivered, stream by stream.
    pub fn series(&self) -> impl Iterator<Item = Series> {
        rows::series(&self.source)
    }

    /// The names of all series, loads and round trips among them.
    pub fn names(&self) -> impl Iterator<Item = SeriesName> {
        rows::names(&self.source)
    }

    /// Every series value by value.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        rows::values(&self.source)
    }

    /// Writes the record to `dir`, which must be empty or not exist.
    ///
    /// # Errors
    /// [`Error::Record`] when the folder cannot be written.
    pub fn write(&self, dir: &Path) -> Result<Record, Error> {
        let mut writer = RecordWriter::create(dir, &self.run)?;
        writer.append(&self.streams)?;
        append(&mut writer, self.samples())?;
        append(&mut writer, self.series())?;
        append(&mut writer, self.names())?;
        append(&mut writer, self.values())?;
        writer.finish(&self.run)?;
        Ok(Record::open(dir)?)
    }
}

/// Appends rows a batch at a time.
fn append<T: Row>(writer: &mut RecordWriter, rows: impl Iterator<Item = T>) -> Result<(), Error> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut rows = rows.fuse();
    loop {
        batch.extend(rows.by_ref().take(BATCH));
        if batch.is_empty() {
            return Ok(());
        }
        writer.append(&batch)?;
        batch.clear();
    }
}

#[cfg(test)]
mod tests;
