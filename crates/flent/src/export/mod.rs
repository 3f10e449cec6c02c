//! A record as a Flent file.
//!
//! Flent draws a file with the plots of the test that its metadata names, and those look for series by name. So a record
//! goes out under the name of one of Flent's own tests ([`target`]), with the series names of that test ([`series`]); its
//! rows are laid on Flent's time line ([`grid`]), and the sums and means that Flent's plots of totals want are reckoned
//! as Flent reckons them.

mod clock;
mod computed;
mod grid;
mod loads;
mod metadata;
mod probes;
mod series;
mod target;

use crate::data::{DataFile, VERSION};
use crate::error::Error;
use flate2::Compression;
use flate2::write::GzEncoder;
use grid::Grid;
use record::Record;
use schema::tables::{PageLoad, Sample, Series, Stream};
use series::OneSeries;
use std::io::{self, BufWriter, Write};
use target::Target;

pub(crate) use target::ICMP;
pub use target::TESTS;

/// What was exported.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exported {
    /// The Flent test that the file goes by: `flent` draws it with the plots of that test.
    pub test: String,
    /// What Flent would name the file; see [`file_name`].
    pub file_name: String,
    /// Number of series in it, computed ones among them.
    pub series: usize,
    /// What the reader of the file should know, in one line: another test's name, stand-ins, sums.
    pub note: Option<String>,
}

/// The rows that are exported.
struct Rows {
    streams: Vec<Stream>,
    samples: Vec<Sample>,
    series: Vec<Series>,
    page_loads: Vec<PageLoad>,
}

impl Rows {
    fn of(record: &Record) -> Result<Self, Error> {
        let mut samples = record.rows()?;
        clock::correct(record.run(), &mut samples);
        Ok(Self {
            streams: record.rows()?,
            samples,
            series: record.rows()?,
            page_loads: record.rows()?,
        })
    }

    /// When the last of them is, in ns since the run's start.
    fn end_ns(&self) -> u64 {
        let samples = self.samples.iter().map(|row| row.t_ns);
        let series = self.series.iter().map(|row| row.t_ns);
        samples.chain(series).max().unwrap_or_default()
    }
}

/// Writes a record as a Flent file of version 4, gzipped.
///
/// # Errors
/// [`Error::NothingToExport`] for a record without load or probe streams, [`Error::Record`] for a damaged table,
/// [`Error::Write`].
pub fn export(record: &Record, out: impl Write) -> Result<Exported, Error> {
    export_titled(record, None, out)
}

/// As [`export`], with a title of its own: Flent's `--title-extra`.
///
/// # Errors
/// As [`export`].
pub fn export_titled(
    record: &Record,
    title: Option<&str>,
    out: impl Write,
) -> Result<Exported, Error> {
    let rows = Rows::of(record)?;
    let target = target::choose(record.run(), &rows.streams);
    let grid = Grid::over(rows.end_ns());
    let mut all = loads::series(&target, &rows, grid);
    all.extend(probes::series(&target, &rows, grid));
    if all.is_empty() {
        let test = record.run().test.clone();
        return Err(Error::NothingToExport { test });
    }
    all.extend(computed::series(&target, &all));
    let title = title.map_or_else(|| metadata::title(record.run()), str::to_owned);
    let file_name = metadata::file_name(record.run(), &target.test, &title);
    let file = file(record, &rows, &target, &title, grid, all);
    write(&file, out).map_err(|source| Error::Write { source })?;
    Ok(Exported {
        test: target.test,
        file_name,
        series: file.results.len(),
        note: target.note,
    })
}

/// The name that Flent would give the file: `<test>-<time>.<title>.flent.gz`. The time is the start in UTC, where Flent
/// has local time.
///
/// # Errors
/// [`Error::Record`] for a damaged table of streams, on which the test depends.
pub fn file_name(record: &Record) -> Result<String, Error> {
    let target = target::choose(record.run(), &record.rows()?);
    let title = metadata::title(record.run());
    Ok(metadata::file_name(record.run(), &target.test, &title))
}

fn file(
    record: &Record,
    rows: &Rows,
    target: &Target,
    title: &str,
    grid: Grid,
    all: Vec<OneSeries>,
) -> DataFile {
    let origin = metadata::origin_s(record.run());
    let mut file = DataFile {
        version: VERSION,
        metadata: metadata::metadata(record.run(), rows, target, title, grid, &all),
        x_values: grid.x_values(),
        ..DataFile::default()
    };
    for one in all {
        let raw = one.raw.into_iter().map(|raw| raw.point(origin)).collect();
        file.raw_values.insert(one.name.clone(), raw);
        file.results.insert(one.name, one.steps);
    }
    file
}

fn write(file: &DataFile, out: impl Write) -> io::Result<()> {
    let mut packed = BufWriter::new(GzEncoder::new(out, Compression::default()));
    serde_json::to_writer(&mut packed, file)?;
    let packed = packed
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    packed.finish()?.flush()
}

#[cfg(test)]
mod tests;
