//! What can go wrong at the border to the operating system.

use std::io;

/// An operating system call failed, or its answer could not be understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call failed: what was being done, to what, and why it could not be.
    #[error("{operation} {object}: {source}")]
    Io {
        /// What was being done, as an imperative: `set DSCP of`.
        operation: String,
        /// What it was done to: `UDP socket 10.0.0.1:4890`.
        object: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A network of its own needs capabilities that this process lacks and could not get.
    #[error(
        "make a network namespace: this user may not, and user namespaces are forbidden here ({source}) - \
         run as root, or allow them (sysctl kernel.unprivileged_userns_clone=1, or \
         kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu)"
    )]
    NoUserNamespace {
        /// The operating system's reason.
        source: io::Error,
    },
    /// The TUN driver is missing or closed to this user.
    #[error("open /dev/net/tun: {source} - {advice}")]
    NoTun {
        /// The operating system's reason.
        source: io::Error,
        /// What to do about it.
        advice: &'static str,
    },
}

impl Error {
    /// `operation` on `object` failed because of `source`.
    pub fn io(
        operation: impl Into<String>,
        object: impl Into<String>,
        source: impl Into<io::Error>,
    ) -> Self {
        Self::Io {
            operation: operation.into(),
            object: object.into(),
            source: source.into(),
        }
    }
}
