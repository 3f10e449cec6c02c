//! What can be wrong with a page model.

use core::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no page model.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// The text is no page model.
    #[error("{origin}, line {line}: {what}")]
    Text {
        /// The file, or the name of a built-in model.
        origin: String,
        /// Line in it, from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The model breaks a rule.
    #[error("page model: {0}")]
    Model(Flaw),
    /// There is no such file.
    #[error("page model {}: {reason} - built in are: {known}", path.display())]
    File {
        /// What was asked for.
        path: PathBuf,
        /// The operating system's reason.
        reason: String,
        /// Names of the built-in models.
        known: String,
    },
}

/// A rule that a model breaks, and the object that does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Flaw {
    /// Number of the object; `None` when the model as a whole is meant.
    pub object: Option<usize>,
    /// What is wrong, and what to do.
    pub what: String,
}

impl Flaw {
    pub(crate) fn of(object: usize, what: impl Into<String>) -> Self {
        Self {
            object: Some(object),
            what: what.into(),
        }
    }

    pub(crate) fn whole(what: impl Into<String>) -> Self {
        Self {
            object: None,
            what: what.into(),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.object {
            Some(object) => write!(f, "object {object}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}
