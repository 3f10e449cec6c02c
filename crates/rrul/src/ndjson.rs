//! The rows of a run as lines of JSON while it goes on, for whoever wants to follow.
//!
//! Each line is an object: `table` names the table, the other keys are its columns (docs/output.md). Rows come at least once
//! a second, those of the far end at the end.

use record::Row;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// Batches of lines that may wait for whoever reads: at one or two a second and table, some minutes.
const MOST_WAITING: usize = 1_024;

/// Where the lines go: by a thread of their own, for a reader that is slow must not hold up a measurement.
pub struct Ndjson {
    lines: Mutex<Option<SyncSender<Vec<u8>>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

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
    pub fn create(path: &Path) -> anyhow::Result<Self> {
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
        let (lines, waiting) = mpsc::sync_channel::<Vec<u8>>(MOST_WAITING);
        let writer = std::thread::spawn(move || write_all(out, &waiting));
        Ok(Self {
            lines: Mutex::new(Some(lines)),
            writer: Mutex::new(Some(writer)),
        })
    }

    /// Hands on `rows`. A reader that is gone, or that has let too much pile up, gets no more; the run goes on without it.
    pub fn write<R: Row + Serialize>(&self, rows: &[R]) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.is_empty() {
            return;
        }
        if let Some(channel) = lines.as_ref() {
            let mut octets = Vec::new();
            let written = write_lines(&mut octets, rows);
            if written.is_err() || channel.try_send(octets).is_err() {
                *lines = None;
            }
        }
    }
}

impl Drop for Ndjson {
    /// Waits until all has been written that a reader still takes.
    fn drop(&mut self) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let is_read = lines.take().is_some();
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // The thread of a reader that was given up may be blocked for ever; the process ends without it.
        if let Some(writer) = writer.take().filter(|_| is_read) {
            let _ = writer.join();
        }
    }
}

fn write_all(mut out: Box<dyn Write + Send>, waiting: &Receiver<Vec<u8>>) {
    for octets in waiting {
        if out.write_all(&octets).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn write_lines<R: Row + Serialize>(mut out: impl Write, rows: &[R]) -> io::Result<()> {
    for row in rows {
        let table = R::TABLE;
        serde_json::to_writer(&mut out, &Line { table, row })?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
