//! What can go wrong with a Flent file.

use std::io;
use thiserror::Error;

/// What a foreign file says is repeated up to here.
const MAX_QUOTED: usize = 200;

/// Why a Flent file could not be read or written. Each message is one line that says what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// The file is neither JSON nor gzip.
    #[error("this is no Flent data file: {reason} - name a .flent or .flent.gz file")]
    NotFlent {
        /// What is there instead.
        reason: String,
    },
    /// The file ends too early.
    #[error("the Flent file is cut short: {reason} - fetch it again")]
    Truncated {
        /// Where it ends.
        reason: String,
    },
    /// The compressed stream or the file itself cannot be read.
    #[error("cannot read the Flent file: {source} - fetch it again")]
    Read {
        /// The reason.
        source: io::Error,
    },
    /// The file unpacks to more than [`Limits::unpacked_bytes`](crate::Limits::unpacked_bytes).
    #[error(
        "the Flent file is larger than {limit} bytes unpacked - raise the limit if it is to be trusted"
    )]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The file is of a version that Flent 2 does not have.
    #[error(
        "the Flent file has version {found}, this isobath reads 1 to 4 - convert it with the Flent that wrote it"
    )]
    Version {
        /// The version it names.
        found: i64,
    },
    /// A value is not what the format has there.
    #[error(
        "the Flent file is damaged: {reason} - fetch it again, or open it in Flent to see what remains"
    )]
    Damaged {
        /// What is wrong, and where.
        reason: String,
    },
    /// The record holds nothing that Flent has a series for.
    #[error(
        "the record of test '{test}' has no stream that Flent has a series for - export a run of 'isobath rrul'"
    )]
    NothingToExport {
        /// The record's test.
        test: String,
    },
    /// The test has no such plot.
    #[error("test '{test}' has no plot '{plot}' here - use one of: {plots}")]
    NoPlot {
        /// What was asked for.
        plot: String,
        /// The test.
        test: String,
        /// The plots that it has.
        plots: String,
    },
    /// None of the files has a series that the plot shows.
    #[error(
        "there is nothing to draw in plot '{plot}' - see which series there are with '-f summary'"
    )]
    NothingToDraw {
        /// The plot.
        plot: String,
    },
    /// The record could not be read or written.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// The output does not take the file.
    #[error("cannot write the Flent file: {source} - free space or permissions there")]
    Write {
        /// The reason.
        source: io::Error,
    },
}

impl Error {
    /// For what contradicts the format.
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged {
            reason: one_line(reason.into()),
        }
    }

    /// What the JSON reader says, by kind.
    pub(crate) fn json(source: serde_json::Error) -> Self {
        let reason = one_line(source.to_string());
        if source.io_error_kind() == Some(io::ErrorKind::UnexpectedEof) {
            return Self::Truncated { reason };
        }
        match source.classify() {
            serde_json::error::Category::Eof => Self::Truncated { reason },
            serde_json::error::Category::Syntax => Self::NotFlent { reason },
            serde_json::error::Category::Data => Self::Damaged { reason },
            serde_json::error::Category::Io => Self::Read {
                source: source.into(),
            },
        }
    }
}

/// One line of bearable length.
fn one_line(text: String) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().count() <= MAX_QUOTED && !text.contains(char::is_control) {
        return text;
    }
    let cut: String = text.chars().take(MAX_QUOTED).map(plain).collect();
    format!("{cut}...")
}
