//! Mistakes of the command line, and what goes to stdout.

use std::io::Write as _;

/// A mistake of whoever typed the command: exit status 2 instead of 3.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Usage(#[from] pub anyhow::Error);

impl Usage {
    /// Makes a usage error of any other.
    pub fn of(error: impl Into<anyhow::Error>) -> anyhow::Error {
        Self(error.into()).into()
    }
}

/// Prints a page or an object to stdout.
///
/// # Errors
/// When stdout is closed.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", text.trim_end())?;
    Ok(out.flush()?)
}
