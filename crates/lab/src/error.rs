//! What can go wrong with a lab.

use thiserror::Error;

/// Why a lab could not be made or used. Every message is one line and says what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// No built-in lab and no file of that name.
    #[error("no lab is called '{name}' - use one of {known}, or the path of a TOML file")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The built-in labs.
        known: String,
    },
    /// The lab has no such node.
    #[error("no node is called '{name}' - use one of {known}")]
    Node {
        /// What was asked for.
        name: String,
        /// The lab's nodes.
        known: String,
    },
    /// A file could not be read.
    #[error("cannot read {file}: {source} - give the path of a TOML file that describes a lab")]
    Read {
        /// The file.
        file: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A topology is not TOML, or not of the accepted form.
    #[error("{origin} line {line}: {what}")]
    Toml {
        /// The file or built-in lab.
        origin: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong and what is accepted.
        what: String,
    },
    /// A topology is well formed but describes no network.
    #[error("{origin}: {what}")]
    Topology {
        /// The file or built-in lab.
        origin: String,
        /// What is wrong and what to do.
        what: String,
    },
    /// A link's description is out of range.
    #[error("link {link}: {source}")]
    Path {
        /// The link's two nodes.
        link: String,
        /// What is wrong.
        source: path::Error,
    },
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] sys::Error),
}

impl Error {
    /// A TOML error with its line instead of a picture of it.
    pub(crate) fn toml(origin: &str, text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        Self::Toml {
            origin: origin.to_owned(),
            line: before.unwrap_or_default().matches('\n').count() + 1,
            what: error.message().replace('\n', ", "),
        }
    }
}
