//! What can go wrong with a record.

use std::cell::Cell;
use std::fmt::Display;
use std::io;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;
use thiserror::Error;

/// Too many open files, of this process and of the machine (errno(3)).
const DESCRIPTORS: [i32; 2] = [24, 23];

/// What helps against `error` when writing.
fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(code) if DESCRIPTORS.contains(&code) => "raise 'ulimit -n', or use fewer streams",
        _ => "free space or permissions there, or another place with --out",
    }
}

/// Why a record could not be written or read. Each message is one line that says what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// A file or folder could not be written.
    #[error("cannot write {}: {source} - {}", path.display(), remedy(source))]
    Write {
        /// What was written to.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file or folder could not be read.
    #[error("cannot read {}: {source} - check the path and its permissions", path.display())]
    Read {
        /// What was read.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The folder for a new record is in use.
    #[error("{} is not an empty folder - name a new one with --out", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// Another process holds the record.
    #[error("{} is being written by a running process - wait for it to end", path.display())]
    Busy {
        /// The record's folder.
        path: PathBuf,
    },
    /// The folder is no record.
    #[error("{} holds no run.json - name the folder of a run", path.display())]
    NoRecord {
        /// The folder.
        path: PathBuf,
    },
    /// `run.json` does not hold a run.
    #[error("{} is damaged: {source} - restore it from a copy", path.display())]
    Run {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where in the file.
        source: serde_json::Error,
    },
    /// `run.json` has a schema of another major version.
    #[error("{} has schema '{found}', this isobath reads '{}' - use the version that wrote it", path.display(), crate::SCHEMA)]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema it names.
        found: String,
    },
    /// A table's file could not be decoded or encoded.
    #[error("{} is damaged: {reason} - restore it from a copy, or remove it to use the rest of its record", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        reason: String,
    },
    /// The record has no table of this name.
    #[error("{} has no table '{table}' - it has: {known}", path.display())]
    NoTable {
        /// The record's folder.
        path: PathBuf,
        /// The name asked for.
        table: String,
        /// The names there are.
        known: String,
    },
    /// A table's column is not what the row type says.
    #[error("column {table}.{column} {problem} - read this record with the version that wrote it")]
    Column {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// What is the matter with it.
        problem: String,
    },
    /// CSV could not be written to where the caller wants it.
    #[error("cannot export table '{table}': {source} - check the output's space and permissions")]
    Csv {
        /// The table.
        table: String,
        /// The reason.
        source: csv::Error,
    },
}

impl Error {
    /// For `map_err` after an operation that writes `path`.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }

    /// For `map_err` after an operation that reads `path`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Read {
            path: path.to_owned(),
            source,
        }
    }

    /// For `map_err` after a codec's operation on the table file `path`; keeps the message on one line.
    pub(crate) fn table<E: Display>(path: &Path) -> impl FnOnce(E) -> Self {
        move |source| Self::Table {
            path: path.to_owned(),
            reason: source.to_string().replace('\n', " "),
        }
    }
}

thread_local! {
    /// Whether a panic of this thread is an error of a file, of which its reader is told.
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// The standard library prints a panic before it can be caught: from the first call on it prints none of a decoder.
fn print_no_panic_of_decoders() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_DECODING.get() {
                before(panic);
            }
        }));
    });
}

/// Carries out a decoder's operation on the table file `path`.
///
/// Arrow's IPC reader slices buffers by the lengths that the file names and panics when they contradict each other.
/// A record may come from anywhere, so that is an error like any other; the decoder is not used again after it.
pub(crate) fn decode<T, E: Display>(
    path: &Path,
    operation: impl FnOnce() -> Result<T, E>,
) -> Result<T, Error> {
    print_no_panic_of_decoders();
    let was_decoding = IS_DECODING.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(operation));
    IS_DECODING.set(was_decoding);
    match decoded {
        Ok(result) => result.map_err(Error::table(path)),
        Err(_) => Err(Error::table(path)("its lengths contradict each other")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_is_for_what_is_missing() {
        let of = |code| {
            let (path, source) = ("r".into(), io::Error::from_raw_os_error(code));
            Error::Write { path, source }.to_string()
        };
        assert!(of(DESCRIPTORS[0]).ends_with("raise 'ulimit -n', or use fewer streams"));
        // No space left on the device.
        assert!(of(28).ends_with("another place with --out"));
    }
}
