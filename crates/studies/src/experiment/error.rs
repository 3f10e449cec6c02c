//! What can go wrong with an experiment itself. What goes wrong with a measurement is no error: it is written down.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why an experiment cannot begin or go on.
#[derive(Debug, Error)]
pub enum Error {
    /// `plan.json` does not hold a plan.
    #[error("{} is damaged: {what} - begin in a new folder", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and why it cannot be read as a plan.
        what: String,
    },
    /// The folder holds something else.
    #[error("{} is not an empty folder - name a new one with --out", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds another experiment, or the same one at another scale or seed.
    #[error(
        "{} holds {found} - say the same to go on with it, or name a new folder with --out", path.display()
    )]
    Other {
        /// The folder.
        path: PathBuf,
        /// The experiment that it holds, with scale and seed.
        found: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source} - check the path and its permissions", path.display())]
    Read {
        /// The TOML file of an experiment.
        path: PathBuf,
        /// What the system says of it.
        source: io::Error,
    },
    /// The text is no experiment.
    #[error("{file}: {what}")]
    Text {
        /// Name of the experiment: that of its file, without extension.
        file: String,
        /// What is wrong with it, in one line.
        what: String,
    },
    /// There is no experiment of this name.
    #[error("there is no experiment '{name}' - known are {known}; or name a TOML file")]
    Unknown {
        /// The name that was given.
        name: String,
        /// All names that there are, with commas between them.
        known: String,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}: {source} - free space or permissions there, then run it again", path.display())]
    Write {
        /// The file, or the experiment's folder.
        path: PathBuf,
        /// What the system says of it.
        source: io::Error,
    },
}
