//! Files of vectors, read.

use super::table::Turn;
use anyhow::Context;
use record::TableReader;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::vec::IntoIter;
use vectors::{MAX_ADUS, Vector, cvec};

/// How a Parquet file begins.
const PARQUET: &[u8] = b"PAR1";

/// Vectors of a file of any format, one by one.
pub(crate) enum Input {
    Table(Box<Table>),
    Text(Box<cvec::Reader<BufReader<File>>>),
}

/// Rows, put together.
pub(crate) struct Table {
    batches: TableReader<Turn>,
    rows: IntoIter<Turn>,
    /// The first row of the next vector.
    next: Option<Turn>,
}

impl Input {
    /// Opens a file of vectors; what it is its first octets say.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let name = || path.display().to_string();
        let opened =
            File::open(path).context("cannot be opened - check the path and its permissions");
        let mut file = opened.with_context(name)?;
        let mut magic = Vec::new();
        file.by_ref()
            .take(4)
            .read_to_end(&mut magic)
            .with_context(name)?;
        if magic == PARQUET {
            return Ok(Self::Table(Box::new(Table {
                batches: TableReader::open(path)?,
                rows: Vec::new().into_iter(),
                next: None,
            })));
        }
        file.seek(SeekFrom::Start(0)).with_context(name)?;
        let reader = cvec::Reader::new(BufReader::new(file));
        let reader = reader.with_context(|| format!("{} holds no vectors", path.display()))?;
        Ok(Self::Text(Box::new(reader)))
    }

    /// The comments at the beginning of a text.
    pub(crate) fn preamble(&self) -> &[u8] {
        match self {
            Self::Table(_) => &[],
            Self::Text(reader) => reader.preamble(),
        }
    }

    /// Whether vectors come in the order in which they are in a text.
    pub(crate) const fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl Iterator for Input {
    type Item = anyhow::Result<Vector>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Table(table) => table.vector().transpose(),
            Self::Text(reader) => reader.next().map(|vector| Ok(vector?)),
        }
    }
}

impl Table {
    fn vector(&mut self) -> anyhow::Result<Option<Vector>> {
        let first = match self.next.take() {
            Some(first) => first,
            None => match self.row()? {
                Some(first) => first,
                None => return Ok(None),
            },
        };
        let mut rows = vec![first];
        while let Some(row) = self.row()? {
            if row.vector != rows[0].vector {
                self.next = Some(row);
                break;
            }
            if rows.len() <= MAX_ADUS {
                rows.push(row);
            }
        }
        Turn::vector(&rows).map(Some)
    }

    fn row(&mut self) -> anyhow::Result<Option<Turn>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            match self.batches.next().transpose()? {
                Some(rows) => self.rows = rows.into_iter(),
                None => return Ok(None),
            }
        }
    }
}
