//! What can go wrong with a batch itself. What goes wrong with a cell is no error: it is written down.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a batch cannot begin or go on.
#[derive(Debug, Error)]
pub enum Error {
    /// Another process works on the batch.
    #[error("{} is in use by a running process - wait for it to end", path.display())]
    Busy {
        /// The folder that the other process has locked.
        path: PathBuf,
    },
    /// A file that the batch is made of is not what it was.
    #[error("{} has changed since the batch began - put it back, or begin a new batch", path.display())]
    Changed {
        /// That file.
        path: PathBuf,
    },
    /// `batch.json` does not hold a batch.
    #[error("{} is damaged: {what} - restore it from a copy; the records beside it can be compared without it", path.display())]
    Damaged {
        /// Path of that `batch.json`.
        path: PathBuf,
        /// What is wrong in it.
        what: String,
    },
    /// The key of a host is missing from the environment.
    #[error(
        "the environment has no {variable}, the access key of {host} - set it, 'isobath serve --show-key' there prints it"
    )]
    Key {
        /// The environment variable that should hold it.
        variable: String,
        /// The host, as the batch names it.
        host: String,
    },
    /// There is no such folder.
    #[error("there is no folder {} - name one in which a run was begun", path.display())]
    Missing {
        /// The folder that was named.
        path: PathBuf,
    },
    /// The folder holds no batch.
    #[error("{} holds no batch.json - name the folder of a batch", path.display())]
    NoBatch {
        /// The folder that was named.
        path: PathBuf,
    },
    /// The folder for a new batch is in use.
    #[error("{0} is not an empty folder - name a new one with --out, or go on with --resume {0}", path.display())]
    NotEmpty {
        /// The folder that was named.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source} - check the path and its permissions", path.display())]
    Read {
        /// That file, or the folder that was to be locked.
        path: PathBuf,
        /// What the system says of it.
        source: io::Error,
    },
    /// A run cannot be started.
    #[error("cannot start a run: {0} - free processes or memory, then go on with --resume")]
    Start(io::Error),
    /// The text is no batch.
    #[error("{file}{line}: {what}")]
    Text {
        /// Name of the batch's file.
        file: String,
        /// ` line 3`, to follow the name; empty when no single line is wrong.
        line: String,
        /// What is wrong there.
        what: String,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}: {source} - free space or permissions there, then go on with --resume", path.display())]
    Write {
        /// That file or folder.
        path: PathBuf,
        /// What the system says of it.
        source: io::Error,
    },
}
