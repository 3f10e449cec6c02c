//! Mistakes of the command line, and what goes to stdout.

use std::borrow::Cow;
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
    writeln!(out, "{}", plain(text.trim_end()))?;
    Ok(out.flush()?)
}

/// `text` without what a terminal would obey: names in records, files and answers are other people's. Control characters but the
/// ends of lines and tabs become U+FFFD, and so do those that turn the direction of writing (UAX #9).
pub fn plain(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if text.contains(obeyed) {
        Cow::Owned(text.replace(obeyed, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_nothing_by_other_peoples_names() {
        let told = "down 3.2\n\u{1b}]0;mine\u{7}\u{9b}2J\u{202e}txt\tµs";
        assert_eq!(
            plain(told),
            "down 3.2\n\u{fffd}]0;mine\u{fffd}\u{fffd}2J\u{fffd}txt\tµs"
        );
        assert!(matches!(plain("a\tb\n"), Cow::Borrowed(_)));
    }
}
