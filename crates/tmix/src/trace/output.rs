//! Files of vectors, written.

use super::sorted::Sorted;
use super::table::Turn;
use anyhow::Context;
use record::TableWriter;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use vectors::extract::Extracted;
use vectors::{Transport, Vector, cvec};

/// A format of vectors.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum Format {
    /// Parquet table, with all known values.
    Parquet,
    /// Tmix's original text format (SEQ, CONC).
    Cvec,
    /// Tmix's alternate text format (S, C).
    CvecAlt,
}

impl Format {
    /// What a file's name says.
    #[expect(
        clippy::case_sensitive_file_extension_comparisons,
        reason = "names are as we document them"
    )]
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        if name.ends_with(".parquet") {
            Some(Self::Parquet)
        } else if name.ends_with("-alt.cvec") || name.ends_with(".alt.cvec") {
            Some(Self::CvecAlt)
        } else if name.ends_with(".cvec") || name.ends_with(".tcvec") {
            Some(Self::Cvec)
        } else {
            None
        }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Cvec => "cvec",
            Self::CvecAlt => "cvec-alt",
        }
    }

    const fn text(self) -> Option<cvec::Format> {
        match self {
            Self::Parquet => None,
            Self::Cvec => Some(cvec::Format::Original),
            Self::CvecAlt => Some(cvec::Format::Alternate),
        }
    }
}

#[expect(clippy::large_enum_variant, reason = "there is one of them")]
/// A file that is being written; it appears under its name when it is whole.
pub enum Output {
    /// Rows of a Parquet table.
    Table {
        /// Takes the rows.
        writer: TableWriter<Turn>,
        /// Number of the next connection, from 0.
        number: u64,
    },
    /// In the order of starts.
    Sorted {
        /// The file, to which vectors are written at the end.
        text: Text,
        /// The vectors so far.
        sorted: Sorted,
    },
    /// In the order in which they come, with the numbers that they have.
    Plain {
        /// The file, to which vectors are written as they come.
        text: Text,
    },
}

pub struct Text {
    path: PathBuf,
    file: tempfile::NamedTempFile,
    writer: cvec::Writer<BufWriter<File>>,
    /// Flows of UDP, of which the format knows nothing.
    left_out: u64,
}

impl Output {
    /// Begins a file of vectors; a text is `sorted`, or in the order in which vectors come.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn create(path: &Path, format: Format, sorted: bool) -> anyhow::Result<Self> {
        let Some(format) = format.text() else {
            let writer = TableWriter::create(path)?;
            return Ok(Self::Table { writer, number: 0 });
        };
        let text = Text::create(path, format)?;
        Ok(if sorted {
            let sorted = Sorted::new(folder(path), format);
            Self::Sorted { text, sorted }
        } else {
            Self::Plain { text }
        })
    }

    /// Comments for the beginning of a text.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn comment(&mut self, comment: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Table { .. } => Ok(()),
            Self::Sorted { text, .. } | Self::Plain { text } => Ok(text.writer.comment(comment)?),
        }
    }

    /// Adds a connection of a capture.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn extracted(&mut self, extracted: Extracted) -> anyhow::Result<()> {
        let Self::Table { writer, number } = self else {
            return self.vector(extracted.vector);
        };
        for row in Turn::of_extracted(*number, &extracted) {
            writer.push(row)?;
        }
        *number += 1;
        Ok(())
    }

    /// Flows of UDP that were left out, because the format knows nothing of them.
    pub const fn left_out(&self) -> u64 {
        match self {
            Self::Table { .. } => 0,
            Self::Sorted { text, .. } | Self::Plain { text } => text.left_out,
        }
    }

    /// Adds a vector, if the format can say it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn vector(&mut self, vector: Vector) -> anyhow::Result<()> {
        if let (Transport::Udp, Self::Sorted { text, .. } | Self::Plain { text }) =
            (vector.transport, &mut *self)
        {
            text.left_out += 1;
            return Ok(());
        }
        match self {
            Self::Table { writer, number } => {
                for row in Turn::of(*number, &vector) {
                    writer.push(row)?;
                }
                *number += 1;
                Ok(())
            }
            Self::Sorted { sorted, .. } => sorted.push(vector),
            Self::Plain { text } => Ok(text.writer.vector(&vector)?),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written, or not be put in its place.
    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Table { writer, .. } => Ok(writer.finish()?),
            Self::Sorted { mut text, sorted } => {
                sorted.finish(&mut text.writer)?;
                text.finish()
            }
            Self::Plain { text } => text.finish(),
        }
    }
}

impl Text {
    fn create(path: &Path, format: cvec::Format) -> anyhow::Result<Self> {
        let file = tempfile::NamedTempFile::new_in(folder(path)).with_context(|| lost(path))?;
        let clone = file.reopen().with_context(|| lost(path))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            writer: cvec::Writer::new(BufWriter::new(clone), format),
            left_out: 0,
        })
    }

    fn finish(self) -> anyhow::Result<()> {
        let Self {
            path, file, writer, ..
        } = self;
        writer.finish().with_context(|| lost(&path))?;
        // A draft is its owner's alone; what it becomes is like any other file.
        sys::files::let_all_read(file.path())?;
        file.persist(&path)
            .map_err(|error| error.error)
            .with_context(|| lost(&path))?;
        Ok(())
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What to say when something cannot be written.
pub(super) fn lost(path: &Path) -> String {
    let path = path.display();
    format!("cannot write {path} - free space or permissions there, or another place with --out")
}
