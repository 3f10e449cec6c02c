//! Files of vectors, read.

use super::table::{self, Gathering, Said};
use anyhow::Context;
use record::TableReader;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;
use vectors::{Side, Transport, Vector, cvec};

/// How a Parquet file begins.
const PARQUET: &[u8] = b"PAR1";

/// Vectors of a file of any format, one by one.
pub struct Input {
    /// Of the file, for whoever must hear of its faults.
    name: String,
    form: Form,
    completeness: Completeness,
}

enum Form {
    Table(Box<Table>),
    Text(Box<cvec::Reader<BufReader<File>>>),
}

/// Of how many connections a capture showed the beginning and the end, and octets of these.
#[derive(Clone, Copy, Debug, Default)]
pub struct Completeness {
    pub complete: Count,
    pub incomplete: Count,
}

/// Connections, and octets of applications in them.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Count {
    pub connections: u64,
    pub bytes: u64,
}

/// Rows, put together.
struct Table {
    batches: TableReader<Said>,
    rows: Vec<Said>,
    /// The place of the next row.
    at: usize,
}

impl Input {
    /// Opens a file of vectors; what it is its first octets say.
    ///
    /// # Errors
    /// When it cannot be opened, or holds no vectors.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let form = Form::open(path).with_context(|| name.clone())?;
        Ok(Self {
            name,
            form,
            completeness: Completeness::default(),
        })
    }

    /// The comments at the beginning of a text.
    pub fn preamble(&self) -> &[u8] {
        match &self.form {
            Form::Table(_) => &[],
            Form::Text(reader) => reader.preamble(),
        }
    }

    /// Whether the vectors in this file have identifiers of their own: those of a text have, and a table keeps them. Those of a
    /// capture have none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_identifiers(path: &Path) -> anyhow::Result<bool> {
        let input = Self::open(path)?;
        if input.is_text() {
            return Ok(true);
        }
        for vector in input {
            if vector?.ids != [0; 2] {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether vectors come in the order in which they are in a text.
    pub const fn is_text(&self) -> bool {
        matches!(self.form, Form::Text(_))
    }

    /// Whether the vectors so far were complete, when the file says so of any.
    pub fn completeness(&self) -> Option<Completeness> {
        let Completeness {
            complete,
            incomplete,
        } = self.completeness;
        (complete.connections + incomplete.connections > 0).then_some(self.completeness)
    }
}

impl Iterator for Input {
    type Item = anyhow::Result<Vector>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = match &mut self.form {
            Form::Table(table) => table.vector().transpose(),
            Form::Text(reader) => reader.next().map(|vector| Ok((vector?, None))),
        }?;
        Some(match read {
            Ok((vector, complete)) => {
                self.completeness.enter(&vector, complete);
                Ok(vector)
            }
            Err(error) => Err(error.context(self.name.clone())),
        })
    }
}

/// What a vector says of the beginning of its connection.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// What carries it.
    pub transport: Transport,
    /// See [`Vector::start`].
    pub start: Duration,
    /// See [`Vector::min_rtt`].
    pub min_rtt: Option<Duration>,
}

/// Calls `each` with the beginning of every vector of the file at `path`, which takes a fraction of the time of reading a table whole.
///
/// # Errors
/// As [`Input::open`] and its iteration, and those of `each`.
pub fn beginnings(
    path: &Path,
    mut each: impl FnMut(Beginning) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let input = Input::open(path)?;
    if input.is_text() {
        for vector in input {
            let vector = vector?;
            each(Beginning {
                transport: vector.transport,
                start: vector.start,
                min_rtt: vector.min_rtt,
            })?;
        }
        return Ok(());
    }
    let mut latest = None;
    for rows in TableReader::<table::Beginning>::open(path)? {
        for row in rows? {
            if latest.replace(row.vector) == Some(row.vector) {
                continue;
            }
            each(Beginning {
                transport: table::transport(row.vector, &row.transport)
                    .with_context(|| input.name.clone())?,
                start: Duration::from_nanos(row.start_ns),
                min_rtt: row.min_rtt_ns.map(Duration::from_nanos),
            })?;
        }
    }
    Ok(())
}

impl Form {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let opened =
            File::open(path).context("cannot be opened - check the path and its permissions");
        let mut file = opened?;
        let mut magic = Vec::new();
        file.by_ref().take(4).read_to_end(&mut magic)?;
        if magic == PARQUET {
            return Ok(Self::Table(Box::new(Table {
                batches: TableReader::open(path)?,
                rows: Vec::new(),
                at: 0,
            })));
        }
        file.seek(SeekFrom::Start(0))?;
        let reader = cvec::Reader::new(BufReader::new(file)).context("holds no vectors")?;
        Ok(Self::Text(Box::new(reader)))
    }
}

impl Completeness {
    /// Enters a connection; a flow of UDP has no beginning and no end that could be seen.
    fn enter(&mut self, vector: &Vector, complete: Option<bool>) {
        if vector.transport == Transport::Udp {
            return;
        }
        let count = match complete {
            Some(true) => &mut self.complete,
            Some(false) => &mut self.incomplete,
            None => return,
        };
        count.connections += 1;
        for side in Side::BOTH {
            count.bytes = count.bytes.saturating_add(vector.body.bytes(side));
        }
    }
}

impl Table {
    /// The next vector, and whether it is complete.
    fn vector(&mut self) -> anyhow::Result<Option<(Vector, Option<bool>)>> {
        let Some(first) = self.row()? else {
            return Ok(None);
        };
        let mut gathering = Gathering::new(first)?;
        self.at += 1;
        while let Some(row) = self.row()?
            && gathering.holds(row)
        {
            gathering.add(row)?;
            self.at += 1;
        }
        let complete = gathering.complete;
        Ok(Some((gathering.finish(), complete)))
    }

    /// The next row.
    fn row(&mut self) -> anyhow::Result<Option<&Said>> {
        while self.at >= self.rows.len() {
            let Some(rows) = self.batches.next().transpose()? else {
                return Ok(None);
            };
            (self.rows, self.at) = (rows, 0);
        }
        Ok(self.rows.get(self.at))
    }
}
