//! What can go wrong with a batch itself. What goes wrong with a cell is no error: it is written down.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a batch cannot begin or go on.
#[derive(Debug, Error)]
pub enum Error {
    /// Another process works on the batch.
    #[error("{} is being worked on by a running process - wait for it to end", path.display())]
    Busy { path: PathBuf },
    /// A file that the batch is made of is not what it was.
    #[error("{} has changed since the batch began - put it back, or begin a new batch", path.display())]
    Changed { path: PathBuf },
    /// `batch.json` does not hold a batch.
    #[error("{} is damaged: {what} - restore it from a copy; the records beside it can be compared without it", path.display())]
    Damaged { path: PathBuf, what: String },
    /// The key of a host is missing from the environment.
    #[error(
        "the environment has no {variable}, the access key of {host} - set it, 'isobath serve --show-key' there prints it"
    )]
    Key { variable: String, host: String },
    /// The folder holds no batch.
    #[error("{} holds no batch.json - name the folder of a batch", path.display())]
    NoBatch { path: PathBuf },
    /// The folder for a new batch is in use.
    #[error("{} is not an empty folder - name a new one with --out, or go on with --resume", path.display())]
    NotEmpty { path: PathBuf },
    /// A file cannot be read.
    #[error("cannot read {}: {source} - check the path and its permissions", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A run cannot be started.
    #[error("cannot start a run: {0} - free processes or memory, then go on with --resume")]
    Start(io::Error),
    /// The text is no batch.
    #[error("{file}{line}: {what}")]
    Text {
        file: String,
        line: String,
        what: String,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}: {source} - free space or permissions there, then go on with --resume", path.display())]
    Write { path: PathBuf, source: io::Error },
}
