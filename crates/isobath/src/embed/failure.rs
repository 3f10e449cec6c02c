//! Why something was not done.

use crate::cli;
use kit::usage::{Usage, plain};
use std::fmt;

/// What the program would have said, in one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure {
    /// The line.
    pub message: String,
    /// Whether the options are to blame, for which the program's exit status is 2; otherwise what happened.
    pub is_usage: bool,
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let told = cli::told(&error);
        let message = told.strip_prefix("error: ").unwrap_or(&told);
        Self {
            message: plain(message).replace('\n', " "),
            is_usage: error.is::<Usage>(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
