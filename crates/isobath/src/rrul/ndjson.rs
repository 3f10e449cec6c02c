//! The rows of a run as lines of JSON while it goes on, for whoever wants to follow.
//!
//! Each line is an object: `table` names the table, the other keys are its columns (docs/output.md). Rows come at least once
//! a second, those of the far end at the end.

use record::Row;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Where the lines go.
pub(crate) struct Ndjson(Mutex<Option<Box<dyn Write + Send>>>);

/// A line.
#[derive(Serialize)]
struct Line<'a, R> {
    table: &'static str,
    #[serde(flatten)]
    row: &'a R,
}

impl Ndjson {
    /// Lines to the file at `path`, or to stdout for `-`.
    ///
    /// # Errors
    ///
    /// When the file cannot be made.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let out: Box<dyn Write + Send> = if path == Path::new("-") {
            Box::new(io::stdout())
        } else {
            let file = File::create(path).map_err(|error| {
                anyhow::anyhow!(
                    "cannot write {}: {error} - give another --ndjson",
                    path.display()
                )
            })?;
            Box::new(BufWriter::new(file))
        };
        Ok(Self(Mutex::new(Some(out))))
    }

    /// Writes `rows`. A reader that is gone gets no more; the run goes on without it.
    pub(crate) fn write<R: Row + Serialize>(&self, rows: &[R]) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = out.as_mut() else {
            return;
        };
        if write_lines(writer, rows).is_err() {
            *out = None;
        }
    }
}

fn write_lines<R: Row + Serialize>(mut out: impl Write, rows: &[R]) -> io::Result<()> {
    for row in rows {
        let table = R::TABLE;
        serde_json::to_writer(&mut out, &Line { table, row })?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
