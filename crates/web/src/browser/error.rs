//! What can go wrong before a page is asked for.

use std::io;

/// A browser could not be found, started or spoken with.
///
/// What goes wrong with a *page* is no error of this kind: it stands in
/// [`PageLoad::error`](crate::PageLoad::error), beside what was loaded until then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No Chromium on this host.
    #[error(
        "find Chromium: no chromium, chromium-browser or google-chrome on PATH - \
         apt install chromium, name one in ISOBATH_CHROMIUM, or leave out --browser"
    )]
    Missing,

    /// The one that was named does not exist or cannot be run.
    #[error(
        "find Chromium: ISOBATH_CHROMIUM names '{0}', which is no program - correct or unset it"
    )]
    NotAProgram(String),

    /// It could not be started, for a reason of this host.
    #[error("start Chromium: {what}: {source}")]
    Start {
        /// What was being done.
        what: &'static str,
        /// The operating system's reason.
        source: io::Error,
    },

    /// It ended, or closed the line to us.
    #[error("Chromium ended by itself: {0}")]
    Ended(String),

    /// It did not answer in time.
    #[error("Chromium did not answer {method} within {seconds} s - is the machine overloaded?")]
    Silent {
        /// What it was asked.
        method: String,
        /// How long it had.
        seconds: u64,
    },

    /// It refused a request, or answered what cannot be understood.
    #[error("Chromium refused {method}: {reason} - is it a Chromium of 2023 or newer?")]
    Refused {
        /// What it was asked.
        method: String,
        /// Its own words.
        reason: String,
    },

    /// The page server's certificate is none.
    #[error("read the page server's certificate: {0}")]
    Certificate(String),
}

impl Error {
    /// `what` failed because of `source`.
    pub(super) fn start(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Start { what, source }
    }
}
